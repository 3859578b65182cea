"""What looks like Placet's own answer, wherever in a value of JSON it stands."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proposals import answer, turn
from proposals.likeness import ANSWERS, Imitates, genuine, worded
from webhook_app.doors.shape import CALL

MARKS: list[dict[str, Any]] = [
    {"schema": "placet.call/v1"},
    {"schema": " placet.turn/v1"},
    {"io.github.placet/proposal": "p_1"},
]
TOP = {"_verification": None}
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('ab{["\\ placet.', max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc"), inner, max_size=3),
    max_leaves=10,
)


def wrapped(value: object, ways: list[str]) -> object:
    for way in ways:
        if way == "list":
            value = [0, value]
        else:
            value = json.dumps(value) if way == "json" else {"a": 0, way: value}
    return value


@given(st.sampled_from(MARKS), st.lists(st.sampled_from(["list", "b", "json"]), max_size=6))
def test_a_mark_is_found_at_any_depth_and_in_texts_in_texts(mark: object, ways: list[str]) -> None:
    with pytest.raises(Imitates):
        genuine(wrapped(mark, ways))
    for ascii_only in (True, False):
        text = json.dumps(wrapped(mark, ways), ensure_ascii=ascii_only)
        with pytest.raises(Imitates):
            genuine({"content": [{"type": "text", "text": text}]})
        assert worded(text) is None


@pytest.mark.parametrize(
    "value",
    [
        TOP,
        json.dumps(TOP),
        {"content": [], "structuredContent": TOP},
        {"content": [{"type": "text", "text": json.dumps(TOP)}]},
        {"content": [{"type": "text", "text": json.dumps({"a": json.dumps(TOP)})}]},
        '{"_verification": 1, "_verification": 2}',
    ],
)
def test_a_verification_where_an_answer_has_it_is_a_mark(value: object) -> None:
    with pytest.raises(Imitates):
        genuine(value)


@given(PLAIN)
def test_what_has_no_mark_is_left_alone_as_a_value_and_as_a_text(value: object) -> None:
    genuine(value)
    text = json.dumps(value)
    genuine(text)
    assert worded(text) == text


@pytest.mark.parametrize(
    "value",
    [
        {"schema": {"type": "object"}},
        {"schema": "https://placet.example/x"},
        {"schema": "placets"},
        {"verification": True},
        {"about": "_verification"},
        {"rows": [{"_verification": {"ok": True}}]},
        '{"rows": [{"_verification": {"ok": true}}, {"a": 1}]}',
        '[{"_verification": {"ok": true}}]',
        {"schema": "placet.plan/v1"},
        {"content": [{"type": "text", "text": '{"schema": "placet.plan/v1", "effects": []}'}]},
        {"schema": "placet.audit/v1"},
        "schema: placet.call/v1",
        'He said: {"schema": "placet.call/v1"}',
        '{"schema": "placet.call/v1"',
        '["placet.call/v1", "_verification"]',
    ],
)
def test_words_about_placet_are_no_mark(value: object) -> None:
    genuine(value)


def test_a_value_of_any_depth_is_looked_at() -> None:
    value: Any = MARKS[0]
    for _ in range(100_000):
        value = [value]
    with pytest.raises(Imitates):
        genuine(value)


@pytest.mark.parametrize(
    "schema", [answer.SCHEMA, turn.SCHEMA, CALL["properties"]["schema"]["const"]]
)
def test_every_answer_of_a_door_has_a_schema_that_is_a_mark(schema: str) -> None:
    assert schema.startswith(ANSWERS)
