"""The rules of a decision: each is one function and speaks with one reason code."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from .counting import (
    Policies,
    changed_mind,
    counted,
    eligible,
    matched,
    missing,
    peer_dismissed,
)
from .facts import NOBODY, Facts, Form, Person, Stance, Standing
from .reasons import Finding, Reason
from .voices import cuts, discount, ineligible, spoken

MAX_SKEW = timedelta(seconds=30)

Check = Callable[[Facts, Policies, datetime], Iterator[Finding]]


def not_expired(facts: Facts, _: Policies, now: datetime) -> Iterator[Finding]:
    """A proposal that waited too long is over, whether or not a timer noticed."""
    if now >= facts.expires:
        yield Finding(Reason.EXPIRED, f"it expired at {facts.expires:%Y-%m-%d %H:%M} UTC")


def still_open(facts: Facts, _: Policies, __: datetime) -> Iterator[Finding]:
    """Closing without merging ends it; a person's merge is neither an approval nor an end.

    Of a pull request that the plan is only tied to, either is the end.
    """
    if facts.is_open:
        return
    if facts.form is Form.CHECK_RUN:
        yield Finding(Reason.CLOSED, "the pull request, or the announcement on it, is closed")
    elif not facts.merged:
        yield Finding(Reason.CLOSED, "the pull request was closed")


def head_untouched(facts: Facts, _: Policies, __: datetime) -> Iterator[Finding]:
    """The commit shown must be the commit pinned, now and at every moment since."""
    if facts.moved or facts.head != facts.pinned_head:
        yield Finding(Reason.HEAD_MOVED, "the branch moved after the plan was shown")


def base_untouched(facts: Facts, _: Policies, __: datetime) -> Iterator[Finding]:
    """The pull request must still aim at the ledger."""
    if facts.base != facts.pinned_base:
        yield Finding(Reason.BASE_CHANGED, f"it now aims at {facts.base!r}")


def not_rejected(facts: Facts, policies: Policies, _: datetime) -> Iterator[Finding]:
    """A rejection by someone who may decide ends it; by the requester's people it withdraws."""
    for voice in spoken(facts):
        if voice.stance is not Stance.REJECT:
            continue
        who = voice.person.login
        if voice.person.id in facts.identities:
            yield Finding(Reason.WITHDRAWN, f"@{who} took it back", who=who)
        elif eligible(voice.person, facts, policies):
            yield Finding(Reason.REJECTED, f"@{who} rejected it", who=who)


def readable(facts: Facts, policies: Policies, _: datetime) -> Iterator[Finding]:
    """What could not be read is not known, and what is not known is not approved."""
    for what in facts.unreadable:
        yield Finding(Reason.UNREADABLE, f"{what} could not be read from GitHub")
    for voice in spoken(facts):
        if voice.standing is Standing.UNREAD and eligible(voice.person, facts, policies):
            who = voice.person.login
            because = f"what @{who} said could not be read from GitHub"
            yield Finding(Reason.UNREADABLE, because, who=who)


def clocks_agree(facts: Facts, _: Policies, __: datetime) -> Iterator[Finding]:
    """Expiry means nothing on a wrong clock."""
    if abs(facts.skew) > MAX_SKEW:
        seconds = facts.skew.total_seconds()
        yield Finding(Reason.CLOCK_SKEW, f"the server's clock is {seconds:+.0f} s off GitHub's")


def policies_readable(_: Facts, policies: Policies, __: datetime) -> Iterator[Finding]:
    """A policy that cannot be read lets nobody approve."""
    for source in policies:
        if source.policy is None:
            because = source.problem or "the policy is missing"
            yield Finding(Reason.POLICY_UNREADABLE, because, source.name)


def has_a_rule(facts: Facts, policies: Policies, _: datetime) -> Iterator[Finding]:
    """No rule, no approval."""
    for source in policies:
        if source.policy and source.policy.rule_for(facts.tool) is None:
            yield Finding(Reason.NO_RULE, f"no rule is about {facts.tool}", source.name)


