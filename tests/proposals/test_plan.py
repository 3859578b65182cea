from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proposals.canonical import JSON, MISSING, NotCanonical, canonical, digest
from proposals.changes import Change
from proposals.lifecycle import State
from proposals.plan import SCHEMA, Pinned, Place, Planned, Proposal, difference, drifted, pin

TOOL: dict[str, JSON] = {
    "name": "billing.refund",
    "kind": "command",
    "effect": "write",
    "definition": "sha256:" + "d" * 64,
}
ARGUMENTS: JSON = {"invoice": "in_1", "cents": 1250}
PLANNED = Planned(
    effects=[{"what": "invoice in_1", "before": "paid", "after": "refunded"}],
    preview={"text": "refund 12.50 EUR", "at": "2026-12-01T09:00:00Z"},
    preconditions={"invoice": "etag-7", "exists": True},
    cost={"amount": 1250, "unit": "EUR cent"},
    warnings=["cannot be undone", "rate 1.1"],
)
NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)


def pinned(arguments: JSON = ARGUMENTS, **change: Any) -> Pinned:
    return pin(TOOL, arguments, replace(PLANNED, **change))


PLAN = pinned()
json_ = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)  # fmt: skip


def test_a_plan_holds_what_was_planned_and_nothing_of_the_asking() -> None:
    assert PLAN.plan == {
        "schema": SCHEMA,
        "tool": TOOL,
        "arguments": ARGUMENTS,
        "effects": PLANNED.effects,
        "preview": PLANNED.preview,
        "preconditions": PLANNED.preconditions,
        "cost": PLANNED.cost,
        "warnings": PLANNED.warnings,
    }
    assert PLAN.digest == digest(PLAN.plan)
    assert PLAN.volatile == {}


@given(json_, json_)
def test_the_same_world_gives_the_same_bytes(arguments: JSON, preview: JSON) -> None:
    one, other = pinned(arguments, preview=preview), pinned(arguments, preview=preview)
    assert canonical(one.plan) == canonical(other.plan)
    assert not drifted(one, other)
    assert difference(one, other) == []


@given(json_, json_)
def test_two_plans_drift_if_and_only_if_they_differ(before: JSON, after: JSON) -> None:
    one, other = pinned(preview=before), pinned(preview=after)
    assert drifted(one, other) == bool(difference(one, other))


@given(st.permutations(list(TOOL)))
def test_the_order_of_keys_is_no_difference(order: list[str]) -> None:
    assert pin({key: TOOL[key] for key in order}, ARGUMENTS, PLANNED).digest == PLAN.digest


def test_a_pinned_plan_does_not_change_with_what_it_was_made_of() -> None:
    arguments: dict[str, JSON] = {"list": [1]}
    planned = replace(PLANNED, preconditions={"seen": [1]})
    made = pin(TOOL, arguments, planned)
    arguments["list"] = [2]
    planned.preconditions["seen"] = [2]
    assert made.plan["arguments"] == {"list": [1]}
    assert made.plan["preconditions"] == {"seen": [1]}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (True, 1),
        (False, 0),
        ("1", 1),
        (None, ""),
        ([], {}),
        pytest.param("\u00e9", "e\u0301", id="two-spellings-of-one-letter"),
    ],
)
def test_what_python_or_a_reader_takes_for_equal_is_drift(before: JSON, after: JSON) -> None:
    one, other = pinned(preconditions={"a": before}), pinned(preconditions={"a": after})
    assert drifted(one, other)
    assert difference(one, other) == [Change("/preconditions/a", before, after)]


@pytest.mark.parametrize(("before", "after"), [(1, 1.0), (0, -0.0), (100, 1e2)])
def test_two_ways_of_writing_one_number_are_no_drift(before: JSON, after: JSON) -> None:
    assert not drifted(pinned(preview=before), pinned(preview=after))


