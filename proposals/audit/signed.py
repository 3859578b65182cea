"""Signed files, opened with trusted keys only; what does not open says why in plain words."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from proposals.canonical import JSON, NotCanonical, digest, loads, same
from proposals.evidence import statement_file
from proposals.receipt import (
    MAX_FILE,
    PREDICATE_END,
    PREDICATE_START,
    BadKey,
    Forged,
    PlanFile,
    fingerprint,
    public_from_pem,
    read_plan_file,
    verify,
)
from proposals.succession import Line, claims, follow

from .ledger import File, Spot
from .report import Finding

Object = dict[str, JSON]
PREDICATES = {"start": PREDICATE_START, "end": PREDICATE_END}

_WORDS = {
    "bad_signature": "the signature does not fit: what it signs was changed afterwards",
    "wrong_subject": "the plan was edited: it is not the plan whose digest was signed",
    "wrong_rendering": "the file was edited: its bytes are not those that Placet wrote",
    "wrong_predicate": "it is signed as something else than its name says",
}


@dataclass(frozen=True, slots=True)
class Keys:
    """The trusted fingerprints, and the public keys found of them and of their successors."""

    trusted: frozenset[str]
    line: Line

    @classmethod
    def of(
        cls, trusted: Iterable[str], given: Iterable[Ed25519PublicKey], files: Iterable[File]
    ) -> Self:
        """Take keys that were given, and those that travel in statements, by fingerprint alone.

        A fingerprint is a hash of the whole key, so it does not matter who brings the key, nor who
        brings what leads from it to the next.
        """
        wanted, files = frozenset(trusted), [*files]
        brought = [envelope for file in files for envelope in _successions(file)]
        keys = [*given, *(key for file in files for key in _carried(file))]
        keys += [key for e in brought for key in _public(claims(e).get("from_key"))]
        return cls(wanted, follow({f: k for k in keys if (f := fingerprint(k)) in wanted}, brought))

    @property
    def found(self) -> Mapping[str, Ed25519PublicKey]:
        """The public keys that open anything, by fingerprint."""
        return self.line.found

    def of_envelope(self, envelope: JSON) -> Ed25519PublicKey:
        """The key that an envelope names; Forged when it is not trusted or not here."""
        match envelope:
            case {"signatures": [{"keyid": str(named)}]}:
                pass
            case _:
                raise Forged("not_an_envelope", "it carries no signature as Placet writes them")
        if named in self.found:
            return self.found[named]
        if named in self.line.forged:
            why = f"the key {named:.80} is said to follow a trusted one, which did not sign that"
            raise Forged("forged_rotation", why)
        if named in self.trusted:
            why = f"the public key {named} is not in the clone: give it with --key"
            raise Forged("no_key", why)
        raise Forged("wrong_key", f"it is signed with a key that you do not trust ({named:.80})")


@dataclass(frozen=True, slots=True)
class Said:
    """One statement that a trusted `key` signed, and the file that it stands in."""

    file: File
    spot: Spot
    statement: Object
    digest: str
    key: str = ""

    @property
    def predicate(self) -> Object:
        """What it says."""
        said = self.statement["predicate"]
        return said if isinstance(said, dict) else {}

    @property
    def seq(self) -> int:
        """Its number; 0 when it has none."""
        said = self.predicate.get("seq")
        return said if isinstance(said, int) and said > 0 else 0

    def text(self, name: str) -> str:
        """A member of the predicate that is text, or ""."""
        said = self.predicate.get(name)
        return said if isinstance(said, str) else ""

    def finding(self, code: str, why: str) -> Finding:
        """A finding about this statement."""
        return Finding(code, why, self.file.path, self.file.commit, self.spot.proposal)


def read_statement(file: File, spot: Spot, keys: Keys) -> Said | Finding:
    """Open start.json or end.json; both of its halves must say the same, to the byte."""
    try:
        both = _both(file)
        key = keys.of_envelope(both["envelope"])
        said = verify(both["envelope"], key, predicate_type=PREDICATES[spot.kind])
    except Forged as forged:
        return _refused(file, spot, forged)
    if not same(said, both["statement"]):
        why = "what people read in it is not what was signed: the readable part was edited"
        return Finding("readable_differs", why, file.path, file.commit, spot.proposal)
    if statement_file(_object(both["statement"]), _object(both["envelope"])).encode() != file.data:
        return _refused(file, spot, Forged("wrong_rendering", ""))
    return Said(file, spot, said, digest(said), fingerprint(key))


def read_plan(file: File, spot: Spot, keys: Keys) -> PlanFile | Finding:
    """Open plan.json: bytes, digest and signature, and it must lie in its own folder."""
    try:
        key = keys.of_envelope(_object(_loads(file)).get("envelope"))
        read = read_plan_file(file.data or b"", key)
    except Forged as forged:
        return _refused(file, spot, forged)
    said = read.statement["predicate"]
    if not (isinstance(said, dict) and said.get("proposal") == spot.proposal):
        why = "the plan was moved: it was signed for another proposal"
        return Finding("plan_moved", why, file.path, file.commit, spot.proposal)
    return read


def claimed(file: File) -> Object:
    """What the readable part of a statement claims, for words only; nobody vouches for it."""
    try:
        statement = _both(file)["statement"]
    except Forged:
        return {}
    said = statement.get("predicate") if isinstance(statement, dict) else None
    return said if isinstance(said, dict) else {}


def _carried(file: File) -> Iterable[Ed25519PublicKey]:
    return _public(claimed(file).get("key") if file.spot and file.spot.kind != "plan" else None)


def _successions(file: File) -> list[JSON]:
    """What a statement brings of the line of keys."""
    listed = claimed(file).get("keys") if file.spot and file.spot.kind != "plan" else None
    return listed if isinstance(listed, list) else []


def _public(pem: JSON) -> Iterable[Ed25519PublicKey]:
    try:
        return [public_from_pem(pem.encode())] if isinstance(pem, str) else []
    except BadKey:
        return []


def _both(file: File) -> Object:
    match _loads(file):
        case {"statement": dict(said), "envelope": dict(envelope), **rest} if not rest:
            return {"statement": said, "envelope": envelope}
    raise Forged("not_a_statement", "this is no statement as Placet writes it")


def _loads(file: File) -> JSON:
    if file.data is None:
        raise Forged("too_large", "it is larger than anything Placet writes")
    try:
        return loads(file.data, limit=MAX_FILE)
    except NotCanonical as refusal:
        raise Forged("not_canonical", f"it cannot be read safely: {refusal}") from None


def _object(value: JSON) -> Object:
    return value if isinstance(value, dict) else {}


def _refused(file: File, spot: Spot, forged: Forged) -> Finding:
    why = _WORDS.get(forged.code, str(forged))
    return Finding(forged.code, why, file.path, file.commit, spot.proposal)
