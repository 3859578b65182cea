import base64
import hashlib
import json
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from proposals.canonical import JSON, MAX_SAFE, NotCanonical, canonical, digest, same
from proposals.receipt import (
    MAX_FILE,
    PAYLOAD_TYPE,
    PREDICATE_END,
    PREDICATE_PLAN,
    PREDICATE_START,
    BadKey,
    Forged,
    Object,
    Signer,
    fingerprint,
    plan_file,
    plan_statement,
    public_from_pem,
    read_plan_file,
    sign,
    statement,
    verify,
)
from proposals.trailers import UnsafeTrailer, trailers


def pem(key: Any, password: bytes | None = None) -> bytes:
    lock = (
        serialization.BestAvailableEncryption(password)
        if password
        else serialization.NoEncryption()
    )
    written: bytes = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, lock
    )
    return written


KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
SIGNER = Signer.from_pem(pem(KEY))
STRANGER = Signer(Ed25519PrivateKey.from_private_bytes(bytes(32)))
PLAN: Object = {
    "schema": "placet.plan/v1",
    "tool": {"name": "db.update_rows", "kind": "command"},
    "arguments": {"rows": [17, 23.5], "why": "größer \u202eevil\u200b"},
    "effects": [{"what": "customer 17", "before": True, "after": False}],
}
VOLATILE: Object = {"/preview/at": "10:42"}
META: Object = {"id": "p_1f0c", "created": "2026-12-01T10:00:00Z"}
ENVELOPE = sign(plan_statement(PLAN, VOLATILE, META), SIGNER)
FILE = plan_file(PLAN, VOLATILE, ENVELOPE)

safe_text = st.text(st.characters(exclude_categories=["Cs"]))
values: st.SearchStrategy[JSON] = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX_SAFE, MAX_SAFE) | st.floats(-1e9, 1e9) | safe_text,
    lambda inner: st.lists(inner) | st.dictionaries(safe_text, inner),
    max_leaves=5,
)
objects = st.dictionaries(safe_text, values, max_size=3)


def resigned(payload: bytes, signer: Signer = SIGNER, keyid: str | None = None) -> Object:
    """Sign any bytes as `sign` signs a statement, with the specification's own words."""
    pae = f"DSSEv1 {len(PAYLOAD_TYPE)} {PAYLOAD_TYPE} {len(payload)} ".encode() + payload
    return {
        "payloadType": PAYLOAD_TYPE,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [
            {
                "keyid": keyid or signer.keyid,
                "sig": base64.b64encode(signer.private.sign(pae)).decode(),
            }
        ],
    }


def test_a_signed_statement_is_read_back() -> None:
    said = statement(PREDICATE_END, {"plan": digest(PLAN)}, {"outcome": "applied"})
    assert verify(sign(said, SIGNER), SIGNER.public) == said
    assert sign(said, SIGNER) == resigned(canonical(said))
    assert said == {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "plan", "digest": {"sha256": digest(PLAN)[7:]}}],
        "predicateType": PREDICATE_END,
        "predicate": {"outcome": "applied"},
    }


def test_a_statement_about_another_hash_is_not_made() -> None:
    with pytest.raises(ValueError, match="lower-case hex"):
        statement(PREDICATE_END, {"plan": "sha512:" + "0" * 64}, {})


SIGNATURE: Any = ENVELOPE["signatures"]
PAYLOAD = canonical(plan_statement(PLAN, VOLATILE, META))


