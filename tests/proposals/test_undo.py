"""Of one applied proposal at most one undo lives or is applied, and the newest goes first."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from proposals.lifecycle import Event, State
from proposals.plan import Place, Planned, Proposal, pin
from proposals.ports import Order
from proposals.store import Started, Store

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
PINNED = pin({"name": "db.t"}, {"id": 1}, Planned(effects=[{"what": "row 1"}]))
PLACE = Place("placet/p/x", "placet/ledger", "a" * 40, 7, "https://x/7", 81, NOW)
CALL = Proposal(
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
UNDO = replace(CALL, id="p_2", undoes="p_1", asked_by={"id": 22, "login": "lee"})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "placet.db")
    yield store
    store.close()


def started(store: Store, proposal: Proposal) -> str:
    kept = store.add(proposal, NOW)
    assert kept.id == proposal.id
    store.move(kept.id, Event.PLANNED, NOW, pinned=PINNED)
    store.move(kept.id, Event.PUBLISHED, NOW, place=PLACE)
    claimed = store.move(kept.id, Event.GRANTED, NOW, nonce="n")
    until = NOW + timedelta(minutes=5)
    assert store.start(kept.id, Started("n", PINNED.digest, claimed.evidence_rev, until), NOW)
    return kept.id


def applied(store: Store, proposal: Proposal) -> Proposal:
    """A proposal's whole life within one moment, as clocks have it."""
    return store.move(started(store, proposal), Event.SUCCEEDED, NOW)


def later(store: Store, of: str) -> list[str]:
    found = store.proposal(of)
    assert found
    return [p.id for p in store.done_since(found)]


def test_an_undo_comes_back_as_it_was_kept_and_both_know_each_other(store: Store) -> None:
    applied(store, CALL)
    undo = applied(store, UNDO)
    assert (undo.undoes, undo.asked_by, undo.undone_by) == ("p_1", UNDO.asked_by, None)
    original = store.proposal("p_1")
    assert original
    assert (original.undone_by, original.state) == ("p_2", State.APPLIED)


@pytest.mark.parametrize(
    ("event", "undone"),
    [
        pytest.param(Event.LOST, None, id="nobody-knows"),
        pytest.param(Event.DID_NOTHING, None, id="it-did-nothing"),
        pytest.param(Event.SUCCEEDED, "p_2", id="applied"),
    ],
)
def test_only_an_applied_undo_has_undone_it(store: Store, event: Event, undone: str | None) -> None:
    applied(store, CALL)
    store.move(started(store, UNDO), event, NOW)
    original = store.proposal("p_1")
    assert original
    assert original.undone_by == undone


def test_a_second_undo_gives_the_first_back_while_it_lives_or_is_applied(store: Store) -> None:
    applied(store, CALL)
    second = replace(UNDO, id="p_3")
    started(store, UNDO)
    assert store.add(second, NOW).id == "p_2"
    store.move("p_2", Event.LOST, NOW)
    assert store.add(second, NOW).id == "p_2"
    store.move("p_2", Event.ASSERTED_APPLIED, NOW)
    assert store.add(second, NOW).id == "p_2"


@pytest.mark.parametrize("after", [Event.DID_NOTHING, Event.START_UNPROVEN])
def test_an_undo_that_failed_makes_room_for_another(store: Store, after: Event) -> None:
    applied(store, CALL)
    store.move(started(store, UNDO), after, NOW)
    assert store.add(replace(UNDO, id="p_3"), NOW).id == "p_3"


def test_the_file_itself_refuses_a_second_undo(store: Store) -> None:
    applied(store, CALL)
    applied(store, UNDO)
    applied(store, replace(CALL, id="p_3", arguments={"id": 2}))
    with pytest.raises(sqlite3.IntegrityError), store.tx():
        store.change("UPDATE proposal SET undoes = 'p_1' WHERE id = 'p_3'", {})


def test_a_call_and_its_undo_are_never_taken_for_each_other(store: Store) -> None:
    applied(store, CALL)
    assert store.add(UNDO, NOW).id == "p_2"
    again = replace(CALL, id="p_3")
    assert store.add(again, NOW).id == "p_1", "done a moment ago"
    store.move("p_2", Event.PLANNED, NOW, pinned=PINNED)
    store.move("p_2", Event.GRANTED, NOW, nonce="n")
    found = store.proposal("p_2")
    assert found
    until = NOW + timedelta(minutes=5)
    store.start("p_2", Started("n", PINNED.digest, found.evidence_rev, until), NOW)
    store.move("p_2", Event.SUCCEEDED, NOW)
    assert store.add(again, NOW).id == "p_3", "undone a moment ago"


def test_what_was_done_later_is_known_though_all_is_within_one_moment(store: Store) -> None:
    for id_ in ("p_b", "p_a", "p_c"):
        applied(store, replace(CALL, id=id_, key=id_))
    assert later(store, "p_b") == ["p_c", "p_a"]
    assert later(store, "p_c") == []
    applied(store, replace(UNDO, undoes="p_c"))
    assert later(store, "p_b") == ["p_a"], "what is undone is out of the way"


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"tool": "dbx.t"}, id="another-box"),
        pytest.param({"tool": "crm.t"}, id="a-box-of-another-name"),
        pytest.param({"repository": 6}, id="another-repository"),
    ],
)
def test_only_the_same_box_in_the_same_repository_comes_in_between(
    store: Store, change: dict[str, object]
) -> None:
    applied(store, CALL)
    applied(store, replace(CALL, id="p_3", key="k", **change))
    assert later(store, "p_1") == []


def test_what_another_tool_of_the_box_did_later_is_in_between_too(store: Store) -> None:
    """An undo at once reached under what people had approved by another tool of the box."""
    applied(store, CALL)
    applied(store, replace(CALL, id="p_3", key="k", tool="db.other"))
    assert later(store, "p_1") == ["p_3"]


def test_what_runs_or_ran_with_an_unknown_outcome_is_in_between_too(store: Store) -> None:
    applied(store, CALL)
    started(store, replace(CALL, id="p_3", key="k"))
    assert later(store, "p_1") == ["p_3"]
    store.move("p_3", Event.LOST, NOW)
    assert later(store, "p_1") == ["p_3"]
    store.move("p_3", Event.ASSERTED_FAILED, NOW)
    assert later(store, "p_1") == []


@pytest.mark.parametrize(
    ("plan", "verb"),
    [
        pytest.param({"tool": {"verb": "undo"}}, "undo", id="an-undo"),
        pytest.param({"tool": {"verb": "plan"}}, "apply", id="another-word"),
        pytest.param({"tool": {}, "arguments": {"verb": "undo"}}, "apply", id="in-the-arguments"),
        pytest.param({}, "apply", id="no-tool"),
    ],
)
def test_only_the_tools_identity_makes_a_plan_an_undo(plan: dict[str, object], verb: str) -> None:
    assert Order(plan, "k").verb == verb
