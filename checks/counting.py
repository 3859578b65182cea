"""Counting people: whose yes and no counts under which rule, and which places stay empty."""

from collections.abc import Sequence
from datetime import datetime

from .facts import Facts, Person, Stance, Voice
from .policy import Group, Rule, Source
from .voices import cuts, discount, discount_by, ineligible, known_as, lapses

Policies = Sequence[Source]


def matched(facts: Facts, policies: Policies) -> list[tuple[Source, int, Rule]]:
    """The rule that each readable policy has for this tool."""
    found = ((s, s.policy.rule_for(facts.tool)) for s in policies if s.policy)
    return [(source, *hit) for source, hit in found if hit]


def eligible(person: Person, facts: Facts, policies: Policies) -> bool:
    """Whether someone's no counts: it does as soon as one policy would let them decide."""
    rules = matched(facts, policies)
    return any(ineligible(person, facts, rule) is None for _, _, rule in rules)


def changed_mind(block: Voice, facts: Facts, policies: Policies) -> bool:
    """Whether the author of a blocking review approved later; on ties no wins.

    Only a yes that stands lifts a no: not one through an App, of another plan, taken back, or on a
    surface that a policy does not accept.
    """
    rules = [rule for _, _, rule in matched(facts, policies)]
    theirs = [v for v in facts.voices if v.person.id == block.person.id]
    last = cuts(facts)
    return any(
        v.at > block.at and discount(v, facts, last) is None
        for v in theirs
        if v.stance is Stance.APPROVE and all(v.surface in rule.surfaces for rule in rules)
    )


def peer_dismissed(block: Voice, facts: Facts, policies: Policies) -> bool:
    """Whether a dismissal was delivered from someone who may decide under every policy."""
    who = block.dismisser
    rules = matched(facts, policies)
    return (
        who is not None
        and bool(rules)
        and all(ineligible(who, facts, rule) is None for _, _, rule in rules)
    )


def counted(facts: Facts, rule: Rule, now: datetime) -> list[Voice]:
    """The approvals that count under a rule: each person's latest one."""
    latest: dict[int, Voice] = {}
    last = cuts(facts)
    for voice in sorted(facts.voices, key=lambda v: (v.at, v.order)):
        able = voice.stance is Stance.APPROVE and discount_by(voice, facts, rule, now) is None
        if able and discount(voice, facts, last) is None:
            latest[voice.person.id] = voice
    return list(latest.values())


def places(rule: Rule) -> list[Group]:
    """Every place that a rule wants filled, each by another person, in the policy's order."""
    return [group for group in rule.require for _ in range(group.approvals)]


def seated(voices: Sequence[Voice], wanted: Sequence[Group], facts: Facts) -> dict[int, Voice]:
    """Who fills which place (its index): as many places as can be, each person in one."""
    taken: dict[int, int] = {}

    def seat(voice: int, tried: set[int]) -> bool:
        person = voices[voice].person
        called, teams = known_as(person, facts), facts.access[person.id].teams
        for place, group in enumerate(wanted):
            if place in tried or not group.admits(called, teams):
                continue
            tried.add(place)
            if place not in taken or seat(taken[place], tried):
                taken[place] = voice
                return True
        return False

    for voice in range(len(voices)):
        seat(voice, set())
    return {place: voices[voice] for place, voice in taken.items()}


def missing(voices: Sequence[Voice], rule: Rule, facts: Facts) -> str:
    """What is still asked for, in words, or "" when every place can be filled by someone else."""
    wanted = places(rule)
    taken = seated(voices, wanted, facts)
    empty = [group for place, group in enumerate(wanted) if place not in taken]
    counts = {group: empty.count(group) for group in empty}
    return " and ".join(str(g.model_copy(update={"approvals": n})) for g, n in counts.items())


def valid_until(facts: Facts, policies: Policies, now: datetime) -> datetime:
    """How long a yes stays one: the end, the lapse of a counted approval, or the next freeze."""
    moments = [facts.expires]
    for _, _, rule in matched(facts, policies):
        moments += [m for v in counted(facts, rule, now) if (m := lapses(v, rule))]
    for source in policies:
        moments += [f.from_ for f in source.policy.freeze if f.from_ > now] if source.policy else []
    return min(moments)
