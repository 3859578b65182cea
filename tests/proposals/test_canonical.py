import json
import os
import struct
import subprocess
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from proposals.canonical import (
    JSON,
    MAX_SAFE,
    MAX_VALUE,
    MISSING,
    BadPointer,
    NotCanonical,
    canonical,
    check,
    digest,
    loads,
    pointer_get,
    pointer_of,
    pointer_put,
    pointer_split,
    same,
)
from proposals.changes import Change, changes

JCS = Path(__file__).parent.parent / "data" / "jcs"
VECTORS = sorted(path.name for path in (JCS / "input").iterdir())
NUMBERS = [line.split() for line in (JCS / "numbers.txt").read_text().splitlines()]
NODE = """
const { existsSync, readFileSync } = require("fs");
const { delimiter, join } = require("path");
const { pathToFileURL } = require("url");
const folders = (process.env.NODE_PATH || "").split(delimiter).map((p) => join(p, "canonicalize"));
const folder = folders.find((p) => existsSync(join(p, "package.json")));
if (!folder) process.exit(3);
const main = JSON.parse(readFileSync(join(folder, "package.json"))).main;
import(pathToFileURL(join(folder, main))).then(({ default: canonicalize }) => {
  const documents = JSON.parse(readFileSync(0, "utf8"));
  const answers = documents.map((text) => canonicalize(JSON.parse(text)));
  process.stdout.write(JSON.stringify(answers));
});
"""

safe_text = st.text(st.characters(exclude_categories=["Cs"]))
numbers = st.integers(-MAX_SAFE, MAX_SAFE) | st.floats(-MAX_SAFE, MAX_SAFE)
values: st.SearchStrategy[JSON] = st.recursive(
    st.none() | st.booleans() | numbers | safe_text,
    lambda inner: st.lists(inner) | st.dictionaries(safe_text, inner),
    max_leaves=20,
)


class Colour(StrEnum):
    RED = "red"


def double(bits: str) -> float:
    number: float = struct.unpack(">d", bytes.fromhex(bits))[0]
    return number


@pytest.mark.parametrize(("bits", "text"), NUMBERS, ids=[bits for bits, _ in NUMBERS])
def test_a_number_of_appendix_b_is_written_as_the_rfc_says_or_refused(bits: str, text: str) -> None:
    number = double(bits)
    assert rfc8785.dumps(number) == text.encode()
    if abs(number) <= MAX_SAFE:
        assert canonical(number) == text.encode()
    else:
        with pytest.raises(NotCanonical, match="send it as a string"):
            canonical(number)


@pytest.mark.parametrize("name", VECTORS)
def test_a_text_has_these_canonical_bytes(name: str) -> None:
    expected = (JCS / "output" / name).read_bytes()
    assert canonical(loads((JCS / "input" / name).read_bytes())) == expected
    assert canonical(loads(expected)) == expected


def refused(text: bytes | str, code: str, pointer: str = "", *, id: str) -> object:  # noqa: A002
    return pytest.param(text, code, pointer, id=id)


