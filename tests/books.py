"""A ledger as values, written by the product's own hands, for the tests of the audit."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from checks.facts import Access, Facts, Person, Stance, Surface, Voice
from checks.policy import Source, load
from checks.simulate import Scene
from proposals.audit import Change, Commit, File, Ledger
from proposals.evidence import stamp
from proposals.flow.statements import approvals, end_of, file_of, plan_bytes, start_of
from proposals.lifecycle import State
from proposals.plan import Place, Planned, Proposal, pin
from proposals.receipt import Signer
from proposals.trailers import trailers

POLICY = """\
version: 1
rules:
  - tools: ["box.*"]
    require: [{approvals: 1, from: [user:lee, team:acme/data]}]
    approval_valid: 30m
    expires: 4h
"""
BLOB = sha1(f"blob {len(POLICY)}\0{POLICY}".encode(), usedforsecurity=False).hexdigest()
SOURCES = tuple(Source(n, load(POLICY), blob=BLOB) for n in ("propose", "current"))
SIGNER = Signer(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
OTHER = Signer(Ed25519PrivateKey.from_private_bytes(bytes(32)))
NOW = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)
REQUESTER, LEE, REPOSITORY = 5100019, 9, 1296269
Object = dict[str, Any]


def proposal(n: int, signed_by: Signer = SIGNER) -> Proposal:
    """Proposal number n, opened ten minutes ago and approved by lee."""
    tool: Object = {"name": "box.add", "kind": "command", "effect": "write", "definition": "d"}
    pinned = pin(tool, {"n": n}, Planned([{"what": "value", "before": 1, "after": 1 + n}]))
    made = Proposal(
        id=f"p_{n:016x}",
        agent="cleanup-bot",
        tool="box.add",
        arguments={"n": n},
        state=State.STARTED,
        repository=REPOSITORY,
        identities=frozenset({REQUESTER}),
        created=NOW - timedelta(minutes=10),
        expires=NOW + timedelta(hours=4),
        salt=f"{n:032x}",
        pinned=pinned,
        nonce=f"{n:064x}",
    )
    head = sha1(plan_bytes(made, signed_by), usedforsecurity=False).hexdigest()
    branch = f"placet/p/{made.id}"
    place = Place(branch, "placet/ledger", head, n, "u", n, NOW - timedelta(minutes=9))
    return replace(made, place=place)


def scene(of: Proposal, who: Person | None = None, permission: str = "write") -> Scene:
    """What the judge sees of it: lee approved the pinned commit a minute ago."""
    person = who or Person(LEE, "lee")
    at = NOW - timedelta(minutes=1)
    voice = Voice(
        "review:81", person, Surface.REVIEW, Stance.APPROVE, at, 81, head=of.at.head
    )  # fmt: skip
    facts = Facts(
        tool=of.tool,
        effect="write",
        digest=of.plan.digest,
        identities=of.identities,
        valid_from=of.at.opened,
        expires=of.expires,
        pinned_head=of.at.head,
        head=of.at.head,
        pinned_base="placet/ledger",
        base="placet/ledger",
        people={"lee": LEE},
        voices=(voice,),
        access={person.id: Access(person.id, permission, frozenset({"acme/data"}))},
    )
    return Scene(facts, SOURCES, NOW)


@dataclass
class Said:
    """A statement still to be numbered and signed."""

    of: Proposal
    kind: str
    predicate: Object
    folder: str = ""
    seq: int | None = None
    signer: Signer | None = None


@dataclass
class Book:
    """A ledger in the making: proposals 1 and 2 were applied, 3 was rejected."""

    said: list[Said] = field(default_factory=list)
    plans: dict[str, Proposal] = field(default_factory=dict)
    commits: list[Commit] = field(default_factory=list)
    signer: Signer = SIGNER

    def ran(self, of: Proposal, how: Scene | None = None) -> None:
        """Write that a proposal was started and applied, and merged."""
        judged = how or scene(of)
        verdict = judged.verdict()
        self.said.append(Said(of, "start", start_of(of, verdict, judged, NOW)))
        by = approvals(verdict)
        outcome = {"outcome": "applied", "basis": "verified", "at": stamp(NOW), "approved_by": by}
        self.said.append(Said(of, "end", end_of(of, outcome)))
        self.plans[of.id] = of
        text = trailers(
            proposal=of.id,
            plan=of.plan.digest,
            outcome="applied (verified)",
            approved_by=["lee (9, review)"],
        )
        self.commits.append(Commit(f"m{of.id}", ("t", of.at.head), f"Placet: it\n\n{text}"))

    def later(self, of: Proposal, kind: str, **said: Any) -> None:
        """Write what became known of a proposal afterwards."""
        self.said.append(Said(of, kind, end_of(of, {"at": stamp(NOW), **said})))

    def refused(self, of: Proposal) -> None:
        """Write that a proposal was rejected."""
        self.said.append(Said(of, "end", end_of(of, {"outcome": "ended", "reason": "rejected"})))

    def files(self) -> list[File]:
        """Number, chain and sign everything; the files as the ledger has them."""
        prev, found = None, []
        for n, one in enumerate(self.said, 1):
            numbered = {**one.predicate, "seq": one.seq or n, "prev": prev}
            text, prev = file_of(one.kind, one.of, numbered, one.signer or self.signer)
            found.append(File(self.path(one), text.encode(), f"c{n}"))
        for of in self.plans.values():
            path = f"proposals/2026/11/{of.id}/plan.json"
            found.append(File(path, plan_bytes(of, self.signer), f"m{of.id}"))
        return [File("README.md", b"# Placet's ledger\n", "c0"), *found]

    @staticmethod
    def path(one: Said) -> str:
        return f"proposals/2026/11/{one.folder or one.of.id}/{one.kind}.json"

    def ledger(self, change: Callable[[list[File]], list[File]] = lambda files: files) -> Ledger:
        """The ledger as an auditor reads it, after somebody had their way with the files."""
        files = change(self.files())
        own = [Commit(f"c{n}", (), "") for n in range(len(self.said), -1, -1)]
        heads = frozenset(of.at.head for of in self.plans.values())
        return Ledger(
            tip="c9",
            files=tuple(files),
            changes=tuple(Change(f.commit, "A", f.path) for f in files),
            commits=(*self.commits, *own),
            reachable=heads,
            look={BLOB: POLICY.encode()}.get,
        )


def book() -> Book:
    """Two applied and one rejected."""
    made = Book()
    made.ran(proposal(1))
    made.ran(proposal(2))
    made.refused(proposal(3))
    return made