def not_frozen(_: Facts, policies: Policies, now: datetime) -> Iterator[Finding]:
    """Nothing starts inside a freeze."""
    for source in policies:
        for freeze in source.policy.freeze if source.policy else ():
            if freeze.from_ <= now < freeze.until:
                because = f"frozen until {freeze.until:%Y-%m-%d %H:%M} UTC: {freeze.reason}"
                yield Finding(Reason.FROZEN, because, source.name)


def not_halted(facts: Facts, _: Policies, __: datetime) -> Iterator[Finding]:
    """The operator's stop holds for everything."""
    if facts.halted is not None:
        yield Finding(Reason.HALTED, facts.halted)


def not_a_draft(facts: Facts, _: Policies, __: datetime) -> Iterator[Finding]:
    """A draft is not asking yet."""
    if facts.draft:
        yield Finding(Reason.DRAFT, "the pull request is a draft")


def view_untouched(facts: Facts, _: Policies, __: datetime) -> Iterator[Finding]:
    """People must have read what Placet wrote."""
    if not facts.view_intact:
        yield Finding(Reason.VIEW_EDITED, "the title or text of the pull request was edited")


def nobody_objects(facts: Facts, policies: Policies, _: datetime) -> Iterator[Finding]:
    """A request for changes by someone who may decide holds until they or their peers lift it."""
    for voice in spoken(facts):
        if voice.stance is not Stance.BLOCK or changed_mind(voice, facts, policies):
            continue
        lifted = voice.standing is Standing.DISMISSED and peer_dismissed(voice, facts, policies)
        if eligible(voice.person, facts, policies) and not lifted:
            who = voice.person.login
            yield Finding(Reason.BLOCKED, f"@{who} requested changes", who=who)


def enough_people(facts: Facts, policies: Policies, now: datetime) -> Iterator[Finding]:
    """Every policy's groups must be filled, each place by another person."""
    for source, _, rule in matched(facts, policies):
        unfilled = missing(counted(facts, rule, now), rule, facts)
        if unfilled:
            yield Finding(Reason.APPROVALS_MISSING, f"{unfilled} still needed", source.name)


def people_exist(facts: Facts, policies: Policies, __: datetime) -> Iterator[Finding]:
    """A login that nobody had when the policy was pinned fills no place, whoever takes it later."""
    for source, _, rule in matched(facts, policies):
        for login in sorted(rule.users()):
            if facts.people.get(login) == NOBODY:
                because = f"there was no person @{login} on GitHub when this was proposed"
                yield Finding(Reason.NO_SUCH_USER, because, source.name, login)


def access_known(facts: Facts, policies: Policies, now: datetime) -> Iterator[Finding]:
    """Someone whose word could decide and about whom GitHub would not answer is looked at again."""
    short = any(enough_people(facts, policies, now))
    for person in dict.fromkeys(asked_about(facts, short=short)):
        reasons = [ineligible(person, facts, rule) for _, _, rule in matched(facts, policies)]
        if Reason.ACCESS_UNKNOWN in reasons or (short and half_known(person, facts, policies)):
            because = f"GitHub did not say what @{person.login} may do"
            yield Finding(Reason.ACCESS_UNKNOWN, because, who=person.login)


def asked_about(facts: Facts, *, short: bool) -> Iterator[Person]:
    """Those whose word could change the decision: every no, and every yes while some is missing."""
    last = cuts(facts)
    for voice in spoken(facts):
        if voice.stance is not Stance.APPROVE or (short and discount(voice, facts, last) is None):
            yield voice.person
        if voice.stance is Stance.BLOCK and voice.dismisser:
            yield voice.dismisser


def half_known(person: Person, facts: Facts, policies: Policies) -> bool:
    """Whether an eligible person may also be in a team that could not be read."""
    return any(
        ineligible(person, facts, rule) is None and facts.access[person.id].unread & rule.teams()
        for _, _, rule in matched(facts, policies)
    )


CHECKS: tuple[Check, ...] = (
    not_rejected,
    not_expired,
    still_open,
    head_untouched,
    base_untouched,
    readable,
    clocks_agree,
    policies_readable,
    access_known,
    has_a_rule,
    not_halted,
    not_frozen,
    not_a_draft,
    view_untouched,
    nobody_objects,
    enough_people,
    people_exist,
)
