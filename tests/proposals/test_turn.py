"""The report of a turn: constant in shape, made of facts, and no text of others begins a line."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proposals.answer import answer
from proposals.lifecycle import State
from proposals.plan import Proposal
from proposals.turn import MOST, RULE, Scope, Stood, Turn, report, text

NOW = datetime(2026, 12, 1, 10, 0, tzinfo=UTC)
TURN = Turn("t_9", Scope("bot", "s1"), NOW)
PROPOSAL = Proposal(
    id="p_1",
    agent="bot",
    tool="fs.write_file",
    arguments={},
    state=State.OPEN,
    repository=5,
    identities=frozenset({11}),
    created=NOW,
    expires=NOW + timedelta(hours=4),
    salt="00",
)
LATER = NOW + timedelta(minutes=1)


def stood(state: State, why: str = "", ended: datetime | None = LATER, **more: Any) -> Stood:
    return Stood(answer(replace(PROPOSAL, state=state, why=why, **more)), ended)


def alone(status: str, why: str = "", tool: str = "fs.write_file") -> Stood:
    told = {"tool": tool, "proposal": None, "status": status, "error": {"message": why}}
    return Stood(told | {"_verification": {"verdict": "none"}}, LATER)


def lines(*calls: Stood) -> list[str]:
    return text(report(TURN, calls, [], [])).split("\n")


def test_nothing_has_the_same_shape_as_something() -> None:
    nothing = report(TURN, [], [], [])
    something = report(TURN, [stood(State.OPEN)], [stood(State.APPLIED)], [{}])
    assert list(nothing) == list(something)
    assert {k: type(v) for k, v in nothing.items()} == {k: type(v) for k, v in something.items()}
    assert nothing == {
        "schema": "placet.turn/v1",
        "turn": "t_9",
        "scope": "session",
        "since": "2026-12-01T10:00:00Z",
        "changes_this_turn": 0,
        "entries": [],
        "ended_since_last": [],
        "pending_drafts": [],
        "rule": RULE,
    }
    assert text(nothing).split("\n") == [
        "Changes this turn (0 applied): none",
        "Ended since the last turn: none",
        "Drafts that still lack input: none",
        RULE,
    ]


VERIFIED: dict[str, Any] = {"basis": "verified", "checks": []}


@pytest.mark.parametrize(
    ("call", "line"),
    [
        pytest.param(
            stood(State.APPLIED, outcome=VERIFIED), "- fs.write_file (p_1): applied", id="applied"
        ),
        pytest.param(
            stood(State.APPLIED, outcome={"basis": "unverified"}),
            "- fs.write_file (p_1): applied (the tool said so, not read back)",
            id="applied-but-not-read-back",
        ),
        pytest.param(
            stood(State.APPLIED, outcome={"basis": "asserted"}),
            "- fs.write_file (p_1): applied (a person said so, not read back)",
            id="applied-as-a-person-says",
        ),
        pytest.param(
            stood(State.APPLIED, ended=NOW - timedelta(seconds=1), outcome=VERIFIED),
            "- fs.write_file (p_1): applied (done before this turn, not done again)",
            id="applied-before-this-turn",
        ),
        pytest.param(
            replace(stood(State.APPLIED, outcome=VERIFIED), note="undone since by p_2"),
            "- fs.write_file (p_1): applied (undone since by p_2)",
            id="applied-and-undone",
        ),
        pytest.param(
            stood(State.FAILED, "full"), "- fs.write_file (p_1): FAILED: full", id="failed"
        ),
        pytest.param(
            stood(State.FAILED), "- fs.write_file (p_1): FAILED: failed", id="failed-without-a-word"
        ),
        pytest.param(
            stood(State.UNKNOWN, "no answer in 60 s"),
            "- fs.write_file (p_1): OUTCOME UNKNOWN: no answer in 60 s",
            id="unknown",
        ),
        pytest.param(
            stood(State.STARTED), "- fs.write_file (p_1): OUTCOME UNKNOWN: no reason was given",
            id="started-and-not-heard-of",
        ),
        pytest.param(
            stood(State.OPEN), "- fs.write_file (p_1): awaiting approval", id="awaiting-approval"
        ),
        pytest.param(
            stood(State.PINNED), "- fs.write_file (p_1): awaiting approval", id="about-to-be-asked"
        ),
        pytest.param(
            stood(State.ENDED, "Rejected by @lee."),
            "- fs.write_file (p_1): NOT DONE: Rejected by @lee.",
            id="rejected",
        ),
        pytest.param(
            alone("denied", "No tool is declared."),
            "- fs.write_file: DENIED: No tool is declared.",
            id="denied",
        ),
        pytest.param(
            alone("draft", "year is missing"),
            "- fs.write_file: NOT DONE, input is missing: year is missing",
            id="draft",
        ),
        pytest.param(
            alone("brand new", "?"), "- fs.write_file: OUTCOME UNKNOWN: ?", id="a-status-of-later"
        ),
    ],
)  # fmt: skip
def test_each_entry_says_what_became_of_the_call(call: Stood, line: str) -> None:
    assert lines(call)[1] == line


def test_only_what_was_applied_in_this_turn_is_counted() -> None:
    calls = [
        stood(State.APPLIED, id="p_1"),
        stood(State.APPLIED, id="p_2", ended=NOW - timedelta(seconds=1)),
        stood(State.FAILED, id="p_3"),
        stood(State.UNKNOWN, id="p_4"),
        stood(State.OPEN, id="p_5"),
    ]
    told = report(TURN, calls, [stood(State.APPLIED, id="p_0")], [])
    assert told["changes_this_turn"] == 1
    assert [e["proposal"] for e in told["entries"]] == ["p_1", "p_2", "p_3", "p_4", "p_5"]


def test_the_text_has_the_lines_of_the_report_in_its_order() -> None:
    draft = {"draft": "d_1", "section": "plan", "tool": "fs.write_file", "why": "year is missing"}
    told = report(TURN, [stood(State.OPEN)], [stood(State.ENDED, "expired", id="p_0")], [draft])
    assert text(told).split("\n") == [
        "Changes this turn (0 applied):",
        "- fs.write_file (p_1): awaiting approval",
        "Ended since the last turn:",
        "- fs.write_file (p_0): NOT DONE: expired",
        "Drafts that still lack input:",
        "- plan (d_1): fs.write_file: year is missing",
        RULE,
    ]


@given(st.text(), st.text())
def test_no_text_of_others_begins_a_line(why: str, tool: str) -> None:
    told = report(
        TURN,
        [stood(State.FAILED, why), alone("denied", why, tool)],
        [stood(State.FAILED, why)],
        [{"draft": "d_1", "section": "s", "tool": tool, "why": why}],
    )
    found = text(told).splitlines()
    assert len(found) == 8
    assert [line.split(":")[0] for line in found if not line.startswith("- ")] == [
        "Changes this turn (0 applied)",
        "Ended since the last turn",
        "Drafts that still lack input",
        RULE,
    ]
    assert all(len(line) < 500 for line in found)
    assert all(e["why"].isprintable() for e in told["entries"])


def test_a_made_up_name_looks_like_no_outcome() -> None:
    [line] = [x for x in lines(alone("denied", "no", "fs.x (p_1): applied\n- y")) if "DENIED" in x]
    assert line == "- fs.x??p_1???applied?-?y: DENIED: no"


def test_a_long_turn_says_how_much_is_not_listed() -> None:
    calls = [stood(State.OPEN, id=f"p_{n}") for n in range(MOST + 20)]
    entries = report(TURN, calls, [], [])["entries"]
    assert len(entries) == MOST
    assert entries[0]["status"] == "omitted"
    assert entries[0]["why"].startswith("21 earlier ones")
    assert entries[-1]["proposal"] == f"p_{MOST + 19}"


def test_a_report_is_json() -> None:
    told = report(replace(TURN, id=None, scope=Scope("bot")), [stood(State.OPEN)], [], [])
    assert json.loads(json.dumps(told)) == told
    assert (told["turn"], told["scope"]) == (None, "agent")
