"""The store over a real file: one owner, whole transactions, one start."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from checks.facts import Person, Stance, Standing, Surface, Voice
from proposals.lifecycle import Event, IllegalMoveError, State
from proposals.plan import Pinned, Place, Planned, Proposal, Target, pin
from proposals.store import (
    Delivery,
    NameTaken,
    Problem,
    Started,
    Step,
    Store,
    StoreBusy,
    Unanswered,
)

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
PINNED: Pinned = pin(
    {"name": "db.t", "kind": "command", "effect": "write", "definition": "sha256:0"},
    {"id": 1},
    Planned(effects=[{"what": "row 1", "before": 1, "after": 2}]),
)
PLACE = Place("placet/p/p_1", "placet/ledger", "a" * 40, 7, "https://x/7", 81, NOW)
PROPOSAL = Proposal(
    id="p_1",
    agent="bot",
    tool="db.t",
    arguments={"id": 1},
    state=State.PLANNING,
    repository=5,
    identities=frozenset({11}),
    created=NOW,
    expires=NOW + timedelta(hours=1),
    salt="00",
)
REVIEW = Delivery("g-1", "pull_request_review", "submitted", "{}", NOW, 5, 7, sender=22)
VOICE = Voice("review:9", Person(22, "lee"), Surface.REVIEW, Stance.APPROVE, NOW, 9, head="a" * 40)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "placet.db")
    yield store
    store.close()


def claimed(store: Store) -> Proposal:
    store.add(PROPOSAL, NOW)
    store.move("p_1", Event.PLANNED, NOW, pinned=PINNED, summary="Change 1 row")
    store.move("p_1", Event.PUBLISHED, NOW, place=PLACE, valid_from=NOW)
    return store.move("p_1", Event.GRANTED, NOW, nonce="n1")


def conditions(proposal: Proposal, **change: object) -> Started:
    given = Started("n1", PINNED.digest, proposal.evidence_rev, NOW + timedelta(minutes=5))
    return replace(given, **change)


def test_a_proposal_comes_back_as_it_was_kept(store: Store) -> None:
    kept = claimed(store)
    expected = replace(
        PROPOSAL,
        state=State.CLAIMED,
        pinned=PINNED,
        place=PLACE,
        valid_from=NOW,
        nonce="n1",
        summary="Change 1 row",
    )
    assert kept == expected


@pytest.mark.usefixtures("store")
def test_one_process_owns_the_file(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from proposals.store import Store, StoreBusy
try:
    Store(Path({str(tmp_path / "placet.db")!r}))
except StoreBusy:
    print("busy")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "busy\n"
    with pytest.raises(StoreBusy):
        Store(tmp_path / "placet.db")


def test_everything_acknowledged_is_there_after_reopening(tmp_path: Path) -> None:
    store = Store(tmp_path / "placet.db")
    claimed(store)
    store.accept(REVIEW)
    store.record("p_1", VOICE)
    store.close()
    again = Store(tmp_path / "placet.db")
    assert again.waiting() == [REVIEW]
    assert again.voices("p_1") == (VOICE,)
    assert [h["event"] for h in again.history("p_1")] == [
        "asked",
        "planned",
        "published",
        "granted",
    ]
    again.close()


def test_it_starts_once(store: Store) -> None:
    proposal = claimed(store)
    assert store.start("p_1", conditions(proposal), NOW)
    assert not store.start("p_1", conditions(proposal), NOW)


@pytest.mark.parametrize(
    ("change", "at"),
    [
        pytest.param({"nonce": "n0"}, NOW, id="another-claim"),
        pytest.param({"digest": "sha256:" + "0" * 64}, NOW, id="another-digest"),
        pytest.param({"evidence_rev": 9}, NOW, id="newer-evidence"),
        pytest.param({"valid_until": NOW}, NOW, id="the-verdict-lapses-this-instant"),
        pytest.param({}, PROPOSAL.expires, id="expired-this-instant"),
    ],
)
def test_nothing_starts_when(store: Store, change: dict[str, object], at: datetime) -> None:
    proposal = claimed(store)
    ahead = {"valid_until": at + timedelta(hours=1)} | change
    assert not store.start("p_1", conditions(proposal, **ahead), at)


@pytest.mark.parametrize(
    "delivery",
    [
        pytest.param(REVIEW, id="a-review-of-its-page"),
        pytest.param(replace(REVIEW, number=None, check_run=81), id="a-button-of-its-check-run"),
        pytest.param(
            replace(REVIEW, event="push", number=None, head_ref="refs/heads/placet/p/p_1"),
            id="a-push-to-its-branch",
        ),
        pytest.param(
            replace(REVIEW, event="push", number=None, head_ref="refs/heads/main"),
            id="a-push-that-may-change-the-policy",
        ),
        pytest.param(
            replace(REVIEW, event="installation", repository=None, number=None),
            id="an-installation-event",
        ),
    ],
)
def test_a_delivery_stops_a_start_that_was_judged_without_it(
    store: Store, delivery: Delivery
) -> None:
    proposal = claimed(store)
    store.accept(delivery)
    assert not store.start("p_1", conditions(proposal), NOW)
    shaken = store.proposal("p_1")
    assert shaken is not None
    assert not store.start("p_1", conditions(shaken), NOW), "it still waits to be read"
    store.handled("g-1")
    assert store.start("p_1", conditions(shaken), NOW)


def test_a_push_that_was_read_after_the_verdict_stops_its_start(store: Store) -> None:
    proposal = claimed(store)
    store.note("p_1", moved=True)
    assert not store.start("p_1", conditions(proposal), NOW)


@pytest.mark.parametrize(
    "delivery",
    [
        pytest.param(replace(REVIEW, number=8), id="another-page"),
        pytest.param(replace(REVIEW, repository=6), id="another-repository"),
        pytest.param(replace(REVIEW, ours=True), id="our-own-doing"),
    ],
)
def test_a_delivery_leaves_alone_what_it_is_not_about(store: Store, delivery: Delivery) -> None:
    proposal = claimed(store)
    store.accept(delivery)
    assert store.start("p_1", conditions(proposal), NOW)


SHOWN = {"p_2": NOW - timedelta(minutes=1)}
COMMENT = replace(REVIEW, guid="g-2", event="issue_comment", number=8)


@pytest.mark.parametrize(
    ("delivery", "waits"),
    [
        pytest.param(COMMENT, True, id="a-page-that-nobody-knows"),
        pytest.param(replace(COMMENT, number=None, check_run=99), True, id="an-unknown-check"),
        pytest.param(
            replace(COMMENT, event="push", number=None, head_ref="refs/heads/placet/p/p_2"),
            True,
            id="a-push-to-its-branch",
        ),
        pytest.param(
            replace(COMMENT, event="push", number=None, head_ref="refs/heads/placet/p/p_3"),
            False,
            id="a-push-to-anothers",
        ),
        pytest.param(
            replace(COMMENT, event="push", number=None, head_ref="refs/heads/main"),
            False,
            id="a-push-elsewhere",
        ),
        pytest.param(replace(COMMENT, number=7), False, id="a-page-that-is-known"),
        pytest.param(replace(COMMENT, number=None, check_run=81), False, id="a-known-check"),
        pytest.param(replace(COMMENT, repository=6), False, id="another-repository"),
        pytest.param(replace(COMMENT, ours=True), False, id="our-own-doing"),
        pytest.param(
            replace(COMMENT, received=NOW - timedelta(minutes=2)), False, id="for-too-long"
        ),
        pytest.param(
            replace(COMMENT, event="installation", repository=None, number=None),
            False,
            id="about-no-repository",
        ),
    ],
)
def test_what_may_be_about_a_page_that_is_being_shown_waits_for_it(
    store: Store, delivery: Delivery, *, waits: bool
) -> None:
    claimed(store)
    store.add(replace(PROPOSAL, id="p_2", arguments={"id": 2}), NOW)
    store.accept(delivery)
    assert store.waiting() == [delivery]
    assert store.waiting(shown=SHOWN) == ([] if waits else [delivery])


@pytest.mark.parametrize(
    ("delivery", "waits"),
    [
        pytest.param(replace(COMMENT, repository=6, number=9), True, id="on-its-page"),
        pytest.param(
            replace(COMMENT, repository=6, number=None, check_run=99), True, id="at-any-check"
        ),
        pytest.param(replace(COMMENT, repository=6), False, id="on-another-page-there"),
        pytest.param(COMMENT, False, id="in-its-governing-repository"),
    ],
)
def test_what_may_be_about_a_plan_that_is_being_announced_waits_for_it(
    store: Store, delivery: Delivery, *, waits: bool
) -> None:
    target = Target(6, "acme/app", 9, "b" * 40)
    store.add(replace(PROPOSAL, id="p_2", target=target), NOW)
    store.accept(delivery)
    assert store.waiting(shown=SHOWN) == ([] if waits else [delivery])


def test_so_many_that_may_be_read_are_read_whatever_waits_before_them(store: Store) -> None:
    store.add(replace(PROPOSAL, id="p_2"), NOW)
    for n in range(3):
        store.accept(replace(COMMENT, guid=f"early-{n}", number=100 + n))
        store.accept(replace(COMMENT, guid=f"stuck-{n}", repository=6))
    store.accept(replace(COMMENT, guid="ready", repository=6))
    stuck = [f"stuck-{n}" for n in range(3)]
    assert [d.guid for d in store.waiting(1, but=stuck, shown=SHOWN)] == ["ready"]


def test_a_command_is_kept_once_until_it_is_answered(store: Store) -> None:
    command = Unanswered("p_1", "comment:1", "{}", NOW)
    for _ in range(2):
        store.keep_command(command)
    store.keep_command(replace(command, key="comment:2"))
    store.trying_command("p_1", "comment:1")
    assert [(c.key, c.tries) for c in store.commands()] == [("comment:1", 1), ("comment:2", 0)]
    store.answered("p_1", "comment:1")
    assert store.commands() == [replace(command, key="comment:2")]


def test_what_broke_off_while_it_was_planned_followed_nothing(store: Store) -> None:
    store.add(PROPOSAL, NOW)
    store.add(replace(PROPOSAL, id="p_2", parent="p_1"), NOW)
    assert store.followed("p_1", NOW) == store.proposal("p_2")
    assert store.followed("p_1", NOW + timedelta(seconds=1)) is None
    store.move("p_2", Event.CRASH, NOW, reason="interrupted")
    assert store.followed("p_1", NOW) is None


def test_a_redelivery_is_seen_once(store: Store) -> None:
    claimed(store)
    assert store.accept(REVIEW)
    assert not store.accept(REVIEW)
    assert store.record("p_1", VOICE)
    assert not store.record("p_1", VOICE)
    assert len(store.voices("p_1")) == 1


def test_what_is_taken_back_stays_taken_back(store: Store) -> None:
    claimed(store)
    store.record("p_1", VOICE)
    ann = Person(33, "ann")
    assert store.take_back("p_1", "review:9", Standing.DISMISSED, ann)
    assert not store.take_back("p_1", "review:10", Standing.DISMISSED, ann)
    store.record("p_1", VOICE)
    assert store.voices("p_1") == (replace(VOICE, standing=Standing.DISMISSED, dismisser=ann),)


def test_a_failed_transaction_leaves_nothing_half_done(store: Store) -> None:
    store.add(PROPOSAL, NOW)

    def half() -> None:
        with store.tx():
            store.move("p_1", Event.PLANNED, NOW, [Step("show")], pinned=PINNED)
            store.move("p_1", Event.PLANNED, NOW)

    with pytest.raises(IllegalMoveError):
        half()
    again = store.proposal("p_1")
    assert again is not None
    assert again.state is State.PLANNING
    assert store.due(NOW) == []


def test_the_same_call_has_one_live_proposal(store: Store) -> None:
    store.add(PROPOSAL, NOW)
    twin = replace(PROPOSAL, id="p_2")
    assert store.add(twin, NOW).id == "p_1"
    assert store.add(replace(twin, arguments={"id": 2}), NOW).id == "p_2"
    assert store.add(replace(twin, id="p_3", agent="other"), NOW).id == "p_3"


@pytest.mark.parametrize(
    ("later", "id_"),
    [
        pytest.param(timedelta(minutes=9), "p_1", id="its-receipt-for-ten-minutes"),
        pytest.param(timedelta(minutes=11), "p_2", id="then-a-new-proposal"),
    ],
)
def test_the_same_call_after_its_end(store: Store, later: timedelta, id_: str) -> None:
    store.add(PROPOSAL, NOW)
    store.move("p_1", Event.PLAN_FAILED, NOW, reason="timeout")
    assert store.add(replace(PROPOSAL, id="p_2"), NOW + later).id == id_


@pytest.mark.parametrize(
    ("later", "id_"),
    [
        pytest.param(timedelta(minutes=59), "p_1", id="within-the-window"),
        pytest.param(timedelta(minutes=61), "p_2", id="after-it"),
    ],
)
def test_the_window_for_the_same_call_is_the_operators(
    tmp_path: Path, later: timedelta, id_: str
) -> None:
    store = Store(tmp_path / "other.db", timedelta(hours=1))
    store.add(PROPOSAL, NOW)
    store.move("p_1", Event.PLAN_FAILED, NOW, reason="timeout")
    assert store.add(replace(PROPOSAL, id="p_2"), NOW + later).id == id_
    store.close()


def test_a_key_is_for_ever(store: Store) -> None:
    keyed = replace(PROPOSAL, key="k")
    store.add(keyed, NOW)
    store.move("p_1", Event.PLAN_FAILED, NOW)
    assert store.add(replace(keyed, id="p_2"), NOW + timedelta(days=300)).id == "p_1"


def test_the_outbox_keeps_order_and_says_each_thing_once(store: Store) -> None:
    claimed(store)
    store.post("p_1", [Step("end", text="e"), Step("settle"), Step("tell")], NOW)
    store.post("p_1", [Step("tell")], NOW)
    told = []
    while due := store.due(NOW):
        told.append(due[0].step)
        store.sent(due[0].seq)
    assert told == ["end", "settle", "tell"]


def test_what_is_shown_anew_comes_after_all_and_is_not_ended_by_what_is_being_sent(
    store: Store,
) -> None:
    claimed(store)
    store.post("p_1", [Step("show")], NOW)
    (sending,) = store.due(NOW)
    store.post("p_1", [Step("end", text="e"), Step("settle"), Step("show"), Step("tell")], NOW)
    store.sent(sending.seq)
    told = []
    while due := store.due(NOW):
        told.append(due[0].step)
        store.sent(due[0].seq)
    assert told == ["end", "settle", "show", "tell"]


def test_a_step_that_failed_is_tried_again_later_and_holds_up_what_follows(store: Store) -> None:
    claimed(store)
    store.post("p_1", [Step("end", text="e"), Step("tell")], NOW)
    (first,) = store.due(NOW)
    store.trying(first.seq)
    store.later(first.seq, NOW + timedelta(seconds=30), "502")
    assert store.due(NOW) == []
    (again,) = store.due(NOW + timedelta(seconds=30))
    assert (again.step, again.tries, again.problem) == ("end", 1, "502")


def test_an_agent_is_known_by_its_token_until_it_is_revoked(store: Store) -> None:
    store.add_agent("bot", "ab" * 32, frozenset({11, 12}), NOW)
    agent = store.agent_by_token("ab" * 32)
    assert agent is not None
    assert agent.identities == frozenset({11, 12})
    with pytest.raises(NameTaken):
        store.add_agent("bot", "cd" * 32, frozenset(), NOW)
    store.revoke_agent("bot", NOW)
    assert store.agent_by_token("ab" * 32) is None


def test_plans_are_kept_as_the_bytes_that_were_digested(store: Store) -> None:
    claimed(store)
    (row,) = store.rows("SELECT plan, digest FROM proposal")
    assert json.loads(row["plan"]) == PINNED.plan
    assert row["digest"] == PINNED.digest


def test_whom_the_policy_means_comes_back_as_it_was_kept(store: Store) -> None:
    assert claimed(store).people == {}
    store.note("p_1", people={"ghost": 0, "ann": 7})
    kept = store.proposal("p_1")
    assert kept is not None
    assert kept.people == {"ann": 7, "ghost": 0}


@pytest.mark.parametrize(
    ("repository", "starts"),
    [
        pytest.param(None, False, id="everything-is-frozen"),
        pytest.param(PROPOSAL.repository, False, id="its-repository-is-halted"),
        pytest.param(PROPOSAL.repository + 1, True, id="another-repository-is-halted"),
    ],
)
def test_a_halt_is_a_condition_of_the_start(
    store: Store,
    repository: int | None,
    starts: bool,  # noqa: FBT001
) -> None:
    kept = claimed(store)
    store.halt("stop!", NOW, repository)
    assert store.start("p_1", conditions(kept), NOW) is starts
    assert store.resume(repository)
    assert starts or store.start("p_1", conditions(kept), NOW)


def test_problems_keep_since_when_and_are_solved_one_by_one(store: Store) -> None:
    later = NOW + timedelta(minutes=5)
    store.trouble(Problem(7, "suspended", "a"), NOW)
    store.trouble(Problem(7, "suspended", "b"), later)
    store.trouble(Problem(7, "merge_refused", "c", proposal="p_1"), later)
    store.trouble(Problem(8, "public", "d"), later)
    assert [(p.code, p.why, p.at) for p in store.problems(7)] == [
        ("suspended", "b", NOW),
        ("merge_refused", "c", later),
    ]
    assert store.solved(7, "suspended") == 1
    assert [p.code for p in store.problems()] == ["merge_refused", "public"]
    assert store.solved(7, proposal="p_1") == 1


def test_a_ledgers_tip_is_kept_until_it_is_forgotten(store: Store) -> None:
    assert store.ledger_tip(7) is None
    for tip in ("a" * 40, "b" * 40):
        store.ledger_moved(7, tip)
    assert store.ledger_tip(7) == "b" * 40
    store.forget_tip(7)
    assert store.ledger_tip(7) is None