@pytest.mark.parametrize(
    ("text", "code", "pointer"),
    [
        refused('{"a":{"b":1,"b":1}}', "duplicate_key", "/a", id="a-key-twice"),
        refused(r'{"b":1,"\u0062":2}', "duplicate_key", id="a-key-twice-once-escaped"),
        refused('[{"":1,"":2}]', "duplicate_key", "/0", id="an-empty-key-twice"),
        refused(r'{"\ud800":1,"\ud800":2}', "duplicate_key", id="a-lone-surrogate-key-twice"),
        refused('{"a":NaN}', "not_a_number", "/a", id="nan"),
        refused("[Infinity]", "not_a_number", "/0", id="infinity"),
        refused("-Infinity", "not_a_number", id="minus-infinity"),
        refused("[0,1e400]", "not_a_number", "/1", id="overflows-to-infinity"),
        refused("-1e400", "not_a_number", id="overflows-to-minus-infinity"),
        refused("9007199254740992", "number_too_large", id="two-to-the-53"),
        refused("-9007199254740992", "number_too_large", id="minus-two-to-the-53"),
        refused("9007199254740993", "number_too_large", id="two-to-the-53-plus-one"),
        refused("9007199254740992.0", "number_too_large", id="integral-float"),
        refused('{"a":[1E20]}', "number_too_large", "/a/0", id="integral-float-with-exponent"),
        refused("1" * 5000, "number_too_large", id="five-thousand-digits"),
        refused("-" + "1" * 5000, "number_too_large", id="minus-five-thousand-digits"),
        refused(r'["\ud800"]', "lone_surrogate", "/0", id="high-surrogate"),
        refused(r'{"a":"\udc00x"}', "lone_surrogate", "/a", id="low-surrogate"),
        refused(r'["\ude00\ud83d"]', "lone_surrogate", "/0", id="pair-in-the-wrong-order"),
        refused(r'{"a":{"\udfff":1}}', "lone_surrogate", "/a", id="surrogate-in-a-key"),
        refused('"\ud83d\ude00"', "lone_surrogate", id="two-halves-that-were-never-text"),
        refused("[" * 65 + "]" * 65, "too_deep", id="sixty-five-lists"),
        refused('{"a":' * 65 + "1" + "}" * 65, "too_deep", id="sixty-five-objects"),
        refused("[" * 100_000, "too_deep", id="a-hundred-thousand-lists-unclosed"),
        refused('[{"a":' * 50_000, "too_deep", id="a-hundred-thousand-of-both"),
        refused("[[]," * 100_000, "too_deep", id="a-hundred-thousand-with-a-list-closed-in-each"),
        refused(" " * 1_000_000 + "1", "too_large", id="over-a-million-bytes"),
        refused("é" * 500_001, "too_large", id="bytes-are-counted-not-characters"),
        refused(b'"\xff"', "not_utf8", id="no-utf-8"),
        refused(b'"\xed\xa0\x80"', "not_utf8", id="a-surrogate-in-utf-8"),
        refused(b'"\xc0\xaf"', "not_utf8", id="overlong-utf-8"),
        refused('"é"'.encode("utf-16"), "not_utf8", id="utf-16"),
        refused("1".encode("utf-16-le"), "not_json", id="utf-16-without-mark"),
        refused(b"\xef\xbb\xbf1", "not_json", id="byte-order-mark"),
        refused("\ufeff1", "not_json", id="byte-order-mark-in-text"),
        refused("", "not_json", id="empty"),
        refused("1 2", "not_json", id="a-second-value"),
        refused("{}x", "not_json", id="trailing-data"),
        refused("[1,]", "not_json", id="trailing-comma"),
        refused("{'a':1}", "not_json", id="single-quotes"),
        refused("01", "not_json", id="leading-zero"),
        refused("+1", "not_json", id="plus"),
        refused("1.", "not_json", id="no-digit-after-the-point"),
        refused("\u0661", "not_json", id="arabic-digit"),
        refused('"a\nb"', "not_json", id="raw-newline-in-a-string"),
        refused("\u00a01", "not_json", id="no-break-space"),
        refused("/**/1", "not_json", id="comment"),
        refused('"' + '\\"' * 400_000, "not_json", id="a-long-unclosed-string"),
    ],
)
def test_a_text_is_refused(text: bytes | str, code: str, pointer: str) -> None:
    with pytest.raises(NotCanonical) as refusal:
        loads(text)
    assert (refusal.value.code, refusal.value.pointer) == (code, pointer)
    assert str(refusal.value).isascii()
    assert len(str(refusal.value)) < 400


@pytest.mark.parametrize(
    ("value", "code"),
    [
        pytest.param(b"a", "not_json", id="bytes"),
        pytest.param((1, 2), "not_json", id="tuple"),
        pytest.param({1, 2}, "not_json", id="set"),
        pytest.param({"a": object()}, "not_json", id="object"),
        pytest.param(1j, "not_json", id="complex"),
        pytest.param({1: "a"}, "not_json", id="number-as-key"),
        pytest.param({None: "a"}, "not_json", id="null-as-key"),
        pytest.param({b"a": "a"}, "not_json", id="bytes-as-key"),
        pytest.param(float("nan"), "not_a_number", id="nan"),
        pytest.param(float("-inf"), "not_a_number", id="minus-infinity"),
        pytest.param(MAX_SAFE + 1, "number_too_large", id="integer"),
        pytest.param(-float(MAX_SAFE + 1), "number_too_large", id="integral-float"),
        pytest.param(10**5000, "number_too_large", id="five-thousand-digits"),
        pytest.param("\ud800", "lone_surrogate", id="lone-surrogate"),
        pytest.param({"\ud800": 1}, "lone_surrogate", id="lone-surrogate-in-a-key"),
        pytest.param(["x" * 1000] * 5000, "too_large", id="five-million-characters"),
    ],
)
@pytest.mark.parametrize("door", [check, canonical, digest])
def test_a_value_is_refused_at_every_door(
    door: Callable[[object], object], value: object, code: str
) -> None:
    with pytest.raises(NotCanonical) as refusal:
        door(value)
    assert refusal.value.code == code


