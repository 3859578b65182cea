"""Laws of the veil: the same secret in the same place compares, and nothing else does."""

import json
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from proposals.canonical import JSON, canonical, digest
from proposals.plan import Planned
from proposals.vault import SecretsLost, Vault, kid_of
from proposals.veil import COVERED, SHORTEST, SIZE, Key, Veil

KEY, OTHER = Key.of(bytes(SIZE)), Key.of(b"\1" * SIZE)
VEIL = Veil(KEY, "5a17", ("/arguments/token",))
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
# Of letters that no mark and no word of the tests has.
LOUD = st.text(st.characters(exclude_categories=["Cs"], min_codepoint=0xC0), min_size=SHORTEST)
SCALAR = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXT
VALUE = st.recursive(
    SCALAR, lambda part: st.lists(part, max_size=3) | st.dictionaries(TEXT, part, max_size=3)
)
TOKEN = 'S3n"tinel\\of the tésts\n'


def token(value: JSON) -> dict[str, JSON]:
    return {"arguments": {"token": value}}


@given(VALUE, VALUE)
def test_marks_compare_as_the_values_do(a: JSON, b: JSON) -> None:
    one, other = VEIL.mark("/result/key", a), VEIL.mark("/result/key", b)
    assert (one == other) == (canonical(a) == canonical(b))


@given(VALUE, TEXT, TEXT)
def test_another_salt_gives_another_mark(value: JSON, salt: str, other: str) -> None:
    assume(salt != other)
    marks = {replace(VEIL, salt=s).mark("/arguments/token", value) for s in (salt, other)}
    assert len(marks) == 2


@given(VALUE)
def test_a_mark_is_bound_to_its_place_and_to_its_key(value: JSON) -> None:
    marks = {VEIL.mark(pointer, value) for pointer in ("/arguments/a", "/arguments/b", "/result")}
    assert len(marks | {replace(VEIL, key=OTHER).mark("/result", value)}) == 4


@given(VALUE)
def test_what_is_hidden_is_a_mark_and_the_rest_stays(value: JSON) -> None:
    world = {"arguments": {"token": value, "n": 1}, "preview": None}
    mark = VEIL.mark("/arguments/token", value)
    assert mark.startswith(f"hmac:{KEY.kid}:")
    said = VEIL.hide(world)
    assert isinstance(said["arguments"], dict)
    assert said["arguments"]["token"] == mark


@given(LOUD)
def test_a_secret_stands_nowhere_in_what_is_shown(secret: str) -> None:
    said = f"before {secret} after"
    arguments, planned = VEIL.plan(
        {"token": secret},
        Planned(
            effects=[{"what": said, "after": secret}],
            preview={"nested": {said: [said, json.dumps(secret)]}},
            preconditions={"token": {"sha256": digest(secret)}},
            warnings=[said],
        ),
    )
    shown = repr([arguments, planned])
    assert secret not in shown
    assert digest(secret) not in shown
    assert repr(secret)[1:-1] not in shown
    told = replace(VEIL, known=(token(secret),))
    assert told.text(said) == f"before {COVERED} after"


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(TOKEN, id="as-it-is"),
        pytest.param(json.dumps({"echo": TOKEN}), id="in-json"),
        pytest.param(json.dumps({"echo": TOKEN}, ensure_ascii=False), id="in-json-beyond-ascii"),
        pytest.param(repr({"echo": TOKEN}), id="in-an-error-of-python"),
        pytest.param("GET /x?t=S3n%22tinel%5Cof%20the%20t%C3%A9sts%0A failed", id="in-an-url"),
        pytest.param("its digest is " + digest(TOKEN), id="by-its-digest"),
        pytest.param("broke off: " + TOKEN[:12] + "…", id="cut-off"),
    ],
)
def test_no_form_of_a_secret_is_told(said: str) -> None:
    told = replace(VEIL, known=(token(TOKEN),)).text(said)
    assert COVERED in told
    assert "S3n" not in told
    assert "tinel" not in told


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        pytest.param(8_123_456, False, id="a-number"),
        pytest.param("8123456", False, id="the-text-of-a-number"),
        pytest.param("abc", True, id="three-characters-are-a-word"),
        pytest.param(True, True, id="a-yes-is-no-secret-elsewhere"),
    ],
)
def test_what_is_looked_for_elsewhere(value: JSON, shown: bool) -> None:  # noqa: FBT001
    said = VEIL.hide(token(value) | {"preview": {"again": value}})
    assert (said["preview"] == {"again": value}) is shown


def test_a_number_and_its_text_have_not_one_mark() -> None:
    preview = VEIL.hide(token(8_123_456) | {"preview": [8_123_456, "8123456"]})["preview"]
    assert isinstance(preview, list)
    assert preview[0] != preview[1]


def test_every_part_of_a_secret_object_is_looked_for() -> None:
    world = token({"user": "robert", "password": "hunter22"}) | {"preview": "robert / hunter22"}
    said = str(VEIL.hide(world))
    assert "hunter22" not in said
    assert "robert" not in said


def test_a_secret_renames_no_argument_and_no_effect() -> None:
    world: dict[str, JSON] = token("after")
    world |= {"effects": [{"what": "x", "before": 1, "after": 2}]}
    said = VEIL.hide(world)
    assert said["effects"] == [{"what": "x", "before": 1, "after": 2}]


def test_what_holds_another_secret_is_hidden_whole() -> None:
    veil = replace(VEIL, pointers=("/preview", "/preview/token"))
    said = veil.hide({"preview": {"token": "hunter22", "n": 1}, "arguments": "hunter22!"})
    assert said["preview"] == veil.mark("/preview", {"token": "hunter22", "n": 1})
    assert "hunter22" not in str(said)


def test_what_an_earlier_call_had_secret_is_hidden_too() -> None:
    veil = replace(VEIL, pointers=("/result/key",), known=({"result": {"key": "issued-key"}},))
    assert "issued-key" not in str(veil.hide({"preview": {"undo": ["revoke", "issued-key"]}}))


@given(st.dictionaries(TEXT, VALUE, max_size=3))
def test_the_vault_gives_back_what_was_sealed(content: dict[str, JSON]) -> None:
    sealed = Vault((KEY,)).seal(KEY, "p_1", content)
    assert Vault((OTHER, KEY)).open("p_1", sealed) == content
    assert kid_of(sealed) == KEY.kid


@pytest.mark.parametrize(
    ("vault", "owner"),
    [
        pytest.param(Vault((OTHER,)), "p_1", id="another-key"),
        pytest.param(Vault(), "p_1", id="no-key"),
        pytest.param(Vault((KEY,)), "p_2", id="moved-to-another-proposal"),
    ],
)
def test_nothing_else_opens_it(vault: Vault, owner: str) -> None:
    sealed = Vault((KEY,)).seal(KEY, "p_1", {"arguments": TOKEN})
    assert TOKEN not in sealed
    with pytest.raises(SecretsLost):
        vault.open(owner, sealed)


def test_a_changed_box_is_not_opened() -> None:
    sealed = Vault((KEY,)).seal(KEY, "p_1", {})
    changed = sealed[:-6] + ("A" if sealed[-6] != "A" else "B") + sealed[-5:]
    with pytest.raises(SecretsLost, match="changed in the store"):
        Vault((KEY,)).open("p_1", changed)


def test_a_key_tells_nothing_of_itself() -> None:
    assert repr(Key.of(b"\7" * SIZE)) == f"Key(kid='{Key.of(bytes([7]) * SIZE).kid}')"
