"""What is signed about a proposal: the plan's envelope, that it starts, and how it ended."""

from datetime import datetime
from importlib.metadata import version
from platform import python_version
from typing import Any

from checks.simulate import Scene
from checks.verdict import Verdict
from proposals.canonical import JSON, canonical, digest
from proposals.evidence import approval, evidence_of, stamp, statement_file
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

SMALL = 4096
"""Bytes of a result that still stands in a receipt as a whole."""
ABOUT = frozenset(
    (
        *("proposal", "digest", "agent", "identities", "repository", "policy_blob", "mode"),
        *("created", "expires", "salt", "parent", "undoes", "asked_by", "target", "summary"),
        *("head", "page", "versions", "nonce", "plan", "fact", "seq", "prev", "key", "keys"),
    )
)
"""What every statement says of its proposal and of itself; the rest is what it is about."""
VERSIONS: dict[str, JSON] = {"placet": version("placet"), "python": python_version()}


def plan_bytes(proposal: Proposal, signer: Signer) -> bytes:
    """The bytes of plan.json; the same proposal gives the same bytes at every try."""
    pinned = proposal.plan
    said = plan_statement(pinned.plan, pinned.volatile, _about(proposal))
    return plan_file(pinned.plan, pinned.volatile, sign(said, signer))


def start_of(proposal: Proposal, verdict: Verdict, scene: Scene, now: datetime) -> dict[str, JSON]:
    """What start.json says: who approved what, by which rules, and the nonce of this claim."""
    return {
        **_shown(proposal),
        "nonce": proposal.nonce,
        "plan": proposal.plan.plan,
        **evidence_of(scene, verdict),
        "verdict": verdict.decision.value,
        "started": stamp(now),
    }


def start_unasked(proposal: Proposal, evidence: dict[str, JSON], now: datetime) -> dict[str, JSON]:
    """What start.json says of a start that nobody was asked about."""
    return {
        **_shown(proposal),
        "nonce": proposal.nonce,
        "plan": proposal.plan.plan,
        **evidence,
        "started": stamp(now),
    }


def end_of(proposal: Proposal, outcome: dict[str, Any]) -> dict[str, JSON]:
    """What end.json says: the receipt, with the plan inside; a later fact says which in `fact`."""
    return {
        **_shown(proposal),
        "nonce": proposal.nonce,
        "plan": proposal.plan.plan,
        "fact": "outcome",
        **_short(outcome),
    }


def _short(outcome: dict[str, Any]) -> dict[str, JSON]:
    """An outcome with the digest of the tool's result, and the result itself when it is small."""
    if "result" not in outcome:
        return outcome
    text = canonical(outcome["result"])
    named = {**outcome, "result_digest": digest(outcome["result"])}
    return named if len(text) <= SMALL else {n: v for n, v in named.items() if n != "result"}


def file_of(
    kind: str, proposal: Proposal, predicate: dict[str, JSON], signer: Signer
) -> tuple[str, str]:
    """A statement's file, as people read it and as the key signed it, and the statement's digest.

    The digest is what the next statement of the repository names as the one before it.
    """
    line: list[JSON] = [*signer.before]
    keyed = {**predicate, "key": signer.public_pem().decode(), "keys": line}
    subjects = {proposal.id: proposal.plan.digest}
    if proposal.place:
        subjects["head"] = f"gitCommit:{proposal.place.head}"
    said = statement(PREDICATE_START if kind == "start" else PREDICATE_END, subjects, keyed)
    return statement_file(said, sign(said, signer)), digest(said)


def approvals(verdict: Verdict) -> list[JSON]:
    """The approvals that counted, as data."""
    return [approval(h.voice) for h in verdict.heard if h.counts]


def _about(proposal: Proposal) -> dict[str, JSON]:
    identities: list[JSON] = [*sorted(proposal.identities)]
    return {
        "proposal": proposal.id,
        "digest": proposal.plan.digest,
        "agent": proposal.agent,
        "identities": identities,
        "repository": proposal.repository,
        "policy_blob": proposal.policy_blob,
        "mode": proposal.mode,
        "created": stamp(proposal.created),
        "expires": stamp(proposal.expires),
        "salt": proposal.salt,
        "parent": proposal.parent,
        "undoes": proposal.undoes,
        "asked_by": dict(proposal.asked_by) if proposal.asked_by else None,
        **({"target": _target(proposal.target)} if proposal.target else {}),
    }


def _shown(proposal: Proposal) -> dict[str, JSON]:
    """What `_about` holds, which commit people saw on which page, and the versions that wrote it.

    None of it stands in plan.json, which is the same at every try. `pull_request` is null on a bare
    commit; all of it is when no people were asked.
    """
    place = proposal.place
    if place is None:
        unseen: dict[str, JSON] = {"summary": proposal.summary, "head": None, "page": None}
        return {**_about(proposal), **unseen, "versions": VERSIONS}
    page: dict[str, JSON] = {
        "pull_request": place.number or None,
        "url": place.url,
        "check_run": place.check_run,
        "opened": stamp(place.opened),
        "base": place.base,
        "announced": place.announced,
        "home": place.home,
    }
    shown: dict[str, JSON] = {"summary": proposal.summary, "head": place.head, "page": page}
    return {**_about(proposal), **shown, "versions": VERSIONS}


def _target(target: Target) -> JSON:
    """Whose page it is tied to; `pull_request` is null for a bare commit."""
    return {
        "repository": target.repository,
        "name": target.name,
        "pull_request": target.number or None,
        "commit": target.head,
    }
