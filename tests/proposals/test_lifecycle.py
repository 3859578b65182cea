from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proposals.lifecycle import (
    ALIVE,
    FINAL,
    TRANSITIONS,
    Event,
    IllegalMoveError,
    State,
    after_crash,
    can,
    diagram,
    history,
    move,
)

DOCS = Path(__file__).parent.parent.parent / "docs" / "reference"
MOVES = [(s, e, t) for s, moves in TRANSITIONS.items() for e, t in moves.items()]


@st.composite
def lives(draw: st.DrawFn) -> list[tuple[State, Event, State]]:
    """A history as the moves allow it, as long as it can go on."""
    state, life = State.PLANNING, []
    for _ in range(draw(st.integers(0, 40))):
        if not TRANSITIONS[state]:
            break
        event = draw(st.sampled_from(sorted(TRANSITIONS[state])))
        life.append((state, event, move(state, event)))
        state = life[-1][2]
    return life


def starts(life: list[tuple[State, Event, State]]) -> int:
    """How often the tool may have run: a start that was proved not to have been is none."""
    events = [event for _, event, _ in life]
    return events.count(Event.START) - events.count(Event.NOT_STARTED)


@given(lives())
def test_no_life_starts_a_tool_twice(life: list[tuple[State, Event, State]]) -> None:
    assert starts(life) in {0, 1}


@given(lives())
def test_a_life_that_may_have_run_never_opens_again(
    life: list[tuple[State, Event, State]],
) -> None:
    states = [target for _, _, target in life]
    if State.UNKNOWN in states:
        assert set(states[states.index(State.UNKNOWN) :]) <= {State.UNKNOWN, *FINAL}


@given(lives())
def test_applied_means_started_once(life: list[tuple[State, Event, State]]) -> None:
    if life and life[-1][2] is State.APPLIED:
        assert starts(life) == 1


@given(lives())
def test_an_end_without_a_start_is_no_success(life: list[tuple[State, Event, State]]) -> None:
    if life and starts(life) == 0:
        assert life[-1][2] in {*ALIVE, State.ENDED}


@given(lives())
def test_history_retells_a_life(life: list[tuple[State, Event, State]]) -> None:
    end = life[-1][2] if life else State.PLANNING
    assert history(event for _, event, _ in life) is end


@given(st.lists(st.sampled_from(Event)))
def test_any_events_lead_somewhere_known_or_are_refused(events: list[Event]) -> None:
    try:
        assert history(events) in TRANSITIONS
    except IllegalMoveError as error:
        assert "cannot follow" in str(error)  # noqa: PT017


@pytest.mark.parametrize("state", [State.APPLIED, State.FAILED, State.ENDED])
@pytest.mark.parametrize("event", Event)
def test_nothing_leaves_an_end(state: State, event: Event) -> None:
    assert state in FINAL
    with pytest.raises(IllegalMoveError, match=f"{event} cannot follow {state}"):
        move(state, event)


def test_unknown_is_left_only_by_settling_it() -> None:
    assert TRANSITIONS[State.UNKNOWN] == {
        Event.SUCCEEDED: State.APPLIED,
        Event.DID_NOTHING: State.FAILED,
        Event.ASSERTED_APPLIED: State.APPLIED,
        Event.ASSERTED_FAILED: State.FAILED,
        Event.LATE_SUCCESS: State.APPLIED,
        Event.LATE_FAILURE: State.FAILED,
    }


def test_a_tool_starts_out_of_a_claim_and_nowhere_else() -> None:
    assert [m for m in MOVES if m[2] is State.STARTED] == [
        (State.CLAIMED, Event.START, State.STARTED)
    ]


def test_success_comes_only_out_of_a_start() -> None:
    assert {s for s, _, t in MOVES if t is State.APPLIED} == {State.STARTED, State.UNKNOWN}


def test_a_start_goes_back_only_when_it_is_proved_not_to_have_been() -> None:
    back = {e for s, e, t in MOVES if s is State.STARTED and t in ALIVE}
    assert back == {Event.NOT_STARTED}


def test_every_state_has_its_moves_and_can_be_reached() -> None:
    assert set(TRANSITIONS) == set(State)
    reached = {State.PLANNING}
    while more := {t for s, _, t in MOVES if s in reached} - reached:
        reached |= more
    assert reached == set(State)


def test_every_event_can_happen_somewhere() -> None:
    assert {event for _, event, _ in MOVES} == set(Event)


def test_the_states_are_alive_started_unknown_or_final() -> None:
    assert {*ALIVE, State.STARTED, State.UNKNOWN, *FINAL} == set(State)
    assert ALIVE.isdisjoint(FINAL)


@pytest.mark.parametrize("state", sorted(ALIVE))
@pytest.mark.parametrize(
    "event",
    [Event.REJECTED, Event.VOIDED, Event.EXPIRED, Event.WITHDRAWN, Event.SUPERSEDED],
)
def test_whatever_is_alive_can_be_ended(state: State, event: Event) -> None:
    assert move(state, event) is State.ENDED


@pytest.mark.parametrize("state", [State.STARTED, State.UNKNOWN])
@pytest.mark.parametrize("event", [Event.REJECTED, Event.EXPIRED, Event.GRANTED, Event.START])
def test_what_started_cannot_be_called_off_or_started_again(state: State, event: Event) -> None:
    assert not can(state, event)


@pytest.mark.parametrize(
    ("state", "found"),
    [
        pytest.param(State.PLANNING, State.ENDED, id="a plan half made is lost"),
        pytest.param(State.PINNED, None, id="publishing goes on"),
        pytest.param(State.OPEN, None, id="waiting goes on"),
        pytest.param(State.CLAIMED, State.OPEN, id="a claim is given back"),
        pytest.param(State.STARTED, State.UNKNOWN, id="a start may or may not have run"),
        pytest.param(State.UNKNOWN, None, id="unknown stays unknown"),
        pytest.param(State.APPLIED, None, id="applied"),
        pytest.param(State.FAILED, None, id="failed"),
        pytest.param(State.ENDED, None, id="ended"),
    ],
)
def test_after_a_crash(state: State, found: State | None) -> None:
    event = after_crash(state)
    assert (move(state, event) if event else None) is found


def test_losing_the_store_ends_what_waits_and_doubts_what_started() -> None:
    lost = {s: move(s, Event.STORE_LOST) for s in State if can(s, Event.STORE_LOST)}
    assert lost == {
        State.PINNED: State.ENDED,
        State.OPEN: State.ENDED,
        State.CLAIMED: State.ENDED,
        State.STARTED: State.UNKNOWN,
    }


def test_the_picture_shows_every_move_and_no_other() -> None:
    drawn = set()
    for line in diagram().splitlines():
        arrow, _, events = line.strip().partition(": ")
        source, _, target = arrow.partition(" --> ")
        drawn |= {(source, event, target) for event in events.split(", ") if events}
    assert drawn == {(str(s), str(e), str(t)) for s, e, t in MOVES}
    for state in FINAL:
        assert f"    {state} --> [*]" in diagram()


def test_the_picture_in_the_docs_is_generated(golden: Callable[..., None]) -> None:
    lead = "Every state of a proposal and every move. Generated from `proposals/lifecycle.py`;\n"
    rule = "a move that is not in the picture does not exist.\n\n"
    golden(
        f"# The life of a proposal\n\n{lead}{rule}```mermaid\n{diagram()}\n```\n",
        "lifecycle.md",
        DOCS,
    )