@pytest.mark.parametrize(
    ("other", "changes"),
    [
        pytest.param(
            pinned(preconditions={"invoice": "etag-8", "exists": True}),
            [Change("/preconditions/invoice", "etag-7", "etag-8")],
            id="a-precondition",
        ),
        pytest.param(
            pinned(warnings=["cannot be undone"]),
            [Change("/warnings/1", "rate 1.1", MISSING)],
            id="a-warning-less",
        ),
        pytest.param(
            pinned({"invoice": "in_1", "cents": 9999, "force": True}),
            [
                Change("/arguments/cents", 1250, 9999),
                Change("/arguments/force", MISSING, after=True),
            ],
            id="arguments",
        ),
        pytest.param(
            pin(TOOL | {"definition": "sha256:" + "e" * 64}, ARGUMENTS, PLANNED),
            [Change("/tool/definition", TOOL["definition"], "sha256:" + "e" * 64)],
            id="the-tool-itself",
        ),
        pytest.param(pinned(cost=None), [Change("/cost", PLANNED.cost, None)], id="the-cost"),
    ],
)
def test_a_difference_names_its_path(other: Pinned, changes: list[Change]) -> None:
    assert drifted(PLAN, other)
    assert difference(PLAN, other) == changes


def test_volatile_values_are_kept_beside_the_plan_and_change_nothing() -> None:
    later = replace(PLANNED, preview={"text": "refund 12.50 EUR", "at": "2026-12-01T10:00:00Z"})
    one = pin(TOOL, ARGUMENTS, PLANNED, ["/preview/at"])
    other = pin(TOOL, ARGUMENTS, later, ["/preview/at"])
    assert one.volatile == {"/preview/at": "2026-12-01T09:00:00Z"}
    assert other.volatile == {"/preview/at": "2026-12-01T10:00:00Z"}
    assert one.plan == other.plan
    assert not drifted(one, other)
    assert one.digest != PLAN.digest


@given(json_, json_)
def test_a_volatile_preview_hides_nothing_else(preview: JSON, precondition: JSON) -> None:
    planned = replace(PLANNED, preview=preview, preconditions={"seen": precondition})
    made = pin(TOOL, ARGUMENTS, planned, ["/preview", "/warnings/1"])
    assert {*made.plan} == {*PLAN.plan} - {"preview"}
    assert made.plan["preconditions"] == {"seen": precondition}
    assert made.plan["warnings"] == ["cannot be undone"]


@pytest.mark.parametrize("pointer", ["/preview", "/preview/at", "/preview/", "/warnings/0"])
def test_what_may_be_volatile(pointer: str) -> None:
    assert pin(TOOL, ARGUMENTS, PLANNED, [pointer]).plan["effects"] == PLANNED.effects


@pytest.mark.parametrize(
    "pointer",
    [
        *("", "/", "/effects", "/arguments", "/preconditions/invoice", "/cost", "/tool/definition"),
        *("/schema", "/previews", "/preview~1at", "preview", "preview/at", "/Preview", "//preview"),
        *("/effects/0/preview", "/ preview", "/preview\n"),
    ],
)
def test_nothing_else_may_be_volatile(pointer: str) -> None:
    with pytest.raises(ValueError, match="cannot be volatile"):
        pin(TOOL, ARGUMENTS, PLANNED, [pointer])


@pytest.mark.parametrize(
    "value", [float("nan"), 2**53, "\ud800", (1,), b"x", NOW, {1: 2}], ids=lambda v: ascii(v)[:12]
)
def test_what_is_no_plain_json_is_pinned_nowhere(value: object) -> None:
    for change in (
        {"preview": value},
        {"preconditions": {"a": value}},
        {"effects": [{"a": value}]},
    ):
        with pytest.raises(NotCanonical):
            pinned(**change)


PROPOSAL = Proposal(
    id="p1",
    agent="helper",
    tool="billing.refund",
    arguments=ARGUMENTS,
    state=State.PLANNING,
    repository=7,
    identities=frozenset({80}),
    created=NOW,
    expires=NOW + timedelta(hours=4),
    salt="00",
)


def test_a_proposal_has_a_plan_and_a_place_only_when_it_has_them() -> None:
    place = Place("placet/p/p1", "placet/ledger", "c0ffee1", 5, "https://github.test/5", 9, NOW)
    with pytest.raises(LookupError, match="p1 has no plan yet"):
        _ = PROPOSAL.plan
    with pytest.raises(LookupError, match="p1 is not published yet"):
        _ = PROPOSAL.at
    assert replace(PROPOSAL, pinned=PLAN).plan is PLAN
    assert replace(PROPOSAL, place=place).at is place


def test_a_volatile_value_must_be_json_too() -> None:
    with pytest.raises(NotCanonical):
        pin(TOOL, {}, Planned(preview={"at": float("nan")}), ["/preview/at"])
