"""What a start that asked nobody was judged by, as its statement carries it; judged again from it.

Whoever reads the statement can give the verdict anew, without the server and without GitHub.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from checks.facts import Facts
from checks.facts import Unasked as Said
from checks.policy import Freeze, Policy, Source
from checks.unasked import judge_unasked
from checks.verdict import Verdict

from .canonical import JSON, NotCanonical, canonical, digest
from .confirm import Confirmation
from .evidence import BadEvidence, Object, fault, stamp


def evidence_of_unasked(
    sources: Sequence[Source], verdict: Verdict, now: datetime, confirmation: Confirmation | None
) -> Object:
    """What a start was allowed by: no approval, the freezes of the policies, and perhaps a token.

    In mode `confirm` that of the preview, named by its SHA-256: the agent's own, nobody's consent.
    """
    return {
        "approvals": [],
        "policies": [_policy(source) for source in sources],
        "confirmed": _confirmed(confirmation) if confirmation else None,
        "judged": stamp(now),
        "valid_until": stamp(verdict.valid_until),
        "verdict": verdict.decision.value,
    }


def restores(undo: Mapping[str, JSON], plan: Mapping[str, JSON]) -> bool:
    """Whether a plan puts exactly that back which another one changes, and touches nothing else."""
    back, there = _changes(undo, "after", "before"), _changes(plan, "before", "after")
    return back is not None and back == there


def priced(cost: JSON) -> str:
    """What a plan says that it costs, in words; "" when that is nothing, or it does not say."""
    if not isinstance(cost, Mapping):
        return "" if cost is None else str(cost)[:60]
    if _nothing(cost.get("amount")):
        return ""
    return f"{cost.get('amount')} {cost.get('unit')}"[:60]


def _nothing(amount: JSON) -> bool:
    try:
        return Decimal(str(amount)) == 0
    except InvalidOperation:
        return False


def _changes(plan: Mapping[str, JSON], first: str, second: str) -> list[str] | None:
    """Each change as a digest, in a fixed order; None when they do not all say what they change."""
    effects = plan.get("effects")
    if not isinstance(effects, list) or not effects:
        return None
    named: list[str] = []
    for effect in effects:
        if not isinstance(effect, dict) or not {"what", "before", "after"} <= effect.keys():
            return None
        named.append(digest([effect["what"], effect[first], effect[second]]))
    return sorted(named)


class _Loose(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class _Policy(_Strict):
    policy: str
    blob: str | None
    digest: str
    freeze: list[Freeze]


class Token(_Strict):
    """The token of a preview, as a start names it."""

    token: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    agent: str
    call: str
    plan: str
    previewed: AwareDatetime
    expires: AwareDatetime


class _Tool(_Loose):
    name: str
    effect: str
    touches: list[str] = []
    undo: bool
    verb: str = "apply"


class _Plan(_Loose):
    tool: _Tool
    cost: Any = None


class Unasked(_Loose):
    """A start that asked nobody, as far as it is judged."""

    mode: Literal["confirm", "announce"]
    agent: str
    undoes: str | None
    digest: str
    plan: _Plan
    policies: Annotated[list[_Policy], Field(min_length=1)]
    confirmed: Token | None
    judged: AwareDatetime
    started: AwareDatetime
    valid_until: AwareDatetime
    expires: AwareDatetime

    def verdict(self) -> Verdict:
        """The verdict anew, at the moment of the old one."""
        tool = self.plan.tool
        facts = Facts(
            tool=tool.name,
            effect=tool.effect,
            digest=self.digest,
            identities=frozenset(),
            valid_from=self.judged,
            expires=self.expires,
            pinned_head="",
            head="",
            pinned_base="",
            base="",
            agent=self.agent,
            touches=frozenset(tool.touches),
            unasked=Said(mode=self.mode, declared=self.mode, cost=priced(self.plan.cost)),
        )
        return judge_unasked(facts, [_source(p) for p in self.policies], self.judged)


def unasked_of(predicate: Mapping[str, JSON]) -> Unasked:
    """What a start's predicate tells of it; BadEvidence when that is not whole."""
    try:
        return Unasked.model_validate_json(canonical(dict(predicate)))
    except (ValidationError, NotCanonical) as error:
        raise BadEvidence(fault(error)) from None


def _policy(source: Source) -> Object:
    policy = source.policy or Policy.model_construct(version=1, rules=(), freeze=())
    whole = policy.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {
        "policy": source.name,
        "blob": source.blob,
        "digest": digest(whole),
        "freeze": whole["freeze"],
    }


def _confirmed(confirmation: Confirmation) -> Object:
    return {
        "token": confirmation.token,
        "agent": confirmation.bound.agent,
        "call": confirmation.bound.call,
        "plan": confirmation.bound.plan,
        "previewed": stamp(confirmation.created),
        "expires": stamp(confirmation.expires),
    }


def _source(said: _Policy) -> Source:
    policy = Policy.model_construct(version=1, rules=(), freeze=tuple(said.freeze))
    return Source(said.policy, policy, blob=said.blob)
