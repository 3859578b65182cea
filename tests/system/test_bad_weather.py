"""GitHub is down, forgetful or repeats itself, the server crashes: nothing twice, nothing lost."""

import asyncio
from datetime import timedelta

import pytest

from proposals.lifecycle import Event, State
from sandbox.github import DeliveryFault, Fault
from sandbox.stage import REPOSITORY
from sandbox.testing import Town
from tests.system.acting import approve, pulls_of
from tests.system.conftest import Box

pytestmark = pytest.mark.anyio

REPO = "/repos/{owner}/{repo}"
OPENING = [
    ("GET", f"{REPO}/contents/{{path}}"),
    ("POST", f"{REPO}/git/refs"),
    ("PUT", f"{REPO}/contents/{{path}}"),
    ("POST", f"{REPO}/pulls"),
    ("POST", f"{REPO}/check-runs"),
]


def named(call: tuple[str, str]) -> str:
    return f"{call[0]} {call[1].removeprefix(REPO)}"


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("call", OPENING, ids=named)
async def test_whatever_fails_while_opening_one_page_stands_in_the_end(
    here: Town, box: Box, call: tuple[str, str], when: str
) -> None:
    here.world.faults.add(Fault(*call, when=when, status=502))  # type: ignore[arg-type]
    seen = await here.propose("box.add", {"n": 4})
    assert pulls_of(here, seen) == 1
    checks = here.world.repository(REPOSITORY).checks.values()
    assert sum(run.external_id == seen["proposal"] for run in checks) == 1
    assert (await approve(here, seen))["status"] == "applied"
    assert box.runs == 1


async def test_while_github_is_down_the_proposal_waits_and_says_so(here: Town) -> None:
    down = Fault(times=40, drop=True)
    here.world.faults.add(down)
    said = (await here.ask("box.add", {"n": 4})).json()
    assert (said["status"], said["pull_request"]) == ("pinned", None)
    assert "is about to be asked for" in said["say_to_user"]
    here.world.faults.clear()
    await here.until(said, lambda p: p.state is State.OPEN)
    await here.rest()
    assert pulls_of(here, said) == 1


