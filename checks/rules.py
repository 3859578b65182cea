"""The rules of a decision: each is one function and speaks with one reason code."""

from collections.abc import Callable, Iterator
from datetime import timedelta

from .counting import Matter
from .facts import NOBODY, Form, Person, Stance, Standing, Voice
from .reasons import Finding, Reason

MAX_SKEW = timedelta(seconds=30)
MAX_EDITS = 3  # of our words on the page, the last of which is the end

Check = Callable[[Matter], Iterator[Finding]]


def not_expired(matter: Matter) -> Iterator[Finding]:
    """A proposal that waited too long is over, whether or not a timer noticed."""
    expires = matter.facts.expires
    if matter.now >= expires:
        yield Finding(Reason.EXPIRED, f"it expired at {expires:%Y-%m-%d %H:%M} UTC")


def still_open(matter: Matter) -> Iterator[Finding]:
    """Closing without merging ends it; a person's merge is neither an approval nor an end.

    Of a pull request that the plan is only tied to, either is the end.
    """
    facts = matter.facts
    if facts.is_open:
        return
    if facts.form is Form.CHECK_RUN:
        yield Finding(Reason.CLOSED, "the pull request, or the announcement on it, is closed")
    elif not facts.merged:
        yield Finding(Reason.CLOSED, "the pull request was closed")


def head_untouched(matter: Matter) -> Iterator[Finding]:
    """The commit shown must be the commit pinned, now and at every moment since."""
    facts = matter.facts
    if facts.moved or facts.head != facts.pinned_head:
        yield Finding(Reason.HEAD_MOVED, "the branch moved after the plan was shown")


def base_untouched(matter: Matter) -> Iterator[Finding]:
    """The pull request must still aim at the ledger."""
    facts = matter.facts
    if facts.base != facts.pinned_base:
        yield Finding(Reason.BASE_CHANGED, f"it now aims at {facts.base!r}")


def left_alone(matter: Matter) -> Iterator[Finding]:
    """A page whose words are edited again and again is no place to decide."""
    if matter.facts.edits >= MAX_EDITS:
        yield Finding(Reason.EDITED_TOO_OFTEN, f"the page was edited {matter.facts.edits} times")


def not_rejected(matter: Matter) -> Iterator[Finding]:
    """A rejection by someone who may decide ends it; by the requester's people it withdraws.

    One that GitHub shows and has not delivered ends nothing yet: see `nobody_objects`.
    """
    no = Stance.REJECT
    for voice in matter.spoken:
        if voice.stance is not no or voice.standing is Standing.UNDELIVERED:
            continue
        who = voice.person.login
        if voice.person.id in matter.facts.identities | matter.facts.askers:
            yield Finding(Reason.WITHDRAWN, f"@{who} took it back", who=who)
        elif matter.eligible(voice.person):
            yield Finding(Reason.REJECTED, f"@{who} rejected it", who=who)


def readable(matter: Matter) -> Iterator[Finding]:
    """What could not be read is not known, and what is not known is not approved."""
    for what in matter.facts.unreadable:
        yield Finding(Reason.UNREADABLE, f"{what} could not be read from GitHub")
    unread = Standing.UNREAD
    for voice in matter.spoken:
        if voice.standing is unread and matter.eligible(voice.person):
            who = voice.person.login
            because = f"what @{who} said could not be read from GitHub"
            yield Finding(Reason.UNREADABLE, because, who=who)


def clocks_agree(matter: Matter) -> Iterator[Finding]:
    """Expiry means nothing on a wrong clock."""
    skew = matter.facts.skew
    if abs(skew) > MAX_SKEW:
        seconds = skew.total_seconds()
        yield Finding(Reason.CLOCK_SKEW, f"the server's clock is {seconds:+.0f} s off GitHub's")


def policies_readable(matter: Matter) -> Iterator[Finding]:
    """A policy that cannot be read lets nobody approve."""
    for source in matter.policies:
        if source.policy is None:
            because = source.problem or "the policy is missing"
            yield Finding(Reason.POLICY_UNREADABLE, because, source.name)


def has_a_rule(matter: Matter) -> Iterator[Finding]:
    """No rule, no approval."""
    ruled = [source for source, _, _ in matter.matched]
    for source in matter.policies:
        if source.policy and source not in ruled:
            because = f"no rule is about {matter.facts.tool}"
            yield Finding(Reason.NO_RULE, because, source.name)


def may_ask(matter: Matter) -> Iterator[Finding]:
    """A rule may say whose requests it takes; no other rule stands in for it."""
    facts = matter.facts
    for source, place, rule in matter.matched:
        if not rule.takes(facts.agent, facts.identities, facts.people):
            because = f"rule {place} takes no requests of the agent {facts.agent}"
            yield Finding(Reason.REQUESTER_NOT_ALLOWED, because, source.name)


