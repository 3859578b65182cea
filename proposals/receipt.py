"""Signed statements that anybody can check offline: in-toto Statement v1 in a DSSE envelope.

A statement says what was planned, started or ended; its subjects are digests. Specifications:
https://github.com/in-toto/attestation/tree/main/spec/v1, https://github.com/secure-systems-lab/dsse
"""

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from .canonical import JSON, NotCanonical, canonical, digest, loads

PREDICATE_PLAN = "urn:placet:predicate:plan:v1"
PREDICATE_START = "urn:placet:predicate:start:v1"
PREDICATE_END = "urn:placet:predicate:end:v1"

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PAYLOAD_TYPE = "application/vnd.in-toto+json"
MAX_FILE = 4_000_000  # bytes of plan.json; indentation can make a deep plan many times longer

_DIGEST = re.compile("sha256:[0-9a-f]{64}|gitCommit:(?:[0-9a-f]{40}|[0-9a-f]{64})")

Object = dict[str, JSON]


class Forged(ValueError):
    """A statement or plan file that is not exactly what the key's holder wrote; `code` is stable.

    Codes: not_canonical, not_an_envelope, wrong_payload_type, wrong_key, bad_signature,
    not_a_statement, wrong_predicate, not_a_plan_file, wrong_subject, wrong_rendering.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class BadKey(ValueError):
    """Bytes that are not the Ed25519 key in PEM that was asked for; never shows the bytes."""


@dataclass(frozen=True, slots=True)
class Signer:
    """The key that signs statements; `keyid` is the fingerprint of its public half.

    `before`: what leads to it from the first key, each a new key signed by the one before.
    """

    private: Ed25519PrivateKey = field(repr=False)
    before: tuple[Object, ...] = field(default=(), repr=False)

    @classmethod
    def from_pem(cls, pem: bytes) -> Self:
        """Read an unencrypted PKCS#8 private key, as `openssl genpkey -algorithm ed25519` writes.

        Raises BadKey.
        """
        try:
            key = serialization.load_pem_private_key(pem, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise BadKey(
                "The signing key is no unencrypted Ed25519 private key in PEM. "
                "Make one: openssl genpkey -algorithm ed25519 -out placet-signing.pem"
            )
        return cls(key)

    @property
    def public(self) -> Ed25519PublicKey:
        """The public half, for `verify`."""
        return self.private.public_key()

    @property
    def keyid(self) -> str:
        """The fingerprint of the public half, as it stands in every signature."""
        return fingerprint(self.public)

    def public_pem(self) -> bytes:
        """Write the public half, to be handed to whoever checks statements."""
        return self.public.public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )


class PlanFile(NamedTuple):
    """What a checked plan.json holds; only `plan` is under the digest that people approve."""

    plan: Object
    statement: Object
    volatile: Object


def public_from_pem(pem: bytes) -> Ed25519PublicKey:
    """Read a public key; raises BadKey."""
    try:
        key = serialization.load_pem_public_key(pem)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise BadKey("The public key is no Ed25519 public key in PEM; ask its server's operator.")
    return key


def fingerprint(key: Ed25519PublicKey) -> str:
    """Name a public key: `SHA256:` and unpadded base64 of the SHA-256 of its SPKI DER."""
    spki = key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return "SHA256:" + base64.b64encode(hashlib.sha256(spki).digest()).decode().rstrip("=")


def statement(predicate_type: str, subjects: Mapping[str, str], predicate: Object) -> Object:
    """Say something (`predicate`) about subjects: name -> digest as `canonical.digest` writes it.

    A commit is `gitCommit:` and its sha. A digest of another kind is a ValueError.
    """
    for value in subjects.values():
        if not _DIGEST.fullmatch(value):
            raise ValueError("A subject's digest must be sha256: or gitCommit: and lower-case hex.")
    listed: list[JSON] = []
    for name, value in subjects.items():
        kind, _, sha = value.partition(":")
        listed.append({"name": name, "digest": {kind: sha}})
    return {
        "_type": STATEMENT_TYPE,
        "subject": listed,
        "predicateType": predicate_type,
        "predicate": predicate,
    }


def plan_statement(plan: Object, volatile: Object, predicate: Object) -> Object:
    """Make the statement that belongs into plan.json: it covers the plan and what is volatile."""
    return statement(PREDICATE_PLAN, _plan_subjects(plan, volatile), predicate)


def sign(said: Object, signer: Signer) -> Object:
    """Put a statement into a DSSE envelope; the payload is its RFC 8785 bytes (NotCanonical)."""
    payload = canonical(said)
    signature = signer.private.sign(_pae(payload))
    signatures: list[JSON] = [{"keyid": signer.keyid, "sig": _base64(signature)}]
    return {"payloadType": PAYLOAD_TYPE, "payload": _base64(payload), "signatures": signatures}


def verify(
    envelope: JSON, public_key: Ed25519PublicKey, *, predicate_type: str | None = None
) -> Object:
    """Open an envelope: the statement, if this key signed exactly these bytes (else Forged).

    Without `predicate_type` the caller must look at the statement's own.
    """
    match envelope:
        case {
            "payloadType": str(payload_type),
            "payload": str(payload),
            "signatures": [{"keyid": str(keyid), "sig": str(sig), **more}],
            **rest,
        } if not more and not rest:
            pass
        case _:
            raise Forged("not_an_envelope", "This is no DSSE envelope with one signature.")
    if payload_type != PAYLOAD_TYPE:
        raise Forged("wrong_payload_type", f"The payload is no {PAYLOAD_TYPE}.")
    if keyid != fingerprint(public_key):
        raise Forged("wrong_key", f"Signed by another key than {fingerprint(public_key)}.")
    signed = _unbase64(payload)
    try:
        public_key.verify(_unbase64(sig), _pae(signed))
    except InvalidSignature:
        raise Forged("bad_signature", "The signature does not fit; do not trust it.") from None
    return _statement(signed, predicate_type)


def _statement(payload: bytes, predicate_type: str | None) -> Object:
    value = _loads(payload)
    if canonical(value) != payload:
        raise Forged("not_canonical", "The signed bytes are not RFC 8785.")
    match value:
        case {
            "_type": str(kind),
            "subject": [_, *_],
            "predicateType": str(said),
            "predicate": dict(),
            **rest,
        } if isinstance(value, dict) and kind == STATEMENT_TYPE and not rest:
            if predicate_type not in (None, said):
                raise Forged("wrong_predicate", f"This is another statement than {predicate_type}.")
            return value
    raise Forged("not_a_statement", "The signed bytes are no in-toto Statement v1.")


def plan_file(plan: Object, volatile: Object, envelope: Object) -> bytes:
    """Write plan.json for people: indented, in canonical order, invisible characters escaped.

    Raises NotCanonical, also when the file would be over MAX_FILE bytes.
    """
    parts: Object = {"plan": plan, "volatile": volatile, "envelope": envelope}
    settled = loads(canonical(parts), limit=MAX_FILE)
    assert isinstance(settled, dict)  # noqa: S101 (for mypy: it was one before)
    text = json.dumps({name: settled[name] for name in parts}, indent=2, ensure_ascii=False)
    data = (_INVISIBLE.sub(_escaped, text) + "\n").encode()
    if len(data) > MAX_FILE:
        raise NotCanonical("too_large", f"plan.json is over {MAX_FILE} bytes; plan less at once.")
    return data


def read_plan_file(data: bytes, public_key: Ed25519PublicKey) -> PlanFile:
    """Check a plan.json to the last byte and read it; raises Forged.

    The key signed it, the digests recompute, and the bytes are those `plan_file` writes: so
    what a person saw in the file is what was signed.
    """
    match _loads(data):
        case {
            "plan": dict(plan),
            "volatile": dict(volatile),
            "envelope": dict(envelope),
            **rest,
        } if not rest:
            pass
        case _:
            raise Forged("not_a_plan_file", "This file is not plan, volatile and envelope.")
    said = verify(envelope, public_key, predicate_type=PREDICATE_PLAN)
    expected = plan_statement(plan, volatile, {})
    if canonical(said["subject"]) != canonical(expected["subject"]):
        raise Forged("wrong_subject", "The signed digests are of another plan than the one here.")
    if plan_file(plan, volatile, envelope) != data:
        raise Forged("wrong_rendering", "The file's bytes are not as they were written.")
    return PlanFile(plan, said, volatile)


# What a reader cannot see or is misled by. A fixed list, not unicodedata's categories: these
# grow with Python's version, and a file must be written the same way for ever.
_INVISIBLE = re.compile(
    "[\x7f-\xa0\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u1680"
    "\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def _escaped(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1]


def _plan_subjects(plan: Object, volatile: Object) -> dict[str, str]:
    return {"plan": digest(plan), "volatile": digest(volatile)}


def _pae(payload: bytes) -> bytes:
    """Bind the payload to its type (DSSE protocol.md, "PAE")."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _unbase64(text: str) -> bytes:
    try:
        data = base64.b64decode(text)
    except (binascii.Error, ValueError):
        data = b""
    if _base64(data) != text:  # b64decode passes over what is not base64
        raise Forged("not_an_envelope", "Payload and signature must be padded standard base64.")
    return data


def _loads(data: bytes) -> JSON:
    try:
        return loads(data, limit=MAX_FILE)
    except NotCanonical as refusal:
        raise Forged("not_canonical", f"Not readable safely: {refusal}") from None
