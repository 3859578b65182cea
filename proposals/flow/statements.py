"""What is signed about a proposal: the plan's envelope, that it starts, and how it ended."""

from datetime import datetime
from typing import Any

from checks.simulate import Scene
from checks.verdict import Verdict
from proposals.canonical import JSON, digest
from proposals.evidence import evidence_of, stamp, statement_file
from proposals.plan import Proposal, Target
from proposals.receipt import (
    PREDICATE_END,
    PREDICATE_START,
    Signer,
    plan_file,
    plan_statement,
    sign,
    statement,
)

PREDICATES = {"start": PREDICATE_START, "end": PREDICATE_END}


def plan_bytes(proposal: Proposal, signer: Signer) -> bytes:
    """The bytes of plan.json; the same proposal gives the same bytes at every try."""
    pinned = proposal.plan
    said = plan_statement(pinned.plan, pinned.volatile, _about(proposal))
    return plan_file(pinned.plan, pinned.volatile, sign(said, signer))


def start_of(proposal: Proposal, verdict: Verdict, scene: Scene, now: datetime) -> dict[str, JSON]:
    """What start.json says: who approved what, by which rules, and the nonce of this claim."""
    return {
        **_about(proposal),
        "nonce": proposal.nonce,
        "head": proposal.at.head,
        "plan": proposal.plan.plan,
        **evidence_of(scene, verdict),
        "started": stamp(now),
    }


def end_of(proposal: Proposal, outcome: dict[str, Any]) -> dict[str, JSON]:
    """What end.json says: the receipt, with the plan inside."""
    return {
        **_about(proposal),
        "nonce": proposal.nonce,
        "head": proposal.at.head,
        "plan": proposal.plan.plan,
        **outcome,
    }


def file_of(
    kind: str, proposal: Proposal, predicate: dict[str, JSON], signer: Signer
) -> tuple[str, str]:
    """A statement's file, as people read it and as the key signed it, and the statement's digest.

    The digest is what the next statement of the repository names as the one before it.
    """
    keyed = {**predicate, "key": signer.public_pem().decode()}
    said = statement(PREDICATES[kind], {proposal.id: proposal.plan.digest}, keyed)
    return statement_file(said, sign(said, signer)), digest(said)


def approvals(verdict: Verdict) -> list[JSON]:
    """The approvals that counted, as data."""
    return [
        {
            "id": h.voice.person.id,
            "login": h.voice.person.login,
            "surface": h.voice.surface,
            "key": h.voice.key,
            "head": h.voice.head,
            "at": stamp(h.voice.at),
        }
        for h in verdict.heard
        if h.counts
    ]


def _about(proposal: Proposal) -> dict[str, JSON]:
    identities: list[JSON] = [*sorted(proposal.identities)]
    return {
        "proposal": proposal.id,
        "digest": proposal.plan.digest,
        "agent": proposal.agent,
        "identities": identities,
        "repository": proposal.repository,
        "mode": proposal.mode,
        "created": stamp(proposal.created),
        "expires": stamp(proposal.expires),
        "salt": proposal.salt,
        "parent": proposal.parent,
        "undoes": proposal.undoes,
        "asked_by": dict(proposal.asked_by) if proposal.asked_by else None,
        **({"target": _target(proposal.target)} if proposal.target else {}),
    }


def _target(target: Target) -> JSON:
    """Whose page it is tied to; `pull_request` is null for a bare commit."""
    return {
        "repository": target.repository,
        "pull_request": target.number or None,
        "commit": target.head,
    }