def not_frozen(matter: Matter) -> Iterator[Finding]:
    """Nothing starts inside a freeze."""
    for source in matter.policies:
        for freeze in source.policy.freeze if source.policy else ():
            if freeze.from_ <= matter.now < freeze.until:
                because = f"frozen until {freeze.until:%Y-%m-%d %H:%M} UTC: {freeze.reason}"
                yield Finding(Reason.FROZEN, because, source.name, until=freeze.until)


def not_halted(matter: Matter) -> Iterator[Finding]:
    """The operator's stop holds for everything."""
    if matter.facts.halted is not None:
        yield Finding(Reason.HALTED, matter.facts.halted)


def first_in_line(matter: Matter) -> Iterator[Finding]:
    """Of all that changes one thing, one call is carried out at a time."""
    if ahead := matter.facts.ahead:
        because = f"{ahead}, which changes the same thing just now, must be done first"
        yield Finding(Reason.WAITS_IN_LINE, because)


def not_a_draft(matter: Matter) -> Iterator[Finding]:
    """A draft is not asking yet."""
    if matter.facts.draft:
        yield Finding(Reason.DRAFT, "the pull request is a draft")


def view_untouched(matter: Matter) -> Iterator[Finding]:
    """People must have read what Placet wrote."""
    if not matter.facts.view_intact:
        yield Finding(Reason.VIEW_EDITED, "the title or text of the pull request was edited")


def nobody_objects(matter: Matter) -> Iterator[Finding]:
    """A request for changes by someone who may decide holds until they or their peers lift it.

    So does a rejection whose delivery never came, of the requester's own people as well.
    """
    yes = Stance.APPROVE
    for voice in matter.spoken:
        if voice.stance is yes or matter.changed_mind(voice):
            continue
        if voice.stance is Stance.REJECT:
            yield from undelivered(voice, matter)
            continue
        lifted = voice.standing is Standing.DISMISSED and matter.peer_dismissed(voice)
        if matter.eligible(voice.person) and not lifted:
            who = voice.person.login
            yield Finding(Reason.BLOCKED, f"@{who} requested changes", who=who)


def undelivered(no: Voice, matter: Matter) -> Iterator[Finding]:
    """What a rejection that nobody delivered does: it lets nothing start."""
    ours = no.person.id in matter.facts.identities | matter.facts.askers
    if no.standing is Standing.UNDELIVERED and (ours or matter.eligible(no.person)):
        who = no.person.login
        yield Finding(
            Reason.BLOCKED, f"@{who} rejected it, but GitHub did not deliver that", who=who
        )


def enough_people(matter: Matter) -> Iterator[Finding]:
    """Every policy's groups must be filled, each place by another person."""
    for (source, _, _), unfilled in zip(matter.matched, matter.missing, strict=True):
        if unfilled:
            yield Finding(Reason.APPROVALS_MISSING, f"{unfilled} still needed", source.name)


def people_exist(matter: Matter) -> Iterator[Finding]:
    """A login that nobody had when the policy was pinned fills no place, whoever takes it later."""
    nobody = {login for login, id_ in matter.facts.people.items() if id_ == NOBODY}
    for source, _, rule in matter.matched if nobody else ():
        for login in sorted(rule.users() & nobody):
            because = f"there was no person @{login} on GitHub when this was proposed"
            yield Finding(Reason.NO_SUCH_USER, because, source.name, login)


def access_known(matter: Matter) -> Iterator[Finding]:
    """Someone whose word could decide and about whom GitHub would not answer is looked at again."""
    unknown, short = Reason.ACCESS_UNKNOWN, any(matter.missing)
    for person in dict.fromkeys(asked_about(matter, short=short)):
        if unknown in matter.barred(person) or (short and half_known(person, matter)):
            because = f"GitHub did not say what @{person.login} may do"
            yield Finding(unknown, because, who=person.login)


def asked_about(matter: Matter, *, short: bool) -> Iterator[Person]:
    """Those whose word could change the decision: every no, and every yes while some is missing."""
    yes, block = Stance.APPROVE, Stance.BLOCK
    for voice, unheard, _ in matter.weighed:
        if unheard is None and (short or voice.stance is not yes):
            yield voice.person
        if unheard is None and voice.stance is block and voice.dismisser:
            yield voice.dismisser


def half_known(person: Person, matter: Matter) -> bool:
    """Whether an eligible person may also be in a team that could not be read."""
    rules = zip(matter.rules, matter.barred(person), strict=True)
    return any(
        why is None and matter.facts.access[person.id].unread & rule.teams() for rule, why in rules
    )


CHECKS: tuple[Check, ...] = (
    not_rejected,
    not_expired,
    still_open,
    head_untouched,
    base_untouched,
    left_alone,
    readable,
    clocks_agree,
    policies_readable,
    access_known,
    has_a_rule,
    may_ask,
    not_halted,
    not_frozen,
    first_in_line,
    not_a_draft,
    view_untouched,
    nobody_objects,
    enough_people,
    people_exist,
)
