"""Who is heard: why one stance counts or does not, before any counting begins."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from .facts import Facts, Form, Person, Stance, Standing, Surface, Voice
from .policy import Rule, folded
from .reasons import Reason

# Members of an enumeration are slow to find and to hash; these are asked for about every voice.
_STANDS, _OWN_PAGE, _COMMENT = Standing.STANDS, Form.PULL_REQUEST, Surface.COMMENT
_TAKEN = frozenset({Standing.GONE, Standing.DISMISSED, Standing.UNREAD})
_FALLEN = {
    Standing.UNDELIVERED: Reason.NOT_DELIVERED,
    Standing.UNREAD: Reason.UNREADABLE,
    Standing.GONE: Reason.GONE,
    Standing.DISMISSED: Reason.DISMISSED,
}


@dataclass(frozen=True, slots=True)
class Heard:
    """One stance and what became of it: it counts, or the reason why it does not."""

    voice: Voice
    reason: Reason | None = None

    @property
    def counts(self) -> bool:
        """Whether it helps to approve."""
        return self.reason is None and self.voice.stance is Stance.APPROVE


def behind(person: Person, identities: Collection[int]) -> bool:
    """Whether this account is one of the agent's own people, who may only take back."""
    return person.id in identities


def excluded(person: Person, facts: Facts) -> Reason | None:
    """Why this account can never decide here, whatever it says; None when it may."""
    if person.kind != "User" or person.login[-5:].lower() == "[bot]":
        return Reason.NOT_A_PERSON
    if behind(person, facts.identities):
        return Reason.REQUESTER
    if person.id in facts.askers:
        return Reason.ASKED_FOR_IT
    if person.id in facts.machines:
        return Reason.MACHINE_ACCOUNT
    if person.id in facts.contributors:
        return Reason.CONTRIBUTOR
    return None


def known_as(person: Person, facts: Facts) -> str:
    """The login by which a policy may name this account; "" when it meant another account.

    A login can be given up and taken by somebody else: a policy means who had it when it was
    pinned, and a login that nobody had then means nobody.
    """
    meant = facts.people.get(folded(person.login), person.id)
    return person.login if meant == person.id else ""


def unable(person: Person, facts: Facts, rule: Rule) -> Reason | None:
    """Why this person lacks the standing that a rule asks for; None when they have it."""
    access = facts.access.get(person.id)
    if access is None or access.permission is None:
        return Reason.ACCESS_UNKNOWN
    if access.id != person.id:
        return Reason.IDENTITY_CHANGED
    if access.permission not in rule.enough:
        return Reason.PERMISSION_TOO_LOW
    known = "" if rule.anyone else known_as(person, facts)
    if rule.anyone or any(group.admits(known, access.teams) for group in rule.require):
        return None
    if access.unread & rule.teams():
        return Reason.ACCESS_UNKNOWN
    taken = not known and folded(person.login) in rule.users()
    return Reason.IDENTITY_CHANGED if taken else Reason.NOT_IN_GROUP


def ineligible(person: Person, facts: Facts, rule: Rule) -> Reason | None:
    """Why a person may neither approve, block nor reject under a rule; None when eligible."""
    return excluded(person, facts) or unable(person, facts, rule)


def misaddressed(voice: Voice, facts: Facts) -> Reason | None:
    """Why something said on a page that is not ours alone is not about this plan; else None.

    In the check-run form the page is about somebody's code and may hold several plans: only our
    own check run's button, or a later comment that names the plan, speaks about this one.
    """
    if facts.form is _OWN_PAGE or voice.surface is Surface.BUTTON:
        return None
    if voice.surface is Surface.REVIEW:
        return Reason.REVIEW_IS_ABOUT_THE_CODE
    if voice.digest is None:
        return Reason.DIGEST_REQUIRED
    if not names(facts.digest, voice.digest):
        return Reason.OTHER_DIGEST
    unannounced = facts.announced is None or voice.order <= facts.announced
    return Reason.BEFORE_OPENING if unannounced else None


def spoken(facts: Facts) -> tuple[Voice, ...]:
    """What was said about this plan, yes and no alike; the rest can neither help nor hinder it."""
    if facts.form is Form.PULL_REQUEST:
        return facts.voices
    return tuple(v for v in facts.voices if misaddressed(v, facts) is None)


def flaw(voice: Voice, facts: Facts) -> Reason | None:
    """What is wrong with an approval itself, whoever gave it."""
    named = voice.digest
    return (
        misaddressed(voice, facts)
        or (Reason.VIA_APP if voice.via_app else None)
        or (None if voice.standing is _STANDS else _FALLEN[voice.standing])
        or (Reason.BEFORE_OPENING if voice.at < facts.valid_from else None)
        or (Reason.OTHER_HEAD if pinned_elsewhere(voice, facts) else None)
        or (Reason.OTHER_DIGEST if named is not None and not names(facts.digest, named) else None)
    )


def pinned_elsewhere(voice: Voice, facts: Facts) -> bool:
    """Whether a review or button belongs to another commit; a comment names no commit at all."""
    return voice.surface is not _COMMENT and voice.head != facts.pinned_head


def names(digest: str, prefix: str) -> bool:
    """Whether a hex prefix of 12 digits or more names this `sha256:` digest."""
    return len(prefix) >= 12 and digest.removeprefix("sha256:").startswith(prefix.lower())  # noqa: PLR2004


def cuts(facts: Facts) -> dict[int, datetime]:
    """When each person last said no or took something back: nothing they said until then counts.

    A dismissal or deletion takes away and never revives what was said earlier; on ties no wins.
    What nobody can read now may be gone too.
    """
    yes, last = Stance.APPROVE, dict[int, datetime]()
    for voice in spoken(facts):
        fallen = voice.standing is not _STANDS and voice.standing in _TAKEN
        if voice.stance is not yes or fallen:
            who = voice.person.id
            last[who] = max(voice.at, last.get(who, voice.at))
    return last


def discount(voice: Voice, facts: Facts, last: Mapping[int, datetime]) -> Reason | None:
    """Why an approval does not count under any policy; None when it stands. `last` is `cuts`."""
    reason = excluded(voice.person, facts) or flaw(voice, facts)
    if reason:
        return reason
    cut = last.get(voice.person.id)
    return Reason.SUPERSEDED_STANCE if cut is not None and voice.at <= cut else None


def lapses(voice: Voice, rule: Rule) -> datetime | None:
    """When an approval stops counting under a rule; None: not before the proposal ends."""
    return voice.at + rule.approval_valid if rule.approval_valid else None


def untimely(voice: Voice, rule: Rule, now: datetime) -> Reason | None:
    """Why a rule does not take an approval from anybody: its surface, or its age."""
    if voice.surface not in rule.surfaces:
        return Reason.SURFACE_NOT_ALLOWED
    lapse = lapses(voice, rule) if rule.approval_valid else None
    return Reason.APPROVAL_LAPSED if lapse is not None and lapse <= now else None
