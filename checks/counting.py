"""Counting people: whose yes and no counts under which rule, and which places stay empty."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from .facts import Facts, Person, Stance, Voice
from .policy import Group, Rule, Source
from .reasons import Reason
from .voices import (
    cuts,
    discount,
    excluded,
    known_as,
    lapses,
    misaddressed,
    spoken,
    unable,
    untimely,
)

Policies = Sequence[Source]
Matched = tuple[Source, int, Rule]
_Key = tuple[int, str, str]  # a person; as a tuple it is found four times as fast
_ANY = Source("any", None)


class Weighed(NamedTuple):
    """One stance: why it is not heard at all, and for a yes that is, what each rule has against it.

    A no is not heard only where it is about something else.
    """

    voice: Voice
    unheard: Reason | None
    by: Sequence[Reason | None] = ()


@dataclass(frozen=True)
class Matter:
    """What is to be judged; whatever several rules ask of it is found out once.

    `matched` holds the rule that each readable one of the `policies` has for the tool.
    """

    facts: Facts
    matched: Sequence[Matched]
    now: datetime
    policies: Policies = ()
    _barred: dict[_Key, list[Reason | None]] = field(default_factory=dict, repr=False)

    @cached_property
    def rules(self) -> list[Rule]:
        """The rules alone."""
        return [rule for _, _, rule in self.matched]

    @cached_property
    def weighed(self) -> list[Weighed]:
        """Every stance, in the order of the facts."""
        facts, yes, last = self.facts, Stance.APPROVE, cuts(self.facts)
        found = []
        for voice in facts.voices:
            if voice.stance is not yes:
                found.append(Weighed(voice, misaddressed(voice, facts)))
            elif unheard := discount(voice, facts, last):
                found.append(Weighed(voice, unheard))
            else:
                found.append(Weighed(voice, None, self._by(voice)))
        return found

    def _by(self, voice: Voice) -> list[Reason | None]:
        """What each rule has against a yes of somebody whom nothing excludes."""
        facts, now, person = self.facts, self.now, voice.person
        return [untimely(voice, r, now) or unable(person, facts, r) for r in self.rules]

    @property
    def spoken(self) -> tuple[Voice, ...]:
        """What was said about this plan, yes and no alike."""
        return spoken(self.facts)

    def barred(self, person: Person) -> list[Reason | None]:
        """Why somebody may not decide, rule by rule."""
        known = self._barred.get((person.id, person.login, person.kind))
        return self._bar(person, excluded(person, self.facts)) if known is None else known

    def _bar(self, person: Person, out: Reason | None) -> list[Reason | None]:
        known = [out or unable(person, self.facts, rule) for rule in self.rules]
        self._barred[person.id, person.login, person.kind] = known
        return known

    def eligible(self, person: Person) -> bool:
        """Whether someone's no counts: it does as soon as one policy would let them decide."""
        return None in self.barred(person)

    def peer_dismissed(self, block: Voice) -> bool:
        """Whether a dismissal was delivered from someone who may decide under every policy."""
        who = block.dismisser
        return who is not None and bool(self.matched) and not any(self.barred(who))

    @cached_property
    def counted(self) -> list[list[Voice]]:
        """The approvals that count under each rule: each person's latest one."""
        yes = sorted((w for w in self.weighed if w.by), key=lambda w: (w.voice.at, w.voice.order))
        return [
            list({w.voice.person.id: w.voice for w in yes if w.by[rule] is None}.values())
            for rule in range(len(self.rules))
        ]

    @cached_property
    def missing(self) -> list[str]:
        """What each rule still asks for, in words; "" where its places can be filled."""
        rules = zip(self.counted, self.rules, strict=True)
        return [missing(voices, rule, self.facts) for voices, rule in rules]

    @cached_property
    def lifting(self) -> dict[int, datetime]:
        """When each person last said a yes that lifts their own no.

        Only a yes that stands does: not one through an App, of another plan, taken back, or on a
        surface that a policy does not accept.
        """
        latest: dict[int, datetime] = {}
        for voice, unheard, _ in self.weighed:
            who, taken = voice.person.id, all(voice.surface in r.surfaces for r in self.rules)
            if voice.stance is Stance.APPROVE and unheard is None and taken:
                latest[who] = max(voice.at, latest.get(who, voice.at))
        return latest

    def changed_mind(self, block: Voice) -> bool:
        """Whether the author of a blocking review approved later; on ties no wins."""
        yes = self.lifting.get(block.person.id)
        return yes is not None and yes > block.at


