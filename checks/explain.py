"""A verdict laid open: which rule of which policy, who fills which place, what is missing, why."""

from datetime import datetime
from typing import Any

from .counting import Policies, counted, matched, places, seated
from .facts import NOBODY, Facts, Person, Stance, Voice
from .policy import Group, Rule, Source, folded
from .reasons import REASONS, Finding, Reason, Weight
from .verdict import Decision, Verdict
from .voices import Heard, excluded, ineligible, lapses, spoken

ONLY_THOSE_HEARD = (
    "Placet asks GitHub only about people who have said something here; whoever else fits the "
    "rule can approve too."
)
_SETTLED = {
    Decision.ENDED: "Nobody: it is over.",
    Decision.APPROVED: "Nobody else is needed.",
}


def explain(facts: Facts, sources: Policies, verdict: Verdict, now: datetime) -> dict[str, Any]:
    """The rule tree of a verdict as JSON data; the same values give the same data.

    `verdict` must have been given on these facts and sources, and `now` be its moment. Where the
    facts do not hold what somebody who approved may do, `filled` is None and not a guess.
    """
    return {
        "decision": verdict.decision.value,
        "findings": [_finding(f) for f in verdict.findings if not _of_a_stance(f, verdict)],
        "policies": [_policy(source, facts, verdict, now) for source in sources],
        "stances": [_stance(h, facts, sources, verdict) for h in verdict.heard],
        "could_approve": _could_approve(facts, sources, verdict, now),
        "expires": stamp(facts.expires),
        "valid_until": stamp(verdict.valid_until),
    }


def stamp(at: datetime) -> str:
    """A moment as data: UTC, in whole seconds."""
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")


def _finding(found: Finding) -> dict[str, Any]:
    meaning = REASONS[found.reason]
    return {
        "code": found.reason.value,
        "weight": meaning.weight.value,
        "means": meaning.means,
        "because": found.because,
        "remedy": meaning.remedy,
        "policy": found.policy or None,
        "who": found.who or None,
    }


def _of_a_stance(found: Finding, verdict: Verdict) -> bool:
    """What is said of a stance stands beside that stance, not here as well."""
    return found.weight is Weight.NOTES and any(
        h.reason is found.reason and h.voice.person.login == found.who for h in verdict.heard
    )


def _policy(source: Source, facts: Facts, verdict: Verdict, now: datetime) -> dict[str, Any]:
    hit = source.policy.rule_for(facts.tool) if source.policy else None
    unusable = source.policy is None
    return {
        "name": source.name,
        "blob": source.blob,
        "problem": (source.problem or "the policy is missing") if unusable else None,
        "missing": next(
            (
                f.because.removesuffix(" still needed")
                for f in verdict.findings
                if f.reason is Reason.APPROVALS_MISSING and f.policy == source.name
            ),
            None,
        ),
        "rule": _rule(*hit, facts, now) if hit else None,
    }


def _rule(place: int, rule: Rule, facts: Facts, now: datetime) -> dict[str, Any]:
    lasts = rule.approval_valid
    return {
        "place": place,
        "tools": list(rule.tools),
        "requesters": list(rule.requesters) if rule.requesters else None,
        "permission": rule.permission,
        "surfaces": [surface.value for surface in rule.surfaces],
        "approval_valid": int(lasts.total_seconds()) if lasts else None,
        "message": rule.message,
        "groups": [_group(g, filled) for g, filled in _filled(facts, rule, now)],
    }


def _group(group: Group, filled: list[Voice] | None) -> dict[str, Any]:
    return {
        "asks": str(group),
        "approvals": group.approvals,
        "from": list(group.from_) if group.from_ is not None else None,
        "filled": None if filled is None else [_said(voice) for voice in filled],
    }


