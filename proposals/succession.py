"""From one signing key to the next: a new key is believed because the one before signed it.

Every statement carries what leads to its key. So an auditor pins the fingerprint of the first key,
once, and follows; a key that none of the trusted ones signed stays unknown.
"""

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from .canonical import JSON, NotCanonical, loads
from .evidence import stamp
from .receipt import (
    BadKey,
    Forged,
    Object,
    Signer,
    fingerprint,
    public_from_pem,
    sign,
    statement,
    verify,
)

PREDICATE_KEY = "urn:placet:predicate:key:v1"


def succeed(old: Signer, new: Signer, now: datetime) -> Signer:
    """The new key as the old one's successor, with everything that leads to it."""
    said = statement(
        PREDICATE_KEY,
        {new.keyid: _digest(new.keyid)},
        {
            "from": old.keyid,
            "from_key": old.public_pem().decode(),
            "to": new.keyid,
            "key": new.public_pem().decode(),
            "signed": stamp(now),
        },
    )
    return Signer(new.private, (*old.before, sign(said, old)))


def keys_of(signer: Signer) -> list[Ed25519PublicKey]:
    """The public halves of a key and of all that came before it."""
    before = (claims(envelope).get("from_key") for envelope in signer.before)
    return [
        *(public_from_pem(pem.encode()) for pem in before if isinstance(pem, str)),
        signer.public,
    ]


@dataclass(slots=True)
class Line:
    """The keys that trusted ones lead to; `place` counts the successions before each.

    `forged` are the fingerprints of keys that only a false succession leads to, `forked` those of
    keys that signed more than one successor.
    """

    found: dict[str, Ed25519PublicKey]
    place: dict[str, int] = field(default_factory=dict)
    forged: frozenset[str] = frozenset()
    forked: frozenset[str] = frozenset()


def follow(trusted: Mapping[str, Ed25519PublicKey], brought: Iterable[JSON]) -> Line:
    """Follow signed successions from trusted keys; whoever brings them need not be trusted."""
    waiting = [(*_names(envelope), envelope) for envelope in brought]
    line = Line(dict(trusted), dict.fromkeys(trusted, 0))
    heirs: dict[str, set[str]] = {}
    grew = True
    while grew:
        grew = False
        for old, new, envelope in waiting:
            if old not in line.found or new in heirs.get(old, set()):
                continue
            if key := _signed(envelope, new, line.found[old]):
                heirs.setdefault(old, set()).add(new)
                line.found.setdefault(new, key)
                line.place[new] = max(line.place.get(new, 0), line.place[old] + 1)
                grew = True
    line.forged = frozenset(new for _, new, _ in waiting if new and new not in line.found)
    line.forked = frozenset(old for old, found in heirs.items() if len(found) > 1)
    return line


def _signed(envelope: JSON, new: str, old: Ed25519PublicKey) -> Ed25519PublicKey | None:
    """The key that this envelope names as the next, if the old one's holder signed that."""
    try:
        said = verify(envelope, old, predicate_type=PREDICATE_KEY)["predicate"]
        pem = said.get("key") if isinstance(said, dict) else None
        key = public_from_pem(pem.encode()) if isinstance(pem, str) else None
    except (Forged, BadKey):
        return None
    return key if key and fingerprint(key) == new else None


def _names(envelope: JSON) -> tuple[str, str]:
    """Which key a succession says it comes from and leads to; nobody vouches for it yet."""
    said = claims(envelope)
    old, new = said.get("from"), said.get("to")
    return (old if isinstance(old, str) else "", new if isinstance(new, str) else "")


def claims(envelope: JSON) -> Object:
    """What a succession says, whoever signed it; its keys are to be known by fingerprint alone."""
    payload = envelope.get("payload") if isinstance(envelope, dict) else None
    try:
        said = loads(base64.b64decode(payload)) if isinstance(payload, str) else None
    except (NotCanonical, ValueError):
        return {}
    predicate = said.get("predicate") if isinstance(said, dict) else None
    return predicate if isinstance(predicate, dict) else {}


def _digest(keyid: str) -> str:
    """A fingerprint as a digest: the same SHA-256 in hex."""
    raw = base64.b64decode(keyid.removeprefix("SHA256:") + "=")
    return f"sha256:{raw.hex()}"
