"""Which repositories may be used, found by their ids."""

import pytest

from proposals.ports import Refused
from tests.webhook_app.github.stage import REPO, Stage
from webhook_app.github import GitHubForge

pytestmark = pytest.mark.anyio


async def test_a_repository_is_found_by_its_id_and_kept(stage: Stage, forge: GitHubForge) -> None:
    place = await forge.places.of(stage.repo.id)
    assert (place.owner, place.name, place.default_branch) == ("acme", "approvals", "main")
    assert place.installation == stage.installation.id
    assert sum(stage.counts().values()) == 2
    await forge.places.of(stage.repo.id)
    assert not stage.counts()


async def test_a_forgotten_repository_is_looked_up_again(stage: Stage, forge: GitHubForge) -> None:
    number = stage.repo.id
    await forge.places.of(number)
    stage.world.rename_repository(REPO, "approvals-2")
    forge.places.forget(number)
    assert (await forge.places.of(number)).name == "approvals-2"


async def test_many_repositories_are_read_to_the_last_page(
    stage: Stage, forge: GitHubForge
) -> None:
    names = [f"acme/r{number}" for number in range(101)]
    for name in names:
        stage.world.add_repository(name)
    stage.world.select_repositories(stage.installation, add=names)
    last = stage.world.repository(names[-1])
    assert (await forge.places.of(last.id)).name == "r100"


async def test_an_account_that_is_not_listed_does_not_count(stage: Stage) -> None:
    async with stage.forge(accounts=frozenset({1})) as forge:
        with pytest.raises(Refused, match="`accounts`"):
            await forge.places.of(stage.repo.id)
        with pytest.raises(Refused, match="`accounts`"):
            await forge.our_user_id()
    assert not [e for e in stage.world.log.entries if e.method == "POST"]  # no token was made


async def test_a_suspended_installation_does_not_count(stage: Stage, forge: GitHubForge) -> None:
    stage.world.suspend(stage.installation)
    with pytest.raises(Refused, match="suspended"):
        await forge.places.of(stage.repo.id)


async def test_a_suspended_installation_does_not_stop_the_others(stage: Stage) -> None:
    stage.world.add_organisation("zeta", owners=["olga"])
    stage.world.add_repository("zeta/x")
    stage.world.suspend(stage.world.install(stage.app, "zeta"))
    accounts = frozenset({stage.account("acme").id, stage.account("zeta").id})
    async with stage.forge(accounts=accounts) as forge:
        assert (await forge.places.of(stage.repo.id)).name == "approvals"


async def test_an_installation_that_gives_no_token_does_not_stop_the_others(stage: Stage) -> None:
    stage.world.add_organisation("zeta", owners=["olga"])
    broken = stage.world.install(stage.app, "zeta")
    accounts = frozenset({stage.account("acme").id, stage.account("zeta").id})
    stage.fail("POST", f"/installations/{broken.id}/", status=404)
    async with stage.forge(accounts=accounts) as forge:
        assert (await forge.places.of(stage.repo.id)).name == "approvals"


async def test_a_public_repository_is_refused_unless_allowed(stage: Stage) -> None:
    stage.repo.private = False
    async with stage.forge() as forge:
        with pytest.raises(Refused, match="public"):
            await forge.places.of(stage.repo.id)
    async with stage.forge(allow_public=True) as forge:
        assert (await forge.places.of(stage.repo.id)).name == "approvals"


async def test_a_repository_that_becomes_public_is_seen_at_the_next_look(
    stage: Stage, forge: GitHubForge
) -> None:
    await forge.publish(stage.proposal(), b"{}\n")
    stage.repo.private = False
    with pytest.raises(Refused, match="has become public"):
        await forge.publish(stage.proposal("p_2"), b"{}\n")


async def test_a_repository_outside_the_installation_is_refused(
    stage: Stage, forge: GitHubForge
) -> None:
    other = stage.world.add_repository("acme/secret")
    with pytest.raises(Refused, match="not installed"):
        await forge.places.of(other.id)


async def test_an_installation_that_ends_in_the_middle_is_refused_in_words(
    stage: Stage, forge: GitHubForge
) -> None:
    await forge.policy(stage.repo.id)
    stage.world.uninstall(stage.installation)
    with pytest.raises(Refused, match="suspended or gone"):
        await forge.policy(stage.repo.id)
