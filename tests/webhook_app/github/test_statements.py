"""The fence on the ledger branch: only our own bytes, proven to stand there, let a tool run."""

import base64
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from proposals.plan import Proposal
from proposals.ports import Fence, Lost, Refused, Unavailable
from sandbox.github.faults import secondary_limit
from sandbox.github.git import MissingObject
from tests.webhook_app.github.stage import REPO, Stage
from webhook_app.github import GitHubForge

pytestmark = pytest.mark.anyio

OURS = b'{"nonce": "a1"}\n'
PATH = "proposals/2026/11/p_1f0c/start.json"
PUT = ("PUT", "/repos/{owner}/{repo}/contents/{path}")
GET = ("GET", "/repos/{owner}/{repo}/contents/{path}")


def stands(stage: Stage, path: str = PATH) -> bytes | None:
    git = stage.repo.git
    try:
        return git.blob(str(git.entry(git.branch("placet/ledger") or "", path).id))
    except MissingObject:
        return None


def somebody_else(stage: Stage, text: str) -> Callable[[], Awaitable[object]]:
    async def write() -> object:
        return await stage.world.person("olga").push(REPO, "placet/ledger", {PATH: text})

    return write


async def test_a_start_is_written_with_one_request_and_is_ours(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    assert await forge.start(proposal, OURS) is Fence.OURS
    assert sum(stage.counts().values()) == 1
    assert stands(stage) == OURS


async def test_a_start_that_stands_is_never_overwritten(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    await somebody_else(stage, "theirs")()
    assert await forge.start(proposal, OURS) is Fence.FOREIGN
    assert stands(stage) == b"theirs"


async def test_our_own_earlier_try_is_ours(forge: GitHubForge, proposal: Proposal) -> None:
    await forge.start(proposal, OURS)
    assert await forge.start(proposal, OURS) is Fence.OURS
    assert await forge.start(proposal, b'{"nonce": "b2"}\n') is Fence.FOREIGN


@pytest.mark.parametrize(
    ("fault", "fence"),
    [
        pytest.param({"drop": True, "when": "after"}, Fence.OURS, id="done-but-dropped"),
        pytest.param({"status": 502, "when": "after"}, Fence.OURS, id="done-but-502"),
        pytest.param({"drop": True}, Fence.UNPROVEN, id="dropped-and-absent-twice"),
        pytest.param({"status": 502}, Fence.UNPROVEN, id="502-and-absent-twice"),
        pytest.param({"status": 422}, Fence.ABSENT, id="422-and-absent"),
        pytest.param({"status": 409}, Fence.ABSENT, id="409-and-absent"),
        pytest.param({"status": 403}, Fence.ABSENT, id="403-and-absent"),
        pytest.param({"status": 429}, Fence.ABSENT, id="asked-to-wait"),
    ],
)
async def test_what_became_of_a_start_without_a_good_answer(
    stage: Stage,
    forge: GitHubForge,
    proposal: Proposal,
    fault: dict[str, Any],
    fence: Fence,
) -> None:
    stage.fail(*PUT, **fault)
    assert await forge.start(proposal, OURS) is fence
    assert stands(stage) == (OURS if fence is Fence.OURS else None)
    assert stage.counts()["PUT /repos/{owner}/{repo}/contents/{path}"] == 1
    assert stage.naps == ([2.0] if fence is Fence.UNPROVEN else [])


async def test_a_start_that_arrives_late_is_found_by_the_second_look(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    stage.fail(*PUT, drop=True)
    stage.fail(*GET, nth=2, run=somebody_else(stage, OURS.decode()))
    assert await forge.start(proposal, OURS) is Fence.OURS


async def test_a_lost_start_behind_somebody_elses_is_foreign(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    await somebody_else(stage, "theirs")()
    stage.fail(*PUT, drop=True)
    assert await forge.start(proposal, OURS) is Fence.FOREIGN


@pytest.mark.parametrize("put", [{"drop": True, "when": "after"}, {"status": 422}])
async def test_when_nothing_can_be_read_nothing_is_proven(
    stage: Stage, forge: GitHubForge, proposal: Proposal, put: dict[str, Any]
) -> None:
    stage.fail(*PUT, **put)
    stage.fail(*GET, status=503, times=9)
    assert await forge.start(proposal, OURS) is Fence.UNPROVEN


async def test_an_answer_about_other_bytes_is_foreign(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    """A proxy or a confused server must not pass for a proof."""
    original = stage.judged.app

    async def swapped(scope: dict[str, object], receive: object, send: object) -> None:
        async def other() -> dict[str, object]:
            message = await receive()  # type: ignore[operator]
            if scope["method"] == "PUT":
                ours, theirs = (base64.b64encode(t) for t in (OURS, b"{'nonce': 'zz'}\n"))
                message["body"] = message["body"].replace(ours, theirs)
            return message  # type: ignore[no-any-return]

        await original(scope, other, send)  # type: ignore[arg-type]

    stage.judged.app = swapped  # type: ignore[assignment]
    assert await forge.start(proposal, OURS) is Fence.FOREIGN


async def test_without_an_installation_nothing_is_started(stage: Stage, proposal: Proposal) -> None:
    stage.world.suspend(stage.installation)
    async with stage.forge() as other:
        assert await other.start(proposal, OURS) is Fence.ABSENT


async def test_without_leave_to_write_nothing_is_started(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    stage.world.expire_tokens()
    del stage.installation.permissions["contents"]
    assert await forge.start(proposal, OURS) is Fence.ABSENT
    assert stands(stage) is None


async def test_while_github_asks_to_wait_no_write_is_sent(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    stage.world.faults.add(secondary_limit(*PUT, retry_after=30))
    with pytest.raises(Unavailable) as limit:
        await forge.write_end(proposal, "end", OURS)
    assert limit.value.retry_after == 30
    stage.counts()
    assert await forge.start(proposal, OURS) is Fence.ABSENT
    assert not stage.counts()


async def test_an_end_is_written_once_and_the_same_again_is_fine(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    await forge.write_end(proposal, "end", OURS)
    assert sum(stage.counts().values()) == 1
    await forge.write_end(proposal, "end", OURS)
    assert stands(stage, PATH.replace("start", "end")) == OURS
    with pytest.raises(Refused, match="not what was written"):
        await forge.write_end(proposal, "end", b"other\n")
    assert stands(stage, PATH.replace("start", "end")) == OURS


async def test_an_end_whose_answer_is_lost_is_looked_for(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    stage.lose(*PUT)
    await forge.write_end(proposal, "end", OURS)
    stage.world.faults.clear()
    stage.fail(*PUT, drop=True)
    with pytest.raises(Lost):
        await forge.write_end(replace(proposal, id="p_2"), "end", OURS)