def _filled(facts: Facts, rule: Rule, now: datetime) -> list[tuple[Group, list[Voice] | None]]:
    """Each group of a rule with those who fill its places; None: not known from these facts."""
    if not _looked_up(facts):
        return [(group, None) for group in rule.require]
    taken = seated(counted(facts, rule, now), places(rule), facts)
    found: list[tuple[Group, list[Voice] | None]] = []
    first = 0
    for group in rule.require:
        mine = range(first, first + group.approvals)
        found.append((group, [taken[place] for place in mine if place in taken]))
        first += group.approvals
    return found


def _looked_up(facts: Facts) -> bool:
    """Whether GitHub was asked about everybody whose yes could count."""
    yes = [v.person for v in spoken(facts) if v.stance is Stance.APPROVE]
    return all(p.id in facts.access for p in yes if excluded(p, facts) is None)


def _person(person: Person) -> dict[str, Any]:
    return {"login": person.login, "id": person.id}


def _said(voice: Voice) -> dict[str, Any]:
    return _person(voice.person) | {
        "key": voice.key,
        "surface": voice.surface.value,
        "stance": voice.stance.value,
        "at": stamp(voice.at),
    }


def _stance(heard: Heard, facts: Facts, sources: Policies, verdict: Verdict) -> dict[str, Any]:
    voice, meaning = heard.voice, REASONS[heard.reason] if heard.reason else None
    lifted = meaning is None and voice.stance is Stance.BLOCK and not _holds(voice, verdict)
    ends = [m for _, _, rule in matched(facts, sources) if (m := lapses(voice, rule))]
    return _said(voice) | {
        "counts": meaning is None and not lifted,
        "reason": heard.reason.value if heard.reason else None,
        "means": "It no longer holds." if lifted else meaning.means if meaning else None,
        "remedy": meaning.remedy if meaning else None,
        "lapses": stamp(min(ends)) if heard.counts and ends else None,
    }


def _holds(voice: Voice, verdict: Verdict) -> bool:
    who = voice.person.login
    return any(f.reason is Reason.BLOCKED and f.who == who for f in verdict.findings)


def _could_approve(
    facts: Facts, sources: Policies, verdict: Verdict, now: datetime
) -> dict[str, Any]:
    """Who could still approve, as far as facts and policies tell; `note` says how far that is.

    `heard`: who said something, may decide and does not count now. `named`: whom the places still
    free ask for. `anyone`: the access that is enough for a free place which names nobody.
    """
    rules = [rule for _, _, rule in matched(facts, sources)]
    note = _SETTLED.get(verdict.decision)
    if note is None and len(rules) < max(1, len(sources)):
        note = "Nobody, until the policy is mended."
    if any(f.reason is Reason.REQUESTER_NOT_ALLOWED for f in verdict.findings):
        note = note or "Nobody: the rule takes no requests of this agent."
    if note:
        return {"heard": [], "named": [], "anyone": None, "note": note}
    free = [
        (rule, group)
        for rule in rules
        for group, filled in _filled(facts, rule, now)
        if filled is None or len(filled) < group.approvals
    ]
    named = {who for _, group in free for who in group.from_ or () if _real(who, facts)}
    open_to = [rule.permission for rule, group in free if group.from_ is None]
    return {
        "heard": [_person(p) for p in _others(facts, rules, verdict)],
        "named": sorted(named),
        "anyone": open_to[-1] if open_to else None,
        "note": ONLY_THOSE_HEARD,
    }


def _real(who: str, facts: Facts) -> bool:
    """Whether a name in a policy can be that of someone who may approve here."""
    meant = facts.people.get(folded(who.removeprefix("user:")))
    out = facts.identities | facts.askers | facts.machines | facts.contributors
    return not who.startswith("user:") or meant is None or (meant != NOBODY and meant not in out)


def _others(facts: Facts, rules: list[Rule], verdict: Verdict) -> list[Person]:
    counting = {h.voice.person.id for h in verdict.heard if h.counts}
    people = {v.person.id: v.person for v in facts.voices if v.person.id not in counting}
    return [p for p in people.values() if all(ineligible(p, facts, r) is None for r in rules)]