@pytest.mark.parametrize(
    ("envelope", "code"),
    [
        pytest.param(None, "not_an_envelope", id="null"),
        pytest.param([], "not_an_envelope", id="list"),
        pytest.param({}, "not_an_envelope", id="empty"),
        pytest.param(ENVELOPE | {"more": 1}, "not_an_envelope", id="another-member"),
        pytest.param(ENVELOPE | {"signatures": []}, "not_an_envelope", id="no-signature"),
        pytest.param(ENVELOPE | {"signatures": SIGNATURE * 2}, "not_an_envelope", id="two"),
        pytest.param(
            ENVELOPE | {"signatures": [SIGNATURE[0] | {"cert": ""}]},
            "not_an_envelope",
            id="another-member-in-the-signature",
        ),
        pytest.param(ENVELOPE | {"payload": 1}, "not_an_envelope", id="payload-is-a-number"),
        pytest.param(
            ENVELOPE | {"payload": str(ENVELOPE["payload"]) + "\n"},
            "not_an_envelope",
            id="base64-with-a-newline",
        ),
        pytest.param(ENVELOPE | {"payload": "é"}, "not_an_envelope", id="base64-not-ascii"),
        pytest.param(ENVELOPE | {"payload": "YR=="}, "not_an_envelope", id="base64-loose-bits"),
        pytest.param(
            ENVELOPE | {"payloadType": "application/json"}, "wrong_payload_type", id="other-type"
        ),
        pytest.param(
            ENVELOPE | {"signatures": [SIGNATURE[0] | {"keyid": STRANGER.keyid}]},
            "wrong_key",
            id="another-keyid",
        ),
        pytest.param(resigned(PAYLOAD, STRANGER), "wrong_key", id="signed-by-a-stranger"),
        pytest.param(
            ENVELOPE | {"signatures": [SIGNATURE[0] | {"sig": ""}]},
            "bad_signature",
            id="empty-signature",
        ),
        pytest.param(
            resigned(PAYLOAD, STRANGER, SIGNER.keyid),
            "bad_signature",
            id="signed-by-a-stranger-in-our-name",
        ),
        pytest.param(
            ENVELOPE | {"payload": base64.b64encode(PAYLOAD + b" ").decode()},
            "bad_signature",
            id="one-blank-more",
        ),
        pytest.param(resigned(b"{"), "not_canonical", id="signed-no-json"),
        pytest.param(resigned(PAYLOAD + b"\n"), "not_canonical", id="signed-not-rfc-8785"),
        pytest.param(resigned(b'{"a":1,"a":1}'), "not_canonical", id="signed-a-key-twice"),
        pytest.param(resigned(b"{}"), "not_a_statement", id="signed-no-statement"),
        pytest.param(resigned(b"1"), "not_a_statement", id="signed-a-number"),
        pytest.param(
            resigned(PAYLOAD.replace(b"Statement/v1", b"Statement/v0")),
            "not_a_statement",
            id="signed-another-version",
        ),
        pytest.param(
            sign(statement(PREDICATE_PLAN, {}, {}), SIGNER), "not_a_statement", id="no-subject"
        ),
        pytest.param(
            sign(statement(PREDICATE_START, {"plan": digest(PLAN)}, {}), SIGNER),
            "wrong_predicate",
            id="a-statement-of-another-kind",
        ),
    ],
)
def test_an_envelope_is_refused(envelope: Any, code: str) -> None:
    with pytest.raises(Forged) as refusal:
        verify(envelope, SIGNER.public, predicate_type=PREDICATE_PLAN)
    assert refusal.value.code == code


def test_a_plan_file_is_read_back() -> None:
    plan, said, volatile = read_plan_file(FILE, SIGNER.public)
    assert same(plan, PLAN)
    assert same(volatile, VOLATILE)
    assert said["predicate"] == META


def test_a_plan_file_is_for_people() -> None:
    text = FILE.decode()
    assert text.startswith('{\n  "plan": {\n    "arguments": {\n      "rows": [\n        17,\n')
    assert text.endswith("}\n")
    assert r'"why": "größer \u202eevil\u200b"' in text
    assert list(json.loads(text)) == ["plan", "volatile", "envelope"]


def edited(old: str, new: str) -> bytes:
    assert old in FILE.decode()
    return FILE.decode().replace(old, new, 1).encode()