def matter_of(facts: Facts, policies: Policies, now: datetime) -> Matter:
    """The matter of one judgement."""
    return Matter(facts, matched(facts, policies), now, policies)


def matched(facts: Facts, policies: Policies) -> list[Matched]:
    """The rule that each readable policy has for this tool."""
    found = ((s, s.policy.rule_for(facts.tool)) for s in policies if s.policy)
    return [(source, *hit) for source, hit in found if hit]


def eligible(person: Person, facts: Facts, policies: Policies) -> bool:
    """As `Matter.eligible`; who may decide does not depend on the moment."""
    return matter_of(facts, policies, facts.expires).eligible(person)


def changed_mind(block: Voice, facts: Facts, policies: Policies) -> bool:
    """As `Matter.changed_mind`, which does not depend on the moment."""
    return matter_of(facts, policies, facts.expires).changed_mind(block)


def peer_dismissed(block: Voice, facts: Facts, policies: Policies) -> bool:
    """As `Matter.peer_dismissed`, which does not depend on the moment."""
    return matter_of(facts, policies, facts.expires).peer_dismissed(block)


def counted(facts: Facts, rule: Rule, now: datetime) -> list[Voice]:
    """The approvals that count under one rule: each person's latest one."""
    return Matter(facts, [(_ANY, 1, rule)], now).counted[0]


def places(rule: Rule) -> list[Group]:
    """Every place that a rule wants filled, each by another person, in the policy's order."""
    return [group for group in rule.require for _ in range(group.approvals)]


def seated(voices: Sequence[Voice], wanted: Sequence[Group], facts: Facts) -> dict[int, Voice]:
    """Who fills which place (its index): as many places as can be, each person in one."""
    taken: dict[int, Voice] = {}

    def seat(voice: Voice, tried: set[int]) -> bool:
        for place, group in enumerate(wanted):
            if place in tried or not fits(voice.person, group, facts):
                continue
            tried.add(place)
            if place not in taken or seat(taken[place], tried):
                taken[place] = voice
                return True
        return False

    for voice in voices:
        if len(taken) == len(wanted):
            break
        seat(voice, set())
    return taken


def fits(person: Person, group: Group, facts: Facts) -> bool:
    """Whether somebody who may decide can fill a place of this group."""
    if group.from_ is None:
        return True
    return group.admits(known_as(person, facts), facts.access[person.id].teams)


def missing(voices: Sequence[Voice], rule: Rule, facts: Facts) -> str:
    """What is still asked for, in words, or "" when every place can be filled by someone else."""
    wanted = places(rule)
    taken = seated(voices, wanted, facts)
    if len(taken) == len(wanted):
        return ""
    empty = [group for place, group in enumerate(wanted) if place not in taken]
    counts = {group: empty.count(group) for group in empty}
    return " and ".join(str(g.model_copy(update={"approvals": n})) for g, n in counts.items())


def valid_until(matter: Matter) -> datetime:
    """How long a yes stays one: the end, the lapse of a counted approval, or the next freeze."""
    moments = [matter.facts.expires]
    for rule, voices in zip(matter.rules, matter.counted, strict=True):
        if rule.approval_valid:
            moments += [m for v in voices if (m := lapses(v, rule))]
    for source in matter.policies:
        freezes = source.policy.freeze if source.policy else ()
        moments += [f.from_ for f in freezes if f.from_ > matter.now]
    return min(moments)
