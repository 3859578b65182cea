"""Which account a login is now, asked of GitHub."""

import pytest

from proposals.ports import Refused, Unavailable
from tests.webhook_app.github.stage import Stage
from webhook_app.github import GitHubForge

pytestmark = pytest.mark.anyio
USERS = "/users/{username}"


async def test_logins_resolve_to_numeric_ids(stage: Stage, forge: GitHubForge) -> None:
    ann, ben = stage.account("ann").id, stage.account("ben").id
    found = await forge.resolve(stage.repo.id, ["ann", "ben"])
    assert found == {"ann": ann, "ben": ben}


async def test_one_request_for_each_and_none_for_nobody(stage: Stage, forge: GitHubForge) -> None:
    await forge.resolve(stage.repo.id, ["ann", "ben"])
    asked = stage.world.log.counts()[f"GET {USERS}"]
    assert asked == 2
    assert await forge.resolve(stage.repo.id, []) == {}
    assert stage.world.log.counts()[f"GET {USERS}"] == asked


@pytest.mark.parametrize("login", ["nobody-at-all", "acme"], ids=["unknown", "an-organisation"])
async def test_what_is_no_person_is_nobody(stage: Stage, forge: GitHubForge, login: str) -> None:
    assert await forge.resolve(stage.repo.id, [login]) == {login: None}


async def test_a_renamed_person_no_longer_has_the_old_login(
    stage: Stage, forge: GitHubForge
) -> None:
    stage.world.rename_user("ann", "anna")
    assert await forge.resolve(stage.repo.id, ["ann"]) == {"ann": None}
    other = stage.world.add_user("ann")
    assert await forge.resolve(stage.repo.id, ["ANN"]) == {"ANN": other.id}


@pytest.mark.parametrize(
    ("status", "error"),
    [
        pytest.param(502, Unavailable, id="down"),
        pytest.param(403, Refused, id="refused"),
    ],
)
async def test_what_github_does_not_say_is_never_nobody(
    stage: Stage, forge: GitHubForge, status: int, error: type[Exception]
) -> None:
    stage.fail("GET", USERS, times=9, status=status)
    with pytest.raises(error):
        await forge.resolve(stage.repo.id, ["ann"])