def rendered(**parts: object) -> bytes:
    whole = {"plan": PLAN, "volatile": VOLATILE, "envelope": ENVELOPE} | parts
    return (json.dumps(whole, indent=2) + "\n").encode()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        pytest.param(b"", "not_canonical", id="empty"),
        pytest.param(b"\xff", "not_canonical", id="not-utf-8"),
        pytest.param(FILE[:-2], "not_canonical", id="cut-short"),
        pytest.param(b"\xef\xbb\xbf" + FILE, "not_canonical", id="byte-order-mark"),
        pytest.param(edited('"plan": {', '"plan": {}, "plan": {'), "not_canonical", id="two-plans"),
        pytest.param(
            edited('"rows": [', '"rows": [], "rows": ['), "not_canonical", id="an-argument-twice"
        ),
        pytest.param(b" " * (MAX_FILE + 1), "not_canonical", id="too-large"),
        pytest.param(b"[]\n", "not_a_plan_file", id="a-list"),
        pytest.param(rendered(more=1), "not_a_plan_file", id="another-part"),
        pytest.param(rendered(volatile=None), "not_a_plan_file", id="volatile-is-null"),
        pytest.param(rendered(envelope={}), "not_an_envelope", id="no-envelope"),
        pytest.param(edited("        17,", "        18,"), "wrong_subject", id="another-argument"),
        pytest.param(edited('"before": true', '"before": 1'), "wrong_subject", id="one-for-true"),
        pytest.param(edited("10:42", "10:43"), "wrong_subject", id="volatile-edited"),
        pytest.param(rendered(plan={}), "wrong_subject", id="another-plan"),
        pytest.param(
            rendered(envelope=sign(statement(PREDICATE_PLAN, {"plan": digest(PLAN)}, {}), SIGNER)),
            "wrong_subject",
            id="volatile-unsigned",
        ),
        pytest.param(
            rendered(
                envelope=sign(
                    statement(
                        PREDICATE_END, {"plan": digest(PLAN), "volatile": digest(VOLATILE)}, {}
                    ),
                    SIGNER,
                )
            ),
            "wrong_predicate",
            id="a-statement-of-another-kind",
        ),
        pytest.param(
            rendered(envelope=sign(plan_statement(PLAN, VOLATILE, META), STRANGER)),
            "wrong_key",
            id="signed-by-a-stranger",
        ),
        pytest.param(rendered(), "wrong_rendering", id="in-another-order"),
        pytest.param(FILE + b"\n", "wrong_rendering", id="one-newline-more"),
        pytest.param(FILE.rstrip(), "wrong_rendering", id="no-newline"),
        pytest.param(FILE.replace(b"\n", b"\r\n"), "wrong_rendering", id="crlf"),
        pytest.param(edited(r"\u202e", "\u202e"), "wrong_rendering", id="a-bidi-override-hidden"),
        pytest.param(edited("ö", r"\u00f6"), "wrong_rendering", id="an-escape-that-is-not-ours"),
        pytest.param(edited("17,", "17.0,"), "wrong_rendering", id="a-number-written-otherwise"),
        pytest.param(edited("17,", "1.7e1,"), "wrong_rendering", id="a-number-with-an-exponent"),
    ],
)
def test_a_plan_file_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(Forged) as refusal:
        read_plan_file(data, SIGNER.public)
    assert refusal.value.code == code


AUDIT = """
import hashlib, json, rfc8785, sys
plan = json.load(sys.stdin)["plan"]
print("sha256:" + hashlib.sha256(rfc8785.dumps(plan)).hexdigest())
"""


def test_three_lines_of_somebody_else_recompute_the_digest() -> None:
    # -I: isolated, so nothing of ours can be imported from the working directory
    command = [sys.executable, "-I", "-c", AUDIT]
    done = subprocess.run(command, input=FILE, capture_output=True, check=True)
    assert done.stdout.decode().strip() == digest(PLAN)


def test_every_control_and_format_character_is_escaped() -> None:
    hidden = [c for c in map(chr, range(0x110000)) if unicodedata.category(c) in {"Cc", "Cf"}]
    data = plan_file({"hidden": "".join(hidden)}, {}, {}).decode()
    assert [c for c in hidden if c in data.replace("\n", "")] == []
    assert json.loads(data)["plan"]["hidden"] == "".join(hidden)


@pytest.mark.parametrize(
    ("plan", "code"),
    [
        pytest.param({"a": float("nan")}, "not_a_number", id="nan"),
        pytest.param({"a": ["x" * MAX_FILE]}, "too_large", id="too-large"),
        pytest.param(
            {"a": json.loads("[" * 60 + "1," * 40_000 + "1" + "]" * 60)},
            "too_large",
            id="small-but-too-large-when-indented",
        ),
        pytest.param({"a": json.loads("[" * 63 + "]" * 63)}, "too_deep", id="too-deep-in-a-file"),
    ],
)
def test_a_plan_that_fits_no_file_is_refused(plan: Object, code: str) -> None:
    with pytest.raises(NotCanonical) as refusal:
        plan_file(plan, {}, {})
    assert refusal.value.code == code


