"""What looks like Placet's own answer, wherever in a value of JSON it stands."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proposals.likeness import Imitates, genuine, worded

MARKS: list[dict[str, Any]] = [
    {"schema": "placet.call/v1"},
    {"schema": " placet.turn/v1"},
    {"_verification": None},
    {"io.github.placet/proposal": "p_1"},
]
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('ab{["\\ placet.', max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc"), inner, max_size=3),
    max_leaves=10,
)


def wrapped(value: object, ways: list[str]) -> object:
    for way in ways:
        value = [0, value] if way == "list" else {"a": 0, way: value}
    return value


@given(st.sampled_from(MARKS), st.lists(st.sampled_from(["list", "b", "text"]), max_size=5))
def test_a_mark_is_found_at_any_depth_and_in_a_text(mark: object, ways: list[str]) -> None:
    with pytest.raises(Imitates):
        genuine(wrapped(mark, ways))
    for ascii_only in (True, False):
        text = json.dumps(wrapped(mark, ways), ensure_ascii=ascii_only)
        with pytest.raises(Imitates):
            genuine({"content": [{"type": "text", "text": text}]})
        assert worded(text) is None


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
