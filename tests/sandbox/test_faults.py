from collections.abc import Awaitable, Callable
from typing import Any, Literal

import httpx
import pytest

from sandbox.github import Fault, secondary_limit
from sandbox.github.faults import Faults
from tests.sandbox.stage import REPO, R, Stage

pytestmark = pytest.mark.anyio
COMMENTS = "/repos/{owner}/{repo}/issues/{issue_number}/comments"
PULL = "/repos/{owner}/{repo}/pulls/{pull_number}"
Side = Literal["before", "after"]


@pytest.mark.parametrize(("when", "effects"), [("before", 0), ("after", 1)])
@pytest.mark.parametrize("drop", [True, False], ids=["dropped", "502"])
async def test_an_answer_is_lost_before_or_after_the_effect(
    stage: Stage, when: Side, effects: int, *, drop: bool
) -> None:
    number = (await stage.pull())["number"]
    status = None if drop else 502
    stage.world.faults.add(Fault("POST", COMMENTS, when=when, drop=drop, status=status))
    try:
        answer = await stage.ask("POST", f"issues/{number}/comments", {"body": "hi"})
    except httpx.TransportError:
        assert drop
    else:
        assert answer.status_code == 502
    assert len(await stage.get(f"issues/{number}/comments")) == effects


async def test_the_nth_request_goes_wrong_and_only_that(stage: Stage) -> None:
    stage.world.faults.add(Fault("GET", R + "$", nth=2, status=503))
    statuses = [(await stage.ask("GET", R)).status_code for _ in range(3)]
    assert statuses == [200, 503, 200]


@pytest.mark.parametrize("after", [None, 60])
async def test_a_secondary_limit_may_or_may_not_say_when_to_come_back(
    stage: Stage, after: int | None
) -> None:
    stage.world.faults.add(secondary_limit("POST", "/git/blobs", after))
    answer = await stage.ask("POST", "git/blobs", {"content": "x"})
    assert answer.status_code == 403
    assert "secondary rate limit" in answer.json()["message"]
    assert answer.headers.get("retry-after") == (str(after) if after else None)


async def test_a_read_can_be_as_old_as_an_earlier_moment(stage: Stage) -> None:
    pull = await stage.pull()
    number, before = pull["number"], stage.world.moment()
    ann = stage.world.person("ann")
    new = await ann.push(REPO, "plan", {"x": "y"})
    await ann.edit_pull(REPO, number, title="Harmless")
    stage.world.faults.add(Fault("GET", PULL, stale=before))
    stage.world.faults.add(Fault("GET", "/git/ref/heads/plan", stale=before))
    stale = await stage.get(f"pulls/{number}")
    assert (stale["title"], stale["head"]["sha"]) == (pull["title"], pull["head"]["sha"])
    old = await stage.get("git/ref/heads/plan")
    assert old["object"]["sha"] == pull["head"]["sha"]
    fresh = await stage.get(f"pulls/{number}")
    assert (fresh["title"], fresh["head"]["sha"]) == ("Harmless", new)


@pytest.mark.parametrize(("when", "seen"), [("before", "new"), ("after", "old")])
async def test_the_head_moves_at_the_nth_read(stage: Stage, when: Side, seen: str) -> None:
    pull, ann = await stage.pull(), stage.world.person("ann")
    pushed: dict[str, str] = {"old": pull["head"]["sha"]}

    async def push() -> None:
        pushed["new"] = await ann.push(REPO, "plan", {"x": "y"})

    run: Callable[[], Awaitable[Any]] = push
    stage.world.faults.add(Fault("GET", PULL, nth=2, when=when, run=run))
    path = f"pulls/{pull['number']}"
    heads = [(await stage.get(path))["head"]["sha"] for _ in range(3)]
    assert heads == [pushed["old"], pushed[seen], pushed["new"]]


def test_a_template_matches_no_other_route() -> None:
    faults = Faults()
    faults.add(Fault("GET", PULL, status=500, times=9))
    assert faults.for_request("GET", PULL, f"{R}/pulls/1")
    assert not faults.for_request("GET", f"{PULL}/files", f"{R}/pulls/1/files")
    assert not faults.for_request("PATCH", PULL, f"{R}/pulls/1")


async def test_the_log_counts_requests_by_route_and_says_who_asked(stage: Stage) -> None:
    number = (await stage.pull())["number"]
    stage.world.log.clear()
    for _ in range(3):
        await stage.get(f"pulls/{number}")
    await stage.ask("GET", f"pulls/{number}", as_="sam")
    assert stage.world.log.counts() == {f"GET {PULL}": 4}
    assert [entry.kind for entry in stage.world.log.entries] == ["installation"] * 3 + ["user"]
    assert stage.world.log.entries[0].app_id == stage.app.id


async def test_the_control_desk_queues_faults_and_shows_the_log(stage: Stage) -> None:
    wanted = {"method": "GET", "path": PULL, "status": 500}
    assert (await stage.client.post("/_sandbox/faults", json=wanted)).status_code == 204
    assert (await stage.client.post("/_sandbox/faults", json={"x": 1})).status_code == 422
    number = (await stage.pull())["number"]
    assert (await stage.ask("GET", f"pulls/{number}")).status_code == 500
    assert (await stage.client.delete("/_sandbox/faults")).status_code == 204
    log = (await stage.client.get("/_sandbox/log")).json()
    assert log["counts"][f"GET {PULL}"] == 1