def test_sixty_four_deep_is_accepted_and_one_more_is_not() -> None:
    deep = loads("[" * 64 + "]" * 64)
    assert canonical(deep) == b"[" * 64 + b"]" * 64
    with pytest.raises(NotCanonical) as refusal:
        check([deep])
    assert refusal.value.code == "too_deep"


def test_brackets_in_strings_are_not_depth() -> None:
    tricky: JSON = ["\\", "[" * 100, '\\"' + "{" * 100]
    assert loads(json.dumps(tricky)) == tricky


def test_what_stands_side_by_side_is_not_depth() -> None:
    wide: JSON = [[], {}] * 100
    assert loads(json.dumps(wide)) == wide


def test_a_refusal_says_where_the_text_breaks_off_or_which_key_stands_twice() -> None:
    with pytest.raises(NotCanonical, match=r"\(line 2, column 4\)"):
        loads("[1,\n 2 3]")
    with pytest.raises(NotCanonical, match="Key 'card' stands twice"):
        loads('{"card": 1, "card": 2}')


def test_four_million_items_and_characters_are_accepted_and_one_more_is_not() -> None:
    text = "x" * (MAX_VALUE - 1)
    assert check(text) == text
    with pytest.raises(NotCanonical) as refusal:
        check(text + "x")
    assert refusal.value.code == "too_large"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        pytest.param({1}, "'set' is not JSON; send a string or a list.", id="a-set"),
        pytest.param({1: 2}, "A key is 'int'; send every key as a string.", id="a-number-as-key"),
        pytest.param(
            float("nan"),
            "NaN, Infinity and what overflows to it are not JSON; send it as a string.",
            id="nan",
        ),
        pytest.param(
            "\ud800",
            "A lone surrogate is no character; send well-formed Unicode.",
            id="half-a-character",
        ),
    ],
)
def test_a_refusal_says_what_was_sent_and_what_to_send(value: object, words: str) -> None:
    with pytest.raises(NotCanonical) as refusal:
        check(value)
    assert str(refusal.value) == words


def test_a_value_that_holds_itself_is_too_deep() -> None:
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(NotCanonical) as refusal:
        check(loop)
    assert refusal.value.code == "too_deep"


def test_a_small_value_that_would_be_written_huge_is_too_large() -> None:
    shared: list[object] = ["x" * 100_000]
    for _ in range(60):
        shared = [shared] * 10
    with pytest.raises(NotCanonical) as refusal:
        check(shared)
    assert refusal.value.code == "too_large"


def test_the_limit_of_a_text_is_the_callers() -> None:
    assert loads(b"[1, 2]", limit=6) == [1, 2]
    with pytest.raises(NotCanonical, match="send at most 5"):
        loads(b"[1, 2]", limit=5)


def test_a_checked_value_is_plain_and_shares_nothing() -> None:
    inner: list[object] = [Colour.RED]
    plain = check({"a": inner, "b": inner})
    inner.append(1)
    assert plain == {"a": ["red"], "b": ["red"]}
    assert isinstance(plain, dict)
    assert type(pointer_get(plain, "/a/0")) is str


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        pytest.param(1, 1.0, True, id="one-is-one-point-zero"),
        pytest.param(0.0, -0.0, True, id="there-is-one-zero"),
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, True, id="order-of-keys"),
        pytest.param(True, 1, False, id="true-is-not-one"),
        pytest.param([False], [0], False, id="false-is-not-zero-inside"),
        pytest.param([1, 2], [2, 1], False, id="order-of-items"),
        pytest.param("\u00e9", "e\u0301", False, id="nfc-is-not-nfd"),
        pytest.param(None, {}, False, id="null-is-not-empty"),
        pytest.param({"a": None}, {}, False, id="null-is-not-absent"),
        pytest.param("1", 1, False, id="text-is-not-a-number"),
    ],
)
def test_same(a: JSON, b: JSON, *, equal: bool) -> None:
    assert same(a, b) is equal
    assert (changes(a, b) == []) is equal


def test_a_digest_is_the_sha_256_of_the_canonical_bytes() -> None:
    # printf '{"a":1}' | sha256sum
    assert digest({"a": 1.0}) == (
        "sha256:015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"
    )


