"""What a start was judged by, as its statement carries it, and judged again from there alone.

A statement names everybody who said yes with what they were allowed to do, and the matched rule
of each policy. Whoever reads it can give the verdict anew, without the server and without GitHub.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from checks.counting import matched
from checks.facts import Access, Facts, Form, Person, Stance, Surface, Voice
from checks.policy import Freeze, Policy, PolicyError, Rule, Source
from checks.remembered import policy_of
from checks.simulate import Scene
from checks.verdict import Verdict

from .canonical import JSON, NotCanonical, canonical, digest

Object = dict[str, JSON]


class BadEvidence(ValueError):
    """A start that does not say what it was judged by; the message says what is missing."""


def stamp(moment: datetime) -> str:
    """A moment as statements write it: UTC, to the millisecond."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def moment(text: str) -> datetime | None:
    """The moment that a statement names; None for words that are no moment, or in no zone."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else None


def statement_file(said: Object, envelope: Object) -> str:
    """A statement's file: as people read it and as the key signed it, always in these bytes."""
    return json.dumps({"statement": said, "envelope": envelope}, indent=2, sort_keys=True) + "\n"


def evidence_of(scene: Scene, verdict: Verdict) -> Object:
    """What a yes was given by: the approvals that counted, the matched rules, who was excluded."""
    facts = scene.facts
    excluded: Object = {
        "identities": [*sorted(facts.identities)],
        "askers": [*sorted(facts.askers)],
        "machines": [*sorted(facts.machines)],
        "contributors": [*sorted(facts.contributors)],
    }
    return {
        "approvals": [_approval(h.voice, facts) for h in verdict.heard if h.counts],
        "rules": [_rule(s, place, rule) for s, place, rule in matched(facts, scene.sources)],
        "people": dict(sorted(facts.people.items())),
        "excluded": excluded,
        "valid_from": stamp(facts.valid_from),
        "form": facts.form.value,
        "announced": facts.announced,
        "judged": stamp(scene.now),
        "valid_until": stamp(verdict.valid_until),
    }


def approval(voice: Voice) -> Object:
    """One approval as every statement names it: who, where, about what, and what brought it."""
    return {
        "id": voice.person.id,
        "login": voice.person.login,
        "surface": voice.surface.value,
        "key": voice.key,
        "head": voice.head,
        "at": stamp(voice.at),
        "delivery": voice.delivery,
        "authenticated": voice.proof,
        "link": voice.link,
    }


def text_digest(text: str) -> str:
    """The digest of a comment's words, whatever GitHub's forms do to the ends of its lines."""
    return digest(text.replace("\r\n", "\n").rstrip())


def scene_of(predicate: Mapping[str, JSON]) -> Scene:
    """The scene that a start's predicate tells of; BadEvidence when it is not whole.

    The plan in the predicate names the tool, the predicate the digest, the head and the end.
    """
    try:
        said = _Start.model_validate_json(canonical({n: predicate.get(n) for n in _NAMES}))
        sources = tuple(_source(rule) for rule in said.rules)
    except (ValidationError, NotCanonical) as error:
        raise BadEvidence(fault(error)) from None
    facts = Facts(
        tool=said.plan.tool.name,
        effect=said.plan.tool.effect,
        digest=said.digest,
        identities=frozenset({*said.identities, *said.excluded.identities}),
        valid_from=said.valid_from,
        expires=said.expires,
        pinned_head=said.head,
        head=said.head,
        pinned_base="",
        base="",
        askers=frozenset(said.excluded.askers),
        machines=frozenset(said.excluded.machines),
        contributors=frozenset(said.excluded.contributors),
        people=said.people,
        voices=tuple(_voice(a) for a in said.approvals),
        access={a.id: Access(a.id, a.permission, frozenset(a.teams)) for a in said.approvals},
        form=said.form or Form.PULL_REQUEST,
        announced=said.announced,
        agent=said.agent,
    )
    return Scene(facts, sources, said.judged)


def same_rule(predicate: Mapping[str, JSON], place: int, text: str) -> bool | None:
    """Whether rule number `place` of the statement is the one that this policy file has.

    None when the file cannot be used as a policy.
    """
    scene = scene_of(predicate)
    recorded = predicate["rules"]
    try:
        hit = policy_of(text).rule_for(scene.facts.tool)
    except PolicyError:
        return None
    entry = recorded[place] if isinstance(recorded, list) else None
    policy = scene.sources[place].policy
    numbered = entry.get("rule") if isinstance(entry, dict) else None
    return bool(hit and policy and (numbered, policy.rules[0]) == hit)


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class _Loose(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


class _Approval(_Strict):
    id: int
    login: str
    kind: str
    surface: Surface
    key: str
    order: int
    head: str | None
    digest: str | None
    at: AwareDatetime
    permission: str | None
    teams: list[str]
    delivery: str | None = None
    authenticated: str | None = None
    link: str | None = None
    text_digest: str | None = None


class _Recorded(_Strict):
    policy: str
    rule: int
    blob: str | None
    digest: str
    matched: Rule
    freeze: list[Freeze]


class _Excluded(_Strict):
    identities: list[int]
    askers: list[int] = []  # statements from before it existed have none
    machines: list[int]
    contributors: list[int]


class _Tool(_Loose):
    name: str
    effect: str


class _Plan(_Loose):
    tool: _Tool


class _Start(_Strict):
    agent: str
    approvals: list[_Approval]
    rules: Annotated[list[_Recorded], Field(min_length=1)]
    people: dict[str, int]
    excluded: _Excluded
    valid_from: AwareDatetime
    form: Form | None
    announced: int | None
    judged: AwareDatetime
    expires: AwareDatetime
    identities: list[int]
    digest: str
    head: str
    plan: _Plan


_NAMES = tuple(_Start.model_fields)


def _approval(voice: Voice, facts: Facts) -> JSON:
    access = facts.access.get(voice.person.id)
    return {
        **approval(voice),
        "kind": voice.person.kind,
        "order": voice.order,
        "digest": voice.digest,
        "text_digest": text_digest(voice.text) if voice.text is not None else None,
        "permission": access.permission if access else None,
        "teams": [*sorted(access.teams)] if access else [],
    }


def _rule(source: Source, place: int, rule: Rule) -> JSON:
    """One policy's matched rule; `digest` is of the whole policy, `blob` its file's git sha."""
    policy = source.policy or Policy(version=1, rules=(rule,))
    whole = policy.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {
        "policy": source.name,
        "rule": place,
        "blob": source.blob,
        "digest": digest(whole),
        "matched": rule.model_dump(mode="json", by_alias=True, exclude_none=True),
        "freeze": whole["freeze"],
    }


def _voice(said: _Approval) -> Voice:
    person = Person(said.id, said.login, said.kind)
    return Voice(
        said.key,
        person,
        said.surface,
        Stance.APPROVE,
        said.at,
        said.order,
        head=said.head,
        digest=said.digest,
    )


def _source(said: _Recorded) -> Source:
    policy = Policy.model_construct(version=1, rules=(said.matched,), freeze=tuple(said.freeze))
    return Source(said.policy, policy, blob=said.blob)


def fault(error: ValidationError | NotCanonical) -> str:
    """The first thing that is wrong with a statement, in words."""
    if isinstance(error, NotCanonical):
        return str(error)
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(str(step) for step in first['loc'])}: {first['msg']}"