ENDING = [
    ("PUT", f"{REPO}/contents/{{path}}"),
    ("PUT", f"{REPO}/pulls/{{pull_number}}/merge"),
    ("PATCH", f"{REPO}/check-runs/{{check_run_id}}"),
    ("POST", f"{REPO}/issues/{{issue_number}}/comments"),
]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("call", ENDING, ids=named)
async def test_whatever_fails_while_telling_it_is_applied_and_told_once(
    here: Town, box: Box, call: tuple[str, str], when: str
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    here.world.faults.add(Fault(*call, when=when, status=502))  # type: ignore[arg-type]
    over = await approve(here, seen)
    await here.until(seen, lambda _: here.store.next_due() is None)
    await here.rest()
    assert box.runs <= 1
    assert over["status"] == ("applied" if box.runs else over["status"])
    assert sum("Done" in said for said in here.comments(seen)) == box.runs
    assert (here.pull(seen).merged_at is not None) is (box.runs == 1)


async def test_one_delivery_sent_ten_times_applies_once(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    here.world.faults.add(DeliveryFault("pull_request_review", "double"))
    await approve(here, seen)
    deliveries = here.world.deliveries
    review = next(d for d in deliveries.all if d.event == "pull_request_review")
    for _ in range(10):
        deliveries.again(review, here.world.new_id("delivery"))
    await here.rest()
    assert box.runs == 1


async def test_two_approvals_in_the_same_moment_apply_once(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    number = here.number(seen)
    await asyncio.gather(
        here.person("lee").review(REPOSITORY, number, "APPROVE"),
        here.person("noor").review(REPOSITORY, number, "APPROVE"),
        here.person("lee").press(here.check(seen).id, "approve"),
    )
    assert (await here.over(seen))["status"] == "applied"
    assert box.runs == 1


async def test_a_rejection_in_the_moment_of_the_start_stops_it(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})

    async def reject() -> None:
        await here.person("noor").comment(REPOSITORY, here.number(seen), "/reject")
        await here.world.settled()

    # The policy is read last before the start: the no arrives after everything was judged.
    policy = Fault("GET", "/contents/.github/placet.yml", when="after", run=reject)
    here.world.faults.add(policy)
    over = await approve(here, seen)
    assert (over["error"]["code"], box.runs) == ("rejected", 0)


async def test_a_crash_while_the_tool_runs_leaves_unknown_and_is_read_back(
    here: Town, box: Box
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    box.breaks("hang")
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.until(seen, lambda _: box.runs == 1 and box.value == 5)
    await here.stop()
    await here.start()
    over = await here.over(seen)
    assert (over["status"], box.runs) == ("applied", 1)
    assert over["_verification"]["verdict"] == "verified"


async def test_a_server_that_is_told_to_stop_lets_a_running_change_end(
    here: Town, box: Box
) -> None:
    await here.stop()
    here.patience = timedelta(seconds=60)
    await here.start()
    seen = await here.propose("box.add", {"n": 4})
    box.breaks("slow apply")
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.until(seen, lambda _: box.runs == 1)
    await here.stop()
    assert (box.runs, box.value) == (1, 5)
    await here.start()
    moves = [move["event"] for move in here.store.history(seen["proposal"])]
    assert Event.LOST not in moves, "its outcome was kept before the server was gone"
    assert (await here.over(seen))["status"] == "applied"
    await here.rest()
    assert here.pull(seen).merged_at is not None
    assert box.runs == 1


async def test_what_does_not_end_within_the_limit_is_unknown(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    box.breaks("hang")
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.until(seen, lambda _: box.runs == 1 and box.value == 5)
    await here.stop()
    box.value = 1
    await here.start()
    over = await here.over(seen)
    assert (over["status"], box.runs) == ("unknown", 1)


async def test_an_unknown_outcome_stays_unknown_until_a_person_says(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    box.breaks("hang")
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.until(seen, lambda _: box.runs == 1 and box.value == 5)
    box.value = 1
    over = await here.over(seen)
    assert (over["status"], over["executed"], box.runs) == ("unknown", None, 1)
    assert "unknown" in here.check(seen).output["title"].lower()
    digest = seen["digest"].removeprefix("sha256:")[:12]
    number = here.number(seen)
    words = f"/resolve {digest} failed I looked"
    await here.person("dana").comment(REPOSITORY, number, words)
    await here.rest()
    assert (await here.seen(seen))["status"] == "unknown", "the agent's people settle nothing"
    await here.person("lee").comment(REPOSITORY, number, words)
    await here.until(seen, lambda p: p.state is State.FAILED)
    await here.rest()
    assert (await here.seen(seen))["_verification"]["verdict"] == "asserted"


async def test_a_late_success_settles_an_unknown_outcome(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    box.breaks("hang")
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.until(seen, lambda _: box.runs == 1 and box.value == 5)
    box.value = 1
    assert (await here.over(seen))["status"] == "unknown"
    told = len(here.comments(seen))
    here.hall.worker.nudge(seen["proposal"])  # type: ignore[attr-defined]
    await here.rest()
    assert ((await here.seen(seen))["status"], len(here.comments(seen))) == ("unknown", told)
    box.value = 5
    here.hall.worker.nudge(seen["proposal"])  # type: ignore[attr-defined]
    await here.until(seen, lambda p: p.state is State.APPLIED)
    await here.rest()
    assert box.runs == 1
    assert here.pull(seen).merged_at is not None


async def test_a_lost_delivery_is_fetched_from_githubs_log(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    here.world.faults.add(DeliveryFault("pull_request_review", "fail"))
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    assert box.runs == 0
    await here.stop()
    await here.start()
    assert (await here.over(seen))["status"] == "applied"
    assert box.runs == 1


async def test_a_server_that_github_cannot_reach_asks_for_its_deliveries(
    here: Town, box: Box
) -> None:
    await here.stop()
    await here.start(poll=True)
    seen = await here.propose("box.add", {"n": 4})
    assert (await approve(here, seen))["status"] == "applied"
    assert box.runs == 1


async def test_what_was_approved_while_the_server_was_down_is_applied_when_it_is_back(
    here: Town, box: Box
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    number = here.number(seen)
    await here.stop()
    await here.person("lee").review(REPOSITORY, number, "APPROVE")
    await here.world.settled()
    await here.start()
    assert (await here.over(seen))["status"] == "applied"
    assert box.runs == 1


async def test_an_approval_seen_on_github_without_its_delivery_counts_for_nothing(
    here: Town, box: Box
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    here.world.faults.add(DeliveryFault("pull_request_review", "lose"))
    number = here.number(seen)
    await here.person("lee").review(REPOSITORY, number, "APPROVE")
    await here.person("sam").review(REPOSITORY, number, "APPROVE")
    await here.rest()
    assert box.runs == 0
    assert not any("@lee" in said for said in here.comments(seen)), "it may be on its way"
    here.world.clock.advance(timedelta(minutes=1))
    await here.person("sam").review(REPOSITORY, number, "APPROVE")
    await here.rest()
    assert sum("@lee" in said and "again" in said for said in here.comments(seen)) == 1


async def test_a_persons_merge_approves_nothing(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await here.person("noor").merge(REPOSITORY, here.number(seen))
    await here.rest()
    assert (await here.seen(seen))["status"] == "awaiting_approval"
    assert box.runs == 0
    assert (await approve(here, seen))["status"] == "applied"


@pytest.mark.parametrize("skew", [timedelta(seconds=40), timedelta(seconds=-40)], ids=str)
async def test_a_wrong_clock_starts_nothing(here: Town, box: Box, skew: timedelta) -> None:
    seen = await here.propose("box.add", {"n": 4})
    here.skew = skew
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    assert box.runs == 0
    assert "clock" in here.check(seen).output["title"]
    here.skew = timedelta()
    await here.stop()
    await here.start()
    assert (await here.over(seen))["status"] == "applied"