def test_changes_say_where_and_what() -> None:
    before: JSON = {"rows": [{"id": 17, "active": True}, {"id": 23}], "a/b~c": 1, "same": 1}
    after: JSON = {"rows": [{"id": 17, "active": 1}], "a/b~c": None, "same": 1.0, "more": []}
    assert changes(before, after) == [
        Change("/a~1b~0c", 1, None),
        Change("/more", MISSING, []),
        Change("/rows/0/active", before=True, after=1),
        Change("/rows/1", {"id": 23}, MISSING),
    ]


def test_changes_stop_at_the_limit() -> None:
    assert len(changes([1] * 100, [2] * 100)) == 50
    assert len(changes([1] * 100, [2] * 100, limit=3)) == 3


# RFC 6901, section 5
RFC_6901: JSON = {"foo": ["bar", "baz"], "": 0, "a/b": 1, "m~n": 8, "~1": 9, "00": 10}


@pytest.mark.parametrize(
    ("pointer", "found"),
    [
        pytest.param("", RFC_6901, id="everything"),
        pytest.param("/foo/0", "bar", id="first-item"),
        pytest.param("/", 0, id="the-empty-key"),
        pytest.param("/a~1b", 1, id="slash"),
        pytest.param("/m~0n", 8, id="tilde"),
        pytest.param("/~01", 9, id="tilde-one-is-not-a-slash"),
        pytest.param("/00", 10, id="digits-are-a-key-in-an-object"),
        pytest.param("/foo/2", MISSING, id="after-the-last"),
        pytest.param("/foo/-", MISSING, id="the-place-after-the-last"),
        pytest.param("/foo/00", MISSING, id="no-leading-zero"),
        pytest.param("/foo/\u0661", MISSING, id="no-arabic-digit"),
        pytest.param("/foo/-1", MISSING, id="no-minus"),
        pytest.param("/foo/" + "9" * 5000, MISSING, id="five-thousand-digits"),
        pytest.param("/foo/0/b", MISSING, id="into-a-text"),
        pytest.param("/bar", MISSING, id="no-such-key"),
    ],
)
def test_a_pointer_finds(pointer: str, found: JSON) -> None:
    assert pointer_get(RFC_6901, pointer) == found


@pytest.mark.parametrize("pointer", ["foo", "/a~", "/a~2b", "#/foo"])
def test_a_malformed_pointer_is_refused(pointer: str) -> None:
    with pytest.raises(BadPointer):
        pointer_get(RFC_6901, pointer)


def test_volatile_members_are_taken_out() -> None:
    plan: JSON = {"preview": {"at": "10:42", "rows": [{"n": 1, "t": 5}, 2, 3]}, "warnings": []}
    rest, volatile = pointer_split(
        plan, ["/preview/at", "/preview/rows/0/t", "/preview/rows/1", "/preview/gone"]
    )
    assert rest == {"preview": {"rows": [{"n": 1}, 3]}, "warnings": []}
    assert volatile == {"/preview/at": "10:42", "/preview/rows/0/t": 5, "/preview/rows/1": 2}
    assert pointer_get(plan, "/preview/at") == "10:42"


def test_taking_out_everything_is_refused() -> None:
    with pytest.raises(BadPointer):
        pointer_split({"a": 1}, [""])


@given(values)
def test_reading_the_canonical_bytes_gives_the_same_bytes(value: JSON) -> None:
    written = canonical(value)
    assert canonical(loads(written)) == written
    assert same(value, loads(json.dumps(value)))


@given(st.dictionaries(safe_text, values, max_size=5))
def test_the_order_of_keys_does_not_matter(value: dict[str, JSON]) -> None:
    assert canonical(dict(reversed(value.items()))) == canonical(value)
    assert canonical(dict(sorted(value.items()))) == canonical(value)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param([1, 2, 3], [1, 3], [Change("/1", 2, MISSING)], id="one-vanished"),
        pytest.param([1, 3], [1, 2, 3], [Change("/1", MISSING, 2)], id="one-appeared"),
        pytest.param([1, 2, 3], [1, 9, 3], [Change("/1", 2, 9)], id="one-changed"),
    ],
)
def test_a_list_item_that_vanishes_moves_no_other(
    before: JSON, after: JSON, expected: list[Change]
) -> None:
    assert changes(before, after) == expected


@given(values, values)
def test_one_digest_means_the_same_bytes_and_no_changes(a: JSON, b: JSON) -> None:
    equal = canonical(a) == canonical(b)
    assert (digest(a) == digest(b)) is equal
    assert (changes(a, b, limit=1) == []) is equal