def test_a_file_may_be_larger_than_a_request() -> None:
    plan: Object = {"text": "x" * 2_000_000}
    data = plan_file(plan, {}, sign(plan_statement(plan, {}, META), SIGNER))
    assert read_plan_file(data, SIGNER.public).plan == plan


@given(objects, objects, objects)
def test_what_is_written_is_read(plan: Object, volatile: Object, meta: Object) -> None:
    data = plan_file(plan, volatile, sign(plan_statement(plan, volatile, meta), SIGNER))
    found = read_plan_file(data, SIGNER.public)
    assert same([found.plan, found.volatile], [plan, volatile])
    assert same(found.statement["predicate"], meta)
    assert digest(json.loads(data)["plan"]) == digest(plan)


@given(st.integers(0, len(FILE) - 1), st.integers(1, 255))
def test_no_byte_of_a_plan_file_can_change(place: int, flip: int) -> None:
    data = bytearray(FILE)
    data[place] ^= flip
    with pytest.raises(Forged):
        read_plan_file(bytes(data), SIGNER.public)


@given(st.binary() | st.builds(lambda part: FILE[: len(part)] + part, st.binary()))
def test_reading_raises_nothing_but_forged(data: bytes) -> None:
    with pytest.raises(Forged):
        read_plan_file(data, SIGNER.public)


def test_the_keyid_is_the_sha_256_of_the_public_key() -> None:
    der = base64.b64decode("".join(SIGNER.public_pem().decode().splitlines()[1:-1]))
    hashed = base64.b64encode(hashlib.sha256(der).digest()).decode().rstrip("=")
    assert SIGNER.keyid == f"SHA256:{hashed}" == fingerprint(public_from_pem(SIGNER.public_pem()))


def test_a_signer_does_not_show_its_key() -> None:
    assert repr(SIGNER) == "Signer()"


@pytest.mark.parametrize("read", [Signer.from_pem, public_from_pem])
@pytest.mark.parametrize(
    "key",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"not a key", id="no-pem"),
        pytest.param(pem(KEY).replace(b"M", b"N"), id="damaged"),
        pytest.param(pem(KEY, b"secret"), id="encrypted"),
        pytest.param(pem(generate_private_key(SECP256R1())), id="another-curve"),
    ],
)
def test_a_key_that_is_none_is_refused(read: Callable[[bytes], object], key: bytes) -> None:
    with pytest.raises(BadKey):
        read(key)


def test_a_private_key_is_no_public_key_and_the_other_way_round() -> None:
    with pytest.raises(BadKey):
        public_from_pem(pem(KEY))
    with pytest.raises(BadKey):
        Signer.from_pem(SIGNER.public_pem())


def test_trailers() -> None:
    assert trailers(
        proposal="p_1f0c",
        plan="sha256:3f9a",
        approved_by=["lee (review)", "kim"],
        outcome="applied",
    ) == (
        "Placet-Proposal: p_1f0c\n"
        "Placet-Plan: sha256:3f9a\n"
        "Placet-Approved-By: lee (review)\n"
        "Placet-Approved-By: kim\n"
        "Placet-Outcome: applied\n"
    )


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("", id="empty"),
        pytest.param("lee\nPlacet-Outcome: applied", id="a-second-line"),
        pytest.param("lee\n", id="newline-at-the-end"),
        pytest.param("lee\r", id="carriage-return"),
        pytest.param(" lee", id="blank-first"),
        pytest.param("lee ", id="blank-last"),
        pytest.param("l\u00e9e", id="not-ascii"),
        pytest.param("lee\u2028x", id="line-separator"),
        pytest.param("lee\x1b[0m", id="escape-sequence"),
        pytest.param("x" * 201, id="too-long"),
    ],
)
def test_a_trailer_value_is_refused(value: str) -> None:
    with pytest.raises(UnsafeTrailer):
        trailers(proposal="p_1f0c", plan="sha256:3f9a", approved_by=[value], outcome="applied")
