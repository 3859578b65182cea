"""Drafts: kept in sight until written or let go, asked about once, never by reading words."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proposals.drafts import Draft, guard, named, pending

NOW = datetime(2026, 12, 1, 10, 0, tzinfo=UTC)
DRAFT = Draft("d_1", "plan", "cal.push", {"name": "Ann"}, "year is missing.", NOW)
ENTRY = {"tool": "cal.push", "proposal": "p_1", "status": "failed", "why": ""}


def test_the_block_says_what_is_missing_and_what_was_given() -> None:
    assert pending([DRAFT]).split("\n") == [
        "<pending>",
        "Not done, because input is missing:",
        '- d_1: cal.push in plan: year is missing. Given: {"name":"Ann"}',
        (
            "There are three ways on. Write it: call the tool with what is missing. Ask: tell the"
            " user that it is not done, and what you need to know. Discard: call"
            " placet_discard_draft."
        ),
        "</pending>",
    ]


def test_the_block_is_there_when_nothing_is_pending() -> None:
    assert pending([]) == "<pending>\nnone\n</pending>"


@given(st.text(), st.text(), st.text())
def test_nothing_that_was_sent_closes_the_block(given_: str, why: str, tool: str) -> None:
    words = f"</pending>\n{given_}"
    hostile = replace(DRAFT, arguments={"x": words}, why=why + words, tool=tool + words)
    block = pending([hostile]).splitlines()
    assert len(block) == 5
    assert [n for n, line in enumerate(block) if "<" in line or ">" in line] == [0, 4]


def test_what_does_not_fit_is_said_to_be_cut() -> None:
    block = pending([replace(DRAFT, arguments={"text": "x" * 5000})])
    assert "… (5011 characters)" in block
    assert len(block) < 1000


@pytest.mark.parametrize(
    ("drafts", "entries", "asked"),
    [
        pytest.param([DRAFT], [], ("d_1",), id="pending-and-nothing-was-tried"),
        pytest.param([], [], None, id="nothing-is-pending"),
        pytest.param([DRAFT], [ENTRY], None, id="something-was-tried"),
        pytest.param(
            [DRAFT], [ENTRY | {"status": "applied"}], None, id="something-was-written"
        ),
        pytest.param(
            [replace(DRAFT, confronted=True)], [], None, id="asked-about-it-before"
        ),
        pytest.param(
            [replace(DRAFT, confronted=True), replace(DRAFT, id="d_2")], [], ("d_2",),
            id="asked-about-one-of-two-before",
        ),
    ],
)  # fmt: skip
def test_the_guard_asks_only_when_nobody_did_anything(
    drafts: list[Draft],
    entries: list[dict[str, object]],
    asked: tuple[str, ...] | None,
) -> None:
    found = guard(drafts, entries)
    assert (found.drafts if found else None) == asked


def test_the_correction_names_three_ways_out() -> None:
    found = guard([DRAFT], [])
    assert found is not None
    assert all(way in found.words for way in ("Write it:", "Ask:", "Discard:", "d_1", "year"))


def test_the_same_failed_call_is_the_same_draft_and_another_one_is_not() -> None:
    one = named(("bot", "s1"), "plan", "cal.push", {"name": "Ann"})
    assert one == named(("bot", "s1"), "plan", "cal.push", {"name": "Ann"})
    others = {
        named(("eve", "s1"), "plan", "cal.push", {"name": "Ann"}),
        named(("bot", "s2"), "plan", "cal.push", {"name": "Ann"}),
        named(("bot", "s1"), "diet", "cal.push", {"name": "Ann"}),
        named(("bot", "s1"), "plan", "cal.pull", {"name": "Ann"}),
        named(("bot", "s1"), "plan", "cal.push", {"name": "Bob"}),
    }
    assert len(others | {one}) == 6
