"""Every state a proposal can be in, and every move between them.

Rule: a move that is not in TRANSITIONS does not exist. No other module assigns a state.
"""

from collections.abc import Iterable
from enum import StrEnum


class State(StrEnum):
    """Where a proposal stands; the last four are ends, and of these only UNKNOWN may change."""

    PLANNING = "planning"
    PINNED = "pinned"
    OPEN = "open"
    CLAIMED = "claimed"
    STARTED = "started"
    UNKNOWN = "unknown"
    APPLIED = "applied"
    FAILED = "failed"
    ENDED = "ended"


class Event(StrEnum):
    """What can happen to a proposal."""

    PLANNED = "planned"
    PLAN_FAILED = "plan_failed"
    PUBLISHED = "published"
    GRANTED = "granted"
    RELEASED = "released"
    DRIFTED = "drifted"
    START = "start"
    NOT_STARTED = "not_started"
    START_UNPROVEN = "start_unproven"
    REJECTED = "rejected"
    VOIDED = "voided"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"
    SUCCEEDED = "succeeded"
    DID_NOTHING = "did_nothing"
    LOST = "lost"
    ASSERTED_APPLIED = "asserted_applied"
    ASSERTED_FAILED = "asserted_failed"
    LATE_SUCCESS = "late_success"
    LATE_FAILURE = "late_failure"
    CRASH = "crash"
    STORE_LOST = "store_lost"


class IllegalMoveError(Exception):
    """The event cannot happen in this state."""


_ENDING = dict.fromkeys(
    (Event.REJECTED, Event.VOIDED, Event.EXPIRED, Event.WITHDRAWN, Event.SUPERSEDED), State.ENDED
)

TRANSITIONS: dict[State, dict[Event, State]] = {
    State.PLANNING: {
        Event.PLANNED: State.PINNED,
        Event.PLAN_FAILED: State.ENDED,
        Event.CRASH: State.ENDED,
        **_ENDING,
    },
    State.PINNED: {
        Event.PUBLISHED: State.OPEN,
        Event.GRANTED: State.CLAIMED,
        Event.STORE_LOST: State.ENDED,
        **_ENDING,
    },
    State.OPEN: {Event.GRANTED: State.CLAIMED, Event.STORE_LOST: State.ENDED, **_ENDING},
    State.CLAIMED: {
        Event.RELEASED: State.OPEN,
        Event.CRASH: State.OPEN,
        Event.DRIFTED: State.ENDED,
        Event.START: State.STARTED,
        Event.STORE_LOST: State.ENDED,
        **_ENDING,
    },
    State.STARTED: {
        Event.SUCCEEDED: State.APPLIED,
        Event.DID_NOTHING: State.FAILED,
        Event.LOST: State.UNKNOWN,
        Event.CRASH: State.UNKNOWN,
        Event.STORE_LOST: State.UNKNOWN,
        Event.NOT_STARTED: State.OPEN,
        Event.START_UNPROVEN: State.FAILED,
    },
    # Only reading the world back or a person settles an unknown outcome; running again never does.
    State.UNKNOWN: {
        Event.SUCCEEDED: State.APPLIED,
        Event.DID_NOTHING: State.FAILED,
        Event.ASSERTED_APPLIED: State.APPLIED,
        Event.ASSERTED_FAILED: State.FAILED,
        Event.LATE_SUCCESS: State.APPLIED,
        Event.LATE_FAILURE: State.FAILED,
    },
    State.APPLIED: {},
    State.FAILED: {},
    State.ENDED: {},
}

ALIVE = frozenset({State.PLANNING, State.PINNED, State.OPEN, State.CLAIMED})
FINAL = frozenset({State.APPLIED, State.FAILED, State.ENDED})


def move(state: State, event: Event) -> State:
    """Where an event leads, or IllegalMoveError."""
    try:
        return TRANSITIONS[state][event]
    except KeyError:
        raise IllegalMoveError(f"{event} cannot follow {state}") from None


def can(state: State, event: Event) -> bool:
    """Whether the move exists."""
    return event in TRANSITIONS[state]


def history(events: Iterable[Event]) -> State:
    """Where a list of events leads from the first state, for proofs; IllegalMoveError as `move`."""
    state = State.PLANNING
    for event in events:
        state = move(state, event)
    return state


def after_crash(state: State) -> Event | None:
    """What a restart must record for a proposal found in this state; None: nothing is lost."""
    return Event.CRASH if can(state, Event.CRASH) else None


def diagram() -> str:
    """The table as a Mermaid state diagram, for the docs; parallel moves share an arrow."""
    arrows: dict[tuple[State, State], list[str]] = {}
    for source, moves in TRANSITIONS.items():
        for event, target in moves.items():
            arrows.setdefault((source, target), []).append(event.value)
    lines = [f"    {s} --> {t}: {', '.join(e)}" for (s, t), e in arrows.items()]
    ends = [f"    {s} --> [*]" for s in State if s in FINAL]
    return "\n".join(["stateDiagram-v2", "    [*] --> planning", *lines, *ends])
