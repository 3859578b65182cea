"""What people are called, to be shown: read once an hour, and never needed."""

import pytest

from tests.webhook_app.github.stage import Stage
from webhook_app.github import GitHubForge

pytestmark = pytest.mark.anyio


async def test_accounts_are_called_as_they_are_now(stage: Stage, forge: GitHubForge) -> None:
    dana = stage.account("dana").id
    assert await forge.called(stage.repo.id, [dana]) == {"dana": dana}
    stage.counts()
    assert await forge.called(stage.repo.id, [dana]) == {"dana": dana}
    assert not stage.counts()


async def test_an_account_that_is_gone_has_no_name(stage: Stage, forge: GitHubForge) -> None:
    dana = stage.account("dana").id
    assert await forge.called(stage.repo.id, [2**40, dana]) == {"dana": dana}


async def test_the_members_of_a_team_are_named(stage: Stage, forge: GitHubForge) -> None:
    found = await forge.members(stage.repo.id, ["acme/finance", "acme/nobody"])
    assert found == {login: stage.account(login).id for login in found}
    assert found
