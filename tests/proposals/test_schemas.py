"""Schemas are an upstream's, arguments an agent's: no pair of them fetches, reads or goes on."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from proposals.canonical import JSON
from proposals.tools.arguments import DIALECT, MOST_VALUES, BadArguments, closed, fitting
from proposals.tools.bounded import faults

FAR = {"$ref": "http://169.254.169.254/latest"}
FILE = {"$ref": "file:///etc/passwd"}
HIDDEN: dict[str, Any] = {"properties": {"a": {"$ref": "#/x/y"}}}


def doubled(levels: int) -> dict[str, Any]:
    """A schema of a few lines that looks at one value twice as often on each level."""
    defs: dict[str, Any] = {
        f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(levels)
    }
    defs[f"a{levels}"] = {"type": "string"}
    return {"properties": {"a": {"$ref": "#/$defs/a0"}}, "$defs": defs}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        pytest.param({"unevaluatedProperties": FAR}, "stay inside", id="of-other-properties"),
        pytest.param(
            {"properties": {"a": {"unevaluatedItems": FAR}}}, "stay inside", id="of-other-items"
        ),
        pytest.param({**HIDDEN, "x": {"y": FAR}}, "stay inside", id="behind-a-reference"),
        pytest.param({**HIDDEN, "x": {"y": FILE}}, "stay inside", id="a-file"),
        pytest.param(
            {**HIDDEN, "x": {"y": {"items": {"$ref": "#/z"}}}, "z": FAR},
            "stay inside",
            id="behind-two-references",
        ),
        pytest.param(
            {"properties": {"a": {"$ref": "#/x/%79"}}, "x": {"%79": {}, "y": FAR}},
            "stay inside",
            id="behind-an-encoded-reference",
        ),
        pytest.param({**HIDDEN, "x": {"y": {"$id": "http://a/"}}}, r"\$id", id="another-address"),
        pytest.param({**HIDDEN, "x": {"y": {"type": 5}}}, "type", id="malformed"),
        pytest.param({**HIDDEN, "x": {"y": ["no"]}}, "object", id="no-schema-at-all"),
        pytest.param(
            {"properties": {"a": {"$schema": "http://json-schema.org/draft-07/schema#"}}},
            "2020-12",
            id="another-draft-inside",
        ),
        pytest.param(
            {"patternProperties": {"^a": {}}, "unevaluatedProperties": False},
            "together",
            id="a-search-that-is-not-ours",
        ),
        pytest.param({"properties": {"a": {"pattern": "a" * 3_000}}}, "2000", id="a-long-pattern"),
        pytest.param({"patternProperties": {r"(?P<n>a)(?P=n)": {}}}, "pattern", id="pythons-own"),
    ],
)
def test_a_schema_that_leads_out_or_cannot_be_held_to_is_refused(
    schema: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        closed(schema)


def test_what_only_a_reference_leads_to_is_closed_like_the_rest() -> None:
    shapes = {"A": {"type": "object", "properties": {"k": {"type": "string"}}}}
    schema = closed({"properties": {"a": {"$ref": "#/components/A"}}, "components": shapes})
    assert fitting(schema, {"a": {"k": "v"}}) == {"a": {"k": "v"}}
    with pytest.raises(BadArguments) as caught:
        fitting(schema, {"a": {"k": "v", "more": 1}})
    assert (caught.value.code, caught.value.pointer) == ("unknown_argument", "/a/more")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the library's, when it would read
def test_even_a_reference_that_got_through_fetches_and_reads_nothing(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"type": "integer"}')
    with pytest.raises(BadArguments, match="operator must mend"):
        fitting({"properties": {"a": {"$ref": (tmp_path / "s.json").as_uri()}}}, {"a": 1})


def test_a_schema_that_names_its_draft_inside_is_held_to_like_any_other() -> None:
    for path in ("properties", "patternProperties"):
        schema = closed(
            {path: {"a": {"$schema": DIALECT, "pattern": r"^\d+$"}}, "$schema": DIALECT}
        )
        assert faults(schema, {"a": "12\n"})
        assert not faults(schema, {"a": "12"})


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        pytest.param(doubled(60), "x", id="a-schema-that-doubles"),
        pytest.param(
            {"properties": {"a": {"items": {"type": "string"}}}},
            ["x"] * (MOST_VALUES - 2),
            id="many-that-fit",
        ),
        pytest.param(
            {"properties": {"a": {"anyOf": [{"items": {"type": "string"}}] * 50}}},
            [1] * 20_000,
            id="many-that-fit-nowhere",
        ),
        pytest.param(
            {"properties": {"a": {"anyOf": [{"type": "string"}] * 200}}},
            ["x" * 50] * 10_000,
            id="long-words-about-each-fault",
        ),
        pytest.param(
            {
                "properties": {"a": {"allOf": [{"$ref": "#/$defs/one"}] * 3}},
                "$defs": {"one": {"enum": [[1] * 9_000 + [n] for n in range(50)]}},
            },
            [1] * 9_001,
            id="long-comparisons",
        ),
        pytest.param(
            {"properties": {"a": {"allOf": [{"uniqueItems": True}] * 10}}},
            [f"{n:200}" for n in range(2_000)],
            id="long-items-that-must-differ",
        ),
        pytest.param(
            {"properties": {"a": {"pattern": r"^(?=a)(a|b|ab)*(?=c)d$"}}},
            "ab" * 30 + "cb",
            id="a-pattern-that-tries-everything",
        ),
        pytest.param(
            {"properties": {"a": {"not": {"pattern": r"^(?=a)(a|b|ab)*(?=c)d$"}}}},
            "ab" * 30 + "cb",
            id="what-is-not-seen-to-the-end-is-no-no",
        ),
        pytest.param(
            {"properties": {"a": {"patternProperties": {f"{n}$": {} for n in range(200)}}}},
            {f"k{n}": n for n in range(2_000)},
            id="many-names-and-patterns",
        ),
    ],
)
def test_what_takes_too_long_to_see_is_refused(schema: dict[str, Any], value: Any) -> None:
    with pytest.raises(BadArguments, match=r"too (much|long)") as caught:
        fitting(closed(schema), {"a": value})
    assert (caught.value.code, caught.value.hint) == ("bad_arguments", "Send less at once.")


def test_too_many_values_are_refused_before_they_are_looked_at() -> None:
    anything = closed({"properties": {"a": {}}})
    with pytest.raises(BadArguments, match="values") as caught:
        fitting(anything, {"a": [[0] * 1_000] * (MOST_VALUES // 1_000)})
    assert caught.value.code == "too_large"
    assert fitting(anything, {"a": [0] * (MOST_VALUES - 2)})
    around: list[Any] = []
    around.append(around)
    with pytest.raises(BadArguments):
        fitting(anything, {"a": around})


def test_of_many_faults_a_few_are_looked_for() -> None:
    schema = closed({"properties": {"a": {"items": {"type": "string"}}}})
    assert 0 < len(faults(schema, {"a": [1] * 5_000})) < 20


def test_a_call_of_ordinary_size_is_seen_to_the_end() -> None:
    row = {"type": "object", "properties": {k: {"type": "string"} for k in "abcdefghij"}}
    schema = closed(
        {
            "properties": {"rows": {"type": "array", "items": {"$ref": "#/$defs/row"}}},
            "$defs": {"row": row},
        }
    )
    rows = [dict.fromkeys("abcdefghij", "value")] * 1_000
    assert fitting(schema, {"rows": rows}) == {"rows": rows}


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        pytest.param("^(a+)+$", "a" * 200 + "!", False, id="a-repeated-repeat"),
        pytest.param(r"\s+$", " " * 500_000 + "x", False, id="a-long-text"),
        pytest.param("^[a-z0-9]+(-[a-z0-9]+)*$", "a-b-c", True, id="a-name"),
        pytest.param(r"^\d+$", "12\n", False, id="the-end-is-the-end"),
        pytest.param(r"^\d+$", "\u0663", False, id="digits-are-ascii"),
        pytest.param(r"^(?!.*\.\.)\S+@\S+$", "a@b.c", True, id="one-that-looks-ahead"),
        pytest.param(r"^(?!.*\.\.)\S+@\S+$", "a@b..c", False, id="and-sees-it"),
    ],
)
def test_a_pattern_is_read_as_json_schema_says(pattern: str, text: str, *, fits: bool) -> None:
    schema = closed({"properties": {"a": {"pattern": pattern}}})
    assert (not faults(schema, {"a": text})) is fits


small = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["a", "ab", "b"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYWORDS: dict[str, Any] = {
    "uniqueItems": True,
    "patternProperties": {"^a": {"type": "integer"}, "b$": {"minimum": 0}},
    "properties": {"a": {"type": "integer"}},
    "additionalProperties": {"type": "array", "uniqueItems": True},
    "pattern": "^a",
    "enum": ["a", [1], {"a": 1}, 0],
}


@given(
    value=small, names=st.sets(st.sampled_from(sorted(KEYWORDS)), min_size=1), shut=st.booleans()
)
def test_what_is_bounded_says_what_the_library_says(
    value: JSON, names: set[str], *, shut: bool
) -> None:
    said = {name: KEYWORDS[name] for name in sorted(names)}
    if shut and "additionalProperties" in said:
        said["additionalProperties"] = False
    schema = {"properties": {"v": said}}
    ours = {tuple(fault.absolute_path) for fault in faults(schema, {"v": value})}
    theirs = Draft202012Validator(schema).iter_errors({"v": value})
    assert ours == {tuple(fault.absolute_path) for fault in theirs}
