"""Turns in the store: what was called, how it stands now, what ended since, and what is pending."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from proposals.answer import answer
from proposals.drafts import Draft, named, pending
from proposals.lifecycle import Event
from proposals.plan import Proposal
from proposals.store import Started, Store
from proposals.store.drafts import NEWEST
from proposals.turn import Scope
from tests.proposals.test_store import NOW, PINNED, PROPOSAL

HERE = Scope("bot", "s1")
VERIFIED: dict[str, Any] = {"basis": "verified", "checks": []}


def at(minute: float) -> datetime:
    return NOW + timedelta(minutes=minute)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "placet.db")
    yield store
    store.close()


def called(store: Store, id_: str, now: datetime, scope: Scope = HERE, **more: Any) -> Proposal:
    proposal = replace(PROPOSAL, id=id_, arguments={"id": int(id_[2:])}, **more)
    store.add(proposal, now)
    pinned = store.move(id_, Event.PLANNED, now, pinned=PINNED, summary="Change 1 row")
    store.record_call(scope, answer(pinned), proposal.tool, now)
    return pinned


def applied(store: Store, id_: str, now: datetime) -> None:
    known = store.move(id_, Event.GRANTED, now, nonce="n")
    until = now + timedelta(minutes=5)
    assert store.start(id_, Started("n", PINNED.digest, known.evidence_rev, until), now)
    store.move(id_, Event.SUCCEEDED, now, outcome=VERIFIED)


def ended(store: Store, id_: str, now: datetime) -> None:
    store.move(id_, Event.EXPIRED, now, reason="expired", why="Nobody approved it in time.")


def draft(scope: Scope = HERE, now: datetime = NOW, **given: Any) -> Draft:
    id_ = named((scope.agent, scope.session), "plan", "cal.push", given)
    return Draft(id_, "plan", "cal.push", given, "year is missing", now)


def stood(report: dict[str, Any] | None, key: str = "entries") -> list[tuple[str, str]]:
    assert report is not None
    return [(e["proposal"] or e["tool"], e["status"]) for e in report[key]]


def test_the_first_turn_of_a_session_has_nothing_before_it(store: Store) -> None:
    told = store.open_turn(HERE, "t_1", at(0))
    assert (told["turn"], told["entries"], told["ended_since_last"]) == ("t_1", [], [])


def test_a_call_stands_as_the_store_knows_it_now(store: Store) -> None:
    store.open_turn(HERE, "t_1", at(0))
    called(store, "p_1", at(1))
    assert stood(store.turn_report(HERE, at(2))) == [("p_1", "pinned")]
    applied(store, "p_1", at(3))
    told = store.turn_report(HERE, at(4))
    assert stood(told) == [("p_1", "applied")]
    assert (told["changes_this_turn"], told["ended_since_last"]) == (1, [])


def test_two_calls_of_one_proposal_are_one_entry(store: Store) -> None:
    store.open_turn(HERE, "t_1", at(0))
    pinned = called(store, "p_1", at(1))
    called(store, "p_2", at(2))
    store.record_call(HERE, answer(pinned), "db.t", at(3))
    assert stood(store.turn_report(HERE, at(4))) == [("p_1", "pinned"), ("p_2", "pinned")]


def test_opening_a_turn_closes_the_one_before_and_tells_of_it(store: Store) -> None:
    store.open_turn(HERE, "t_1", at(0))
    called(store, "p_1", at(1))
    told = store.open_turn(HERE, "t_2", at(2))
    assert (told["turn"], stood(told)) == ("t_1", [("p_1", "pinned")])
    now = store.turn_report(HERE, at(3))
    assert (now["turn"], now["entries"]) == ("t_2", [])


def test_a_turn_that_is_closed_is_told_once(store: Store) -> None:
    store.open_turn(HERE, "t_1", at(0))
    called(store, "p_1", at(1))
    assert stood(store.close_turn(HERE, at(2))) == [("p_1", "pinned")]
    assert store.close_turn(HERE, at(3)) is None


def test_what_ended_since_the_last_turn_is_told_in_every_report_of_the_next(store: Store) -> None:
    store.open_turn(HERE, "t_1", at(0))
    for id_ in ("p_1", "p_2", "p_3"):
        called(store, id_, at(1))
    applied(store, "p_1", at(2))
    store.close_turn(HERE, at(3))
    ended(store, "p_2", at(4))
    told = store.open_turn(HERE, "t_2", at(5))
    assert stood(told) == [("p_1", "applied"), ("p_2", "ended"), ("p_3", "pinned")]
    assert stood(store.turn_report(HERE, at(6)), "ended_since_last") == [("p_2", "ended")]
    applied(store, "p_3", at(7))
    now = store.turn_report(HERE, at(8))
    assert stood(now, "ended_since_last") == [("p_2", "ended"), ("p_3", "applied")]
    assert (now["entries"], now["changes_this_turn"]) == ([], 0)
    store.open_turn(HERE, "t_3", at(9))
    assert stood(store.turn_report(HERE, at(10)), "ended_since_last") == []


def test_what_a_person_took_back_is_told_though_the_agent_did_not_ask(store: Store) -> None:
    store.open_turn(HERE, "t_1", at(0))
    called(store, "p_1", at(1))
    applied(store, "p_1", at(2))
    store.open_turn(HERE, "t_2", at(3))
    store.add(replace(PROPOSAL, id="p_9", undoes="p_1", asked_by={"id": 7, "login": "lee"}), at(4))
    store.move("p_9", Event.PLANNED, at(4), pinned=PINNED)
    applied(store, "p_9", at(5))
    [told] = store.turn_report(HERE, at(6))["ended_since_last"]
    assert (told["proposal"], told["why"]) == ("p_9", "it took p_1 back")
    [entry] = store.open_turn(HERE, "t_3", at(7))["ended_since_last"]
    assert entry["proposal"] == "p_9"


def test_a_change_that_was_undone_is_not_told_as_if_it_stood(store: Store) -> None:
    store.open_turn(HERE, "t_1", at(0))
    called(store, "p_1", at(1))
    applied(store, "p_1", at(2))
    called(store, "p_9", at(3), undoes="p_1")
    applied(store, "p_9", at(4))
    first, second = store.turn_report(HERE, at(5))["entries"]
    assert first["why"] == "undone since by p_9"
    assert second["why"] == "it took p_1 back"


def test_another_session_and_another_agent_see_nothing_of_it(store: Store) -> None:
    store.open_turn(HERE, "t_1", at(0))
    called(store, "p_1", at(1))
    store.record_draft(HERE, draft(name="Ann"))
    applied(store, "p_1", at(2))
    for other in (Scope("bot", "s2"), Scope("bot"), Scope("eve", "s1")):
        told = store.turn_report(other, at(3))
        assert (told["entries"], told["ended_since_last"], told["pending_drafts"]) == ([], [], [])
        assert not store.discard_draft(other, draft(name="Ann").id)


def test_without_turns_the_report_is_about_the_newest_call_and_what_ended_since_the_one_before(
    store: Store,
) -> None:
    scope = Scope("bot")
    assert store.turn_report(scope, at(0))["entries"] == []
    called(store, "p_1", at(1), scope)
    called(store, "p_2", at(2), scope)
    told = store.turn_report(scope, at(2))
    assert (told["turn"], told["scope"], told["since"][11:]) == (None, "agent", "12:01:00Z")
    assert stood(told) == [("p_2", "pinned")]
    applied(store, "p_1", at(3))
    ended(store, "p_2", at(3))
    called(store, "p_3", at(4), scope)
    told = store.turn_report(scope, at(4))
    assert stood(told) == [("p_3", "pinned")]
    assert stood(told, "ended_since_last") == [("p_1", "applied"), ("p_2", "ended")]


def test_a_call_that_is_denied_is_an_entry_of_its_own(store: Store) -> None:
    store.open_turn(HERE, "t_1", at(0))
    told = {"tool": "fs.rm", "proposal": None, "status": "denied"}
    for _ in range(3):
        store.record_call(HERE, told | {"error": {"message": "not declared"}}, "fs.rm", at(1))
    [entry] = store.turn_report(HERE, at(2))["entries"]
    expected = {"tool": "fs.rm", "proposal": None, "status": "denied", "why": "not declared"}
    assert entry == expected


def test_a_draft_is_pending_until_a_call_on_its_section_is_accepted(store: Store) -> None:
    store.open_turn(HERE, "t_1", at(0))
    store.record_draft(HERE, draft(name="Ann"))
    assert store.drafts(HERE) == [draft(name="Ann")]
    told = store.turn_report(HERE, at(1))
    assert stood(told) == [("cal.push", "draft")]
    assert [d["section"] for d in told["pending_drafts"]] == ["plan"]
    refused = {"tool": "cal.push", "proposal": None, "status": "denied", "error": None}
    store.record_call(HERE, refused, "plan", at(2))
    store.record_call(HERE, refused | {"status": "awaiting_approval"}, "diet", at(2))
    assert len(store.drafts(HERE)) == 1
    store.record_call(HERE, refused | {"status": "awaiting_approval"}, "plan", at(3))
    assert store.drafts(HERE) == []


def test_a_section_has_one_draft_and_it_is_the_newest(store: Store) -> None:
    store.record_draft(HERE, draft(name="Ann"))
    store.record_draft(HERE, draft(name="Bob", now=at(1)))
    assert [d.arguments for d in store.drafts(HERE)] == [{"name": "Bob"}]


def test_discarding_is_verified_by_absence(store: Store) -> None:
    store.record_draft(HERE, draft(name="Ann"))
    assert not store.discard_draft(HERE, "d_other")
    assert len(store.drafts(HERE)) == 1
    assert store.discard_draft(HERE, draft(name="Ann").id)
    assert store.drafts(HERE) == []
    assert not store.discard_draft(HERE, draft(name="Ann").id)


def test_the_guard_asks_in_the_turn_after_the_one_that_failed(store: Store) -> None:
    store.open_turn(HERE, "t_1", at(0))
    store.record_draft(HERE, draft(name="Ann"))
    assert store.confront(HERE) is None
    store.open_turn(HERE, "t_2", at(1))
    found = store.confront(HERE)
    assert found is not None
    assert found.drafts == (draft(name="Ann").id,)
    assert store.drafts(HERE)[0].confronted


def test_the_guard_asks_about_a_draft_once_and_at_most_once_a_turn(store: Store) -> None:
    store.record_draft(HERE, draft(name="Ann"))
    store.open_turn(HERE, "t_1", at(1))
    assert store.confront(HERE)
    assert store.confront(HERE) is None
    store.record_draft(HERE, replace(draft(name="Eve"), section="diet"))
    assert store.confront(HERE) is None
    assert store.discard_draft(HERE, draft(name="Eve").id)
    store.open_turn(HERE, "t_2", at(2))
    assert store.confront(HERE) is None
    store.record_draft(HERE, draft(name="Ann", now=at(2)))
    store.open_turn(HERE, "t_3", at(3))
    assert store.confront(HERE) is None
    store.record_draft(HERE, draft(name="Bob", now=at(3)))
    store.open_turn(HERE, "t_4", at(4))
    assert store.confront(HERE)


def test_the_guard_is_silent_without_a_turn(store: Store) -> None:
    store.record_draft(HERE, draft(name="Ann"))
    assert store.confront(HERE) is None


def test_a_report_outlives_the_process(tmp_path: Path) -> None:
    store = Store(tmp_path / "placet.db")
    store.open_turn(HERE, "t_1", at(0))
    called(store, "p_1", at(1))
    store.record_draft(HERE, draft(name="Ann"))
    told = store.turn_report(HERE, at(2))
    store.close()
    again = Store(tmp_path / "placet.db")
    assert again.turn_report(HERE, at(2)) == told
    again.close()


def test_however_many_sessions_an_agent_names_only_its_newest_drafts_are_kept(
    store: Store,
) -> None:
    other = Scope("eve", "s")
    store.record_draft(other, draft(other, NOW))
    many = [Scope("bot", f"s{n}") for n in range(NEWEST + 3)]
    with store.tx():
        for n, scope in enumerate(many):
            store.record_draft(scope, draft(scope, at(n)))
    left = [len(store.drafts(scope)) for scope in many]
    assert left == [0] * 3 + [1] * NEWEST
    assert len(store.drafts(other)) == 1


def test_of_very_long_arguments_a_draft_keeps_how_they_begin(store: Store) -> None:
    long = draft(name="x" * 100_000)
    store.record_draft(HERE, long)
    [kept] = store.drafts(HERE)
    assert (kept.id, len(str(kept.arguments)) < 400) == (long.id, True)
    assert pending([kept]) == pending([long])
