"""One proposal on an ordinary day, for tests to change: ann has approved, and that is enough."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from checks.facts import Access, Facts, Form, Person, Stance, Standing, Surface, Voice
from checks.policy import Policy, Source, load
from checks.reasons import Reason
from checks.verdict import Verdict, judge

OPENED = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
NOW = OPENED + timedelta(hours=1)
DIGEST = "sha256:3f9a1c0de4b2" + "7" * 52
ANN, BOB, CAT = Person(1, "ann"), Person(2, "bob"), Person(3, "cat")
BOSS = Person(80, "boss")  # the agent works for boss
CI = Person(90, "acme-ci")  # a machine account that the operator declared
APP = Person(91, "renovate[bot]", "Bot")


def at(minutes: float) -> datetime:
    return OPENED + timedelta(minutes=minutes)


YES = Voice(
    "review:1", ANN, Surface.REVIEW, Stance.APPROVE, at(10), 1, head="c0ffee1", text="looks right"
)
FACTS = Facts(
    tool="billing.refund",
    effect="write",
    digest=DIGEST,
    identities=frozenset({BOSS.id}),
    valid_from=OPENED,
    expires=OPENED + timedelta(hours=4),
    pinned_head="c0ffee1",
    head="c0ffee1",
    pinned_base="placet/ledger",
    base="placet/ledger",
    machines=frozenset({CI.id}),
    voices=(YES,),
    access={p.id: Access(p.id, "write") for p in (ANN, BOB, CAT, BOSS, CI, APP)},
)


def said(person: Person, minutes: float, **change: Any) -> Voice:
    """A voice of this person that many minutes after the opening; a review unless told."""
    order = int(minutes * 60) + person.id
    voice = replace(YES, person=person, at=at(minutes), order=order, key=f"review:{order}")
    return replace(voice, **change)


def no(person: Person, minutes: float, **change: Any) -> Voice:
    return said(person, minutes, **{"stance": Stance.BLOCK} | change)


def comment(person: Person, minutes: float, **change: Any) -> Voice:
    return said(person, minutes, **{"surface": Surface.COMMENT, "head": None} | change)


def button(person: Person, minutes: float, **change: Any) -> Voice:
    return said(person, minutes, **{"surface": Surface.BUTTON} | change)


NAMED = DIGEST.removeprefix("sha256:")[:12]


def named(person: Person, minutes: float, **change: Any) -> Voice:
    """A comment that names the plan, as the check-run form wants it."""
    return comment(person, minutes, **{"digest": NAMED} | change)


def there(*voices: Voice, **change: Any) -> Facts:
    """The ordinary day on somebody's pull request, announced by a comment numbered 60."""
    changed = {"form": Form.CHECK_RUN, "announced": 60, "base": "main", "pinned_base": "main"}
    return replace(FACTS, voices=voices, **changed | change)


def dismissed(voice: Voice, by: Person | None) -> Voice:
    return replace(voice, standing=Standing.DISMISSED, dismisser=by)


def heard(*voices: Voice, **change: Any) -> Facts:
    """The ordinary day, but this is all that was said."""
    return replace(FACTS, voices=voices, **change)


def able(person: Person, permission: str | None = "write", *teams: str, **change: Any) -> Facts:
    """The ordinary day, but this person's access is another."""
    access = replace(Access(person.id, permission, frozenset(teams)), **change)
    return replace(FACTS, access={**FACTS.access, person.id: access})


def policy(*lines: str, freeze: str = "") -> Policy:
    """A policy of one rule for every tool; the lines are its keys beside `tools`."""
    body = "".join(f"    {line}\n" for line in lines or ("require: [{approvals: 1}]",))
    return load(f"version: 1\nrules:\n  - tools: ['*']\n{body}{freeze}")


def under(*policies: Policy) -> list[Source]:
    """These policies as the floor, the one at propose and the current one, as far as they go."""
    names = ("floor", "propose", "current")
    return [Source(name, one) for name, one in zip(names, policies, strict=False)]


PLAIN = policy()
POLICIES = under(PLAIN, PLAIN, PLAIN)


def reasons(verdict: Verdict) -> set[Reason]:
    """Every code that a verdict gives, about the proposal or about a stance."""
    return {f.reason for f in verdict.findings} | {h.reason for h in verdict.heard if h.reason}


def judged(facts: Facts, *policies: Policy) -> Verdict:
    return judge(facts, under(*policies) if policies else POLICIES, NOW)