@given(st.binary() | st.text() | st.text('[]{}",:\\u0d8Ee+-.1NaInfity \ud800\n'))
def test_reading_raises_nothing_but_not_canonical(text: bytes | str) -> None:
    try:
        value = loads(text)
    except NotCanonical as refusal:
        assert str(refusal).isascii()  # noqa: PT017
        refusal.pointer.encode()
    else:
        assert loads(canonical(value)) == value


@given(st.lists(safe_text | st.integers(0, 9)), st.integers())
def test_a_written_pointer_finds_its_member(path: list[str | int], leaf: int) -> None:
    value: JSON = str(leaf)
    for step in reversed(path):
        value = {str(step): value}
    assert pointer_get(value, pointer_of(path)) == str(leaf)


def with_npm(texts: list[str]) -> list[str]:
    """Canonicalise with somebody else's code: the npm package canonicalize on NODE_PATH."""
    try:
        done = subprocess.run(
            ["node", "-e", NODE], input=json.dumps(texts).encode(), capture_output=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        if os.environ.get("PLACET_REQUIRE_NPM") == "1":
            pytest.fail("npm: node or its package canonicalize (on NODE_PATH) is not there")
        pytest.skip("npm: node or its package canonicalize (on NODE_PATH) is not there")
    answers: list[str] = json.loads(done.stdout)
    return answers


def test_npm_canonicalize_writes_the_same_bytes() -> None:
    texts: list[str] = []

    @given(values)
    def collect(value: JSON) -> None:
        texts.append(json.dumps(value))

    collect()
    texts += [(JCS / "input" / name).read_text() for name in VECTORS]
    assert with_npm(texts) == [canonical(loads(text)).decode() for text in texts]


@pytest.mark.parametrize(
    ("pointer", "told"),
    [
        pytest.param("", "The empty pointer names everything; name a member, as in /preview/at.",
            id="empty"),
        pytest.param("a", "'a' is no JSON Pointer (RFC 6901); write /a/b.", id="no-slash"),
    ],
)  # fmt: skip
def test_a_bad_pointer_is_refused_in_words(pointer: str, told: str) -> None:
    with pytest.raises(BadPointer) as refused:
        pointer_split({}, [pointer])
    assert str(refused.value) == told


def test_what_is_taken_below_one_member_stays_below_another() -> None:
    value: JSON = {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 2}}
    assert pointer_split(value, ["/a/x"])[0] == {"a": {"y": 2}, "b": {"x": 1, "y": 2}}


def test_no_place_of_a_long_list_is_named_by_a_word() -> None:
    assert pointer_get(list(range(9_000)), "/x") is MISSING
    assert pointer_get(list(range(9_000)), "/01") is MISSING


@pytest.mark.parametrize(
    ("pointer", "found"),
    [
        pytest.param("", "new", id="all-of-it"),
        pytest.param("/a", {"a": "new", "b": 1}, id="a-member"),
        pytest.param("/a/1/c", {"a": [{"c": 1}, {"c": "new", "d": 3}], "b": 1}, id="below-a-list"),
        pytest.param("/a/0", {"a": ["new", {"c": 2, "d": 3}], "b": 1}, id="an-item"),
        pytest.param("/x", None, id="no-such-member"),
        pytest.param("/a/2", None, id="no-such-item"),
        pytest.param("/a/01", None, id="no-way-to-write-a-place"),
        pytest.param("/b/c", None, id="below-a-number"),
    ],
)
def test_a_value_is_put_where_one_is_and_nowhere_else(pointer: str, found: JSON | None) -> None:
    value: JSON = {"a": [{"c": 1}, {"c": 2, "d": 3}], "b": 1}
    assert pointer_put(value, pointer, "new") == (value if found is None else found)
    assert value == {"a": [{"c": 1}, {"c": 2, "d": 3}], "b": 1}


@pytest.mark.parametrize(
    ("pointer", "told"),
    [
        pytest.param("", "no", id="nowhere"),
        pytest.param("/a/0", "no (at /a/0)", id="a-place"),
        pytest.param("/\xe9\n", "no (at /\\xe9\\n)", id="ascii-alone"),
        pytest.param("/" + "a" * 300, f"no (at /{'a' * 199})", id="cut"),
    ],
)
def test_a_refusal_names_the_place_in_ascii(pointer: str, told: str) -> None:
    refusal = NotCanonical("not_json", "no", pointer)
    assert (str(refusal), refusal.pointer) == (told, pointer)
