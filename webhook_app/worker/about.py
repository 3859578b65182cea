"""Whom a delivery is about: one proposal on a page of its own, perhaps several on somebody's.

There a command must name its plan, and the digest decides; nothing is guessed from what is open.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from checks.commands import Verb
from checks.facts import Person, Stance, Surface, Voice
from checks.voices import names
from proposals.lifecycle import ALIVE
from proposals.plan import Proposal
from proposals.store import Delivery, Store
from webhook_app.deliveries import Asked, Nearly, Said, Touch, Touched
from webhook_app.render import ambiguous, unnamed

Found: TypeAlias = Sequence[Proposal]
_VERBS = {Stance.APPROVE: Verb.APPROVE, Stance.REJECT: Verb.REJECT}


@dataclass(frozen=True, slots=True)
class Addressed:
    """The proposals that something said is about, and an answer for the page when it is none."""

    to: tuple[Proposal, ...] = ()
    answer: str = ""
    on: Proposal | None = None


def proposals_of(store: Store, delivery: Delivery) -> list[Proposal]:
    """The proposals whose page, check run or branch a delivery is about; oldest first."""
    repository = delivery.repository
    if repository is None:
        return []
    if delivery.number and (found := store.on(repository, delivery.number)):
        return found
    branch = (delivery.head_ref or "").removeprefix("refs/heads/")
    one = (store.by_check(repository, delivery.check_run) if delivery.check_run else None) or (
        store.by_branch(repository, branch) if branch else None
    )
    return [one] if one else []


def addressed(found: Found, said: Said | None) -> Addressed:
    """Which of the proposals on a page something said is about."""
    if said is None or not found:
        return Addressed()
    if all(p.target is None for p in found):
        return Addressed(tuple(found))
    live = tuple(p for p in found if p.state in ALIVE)
    if isinstance(said, Voice) and said.surface is Surface.COMMENT:
        verb = _VERBS.get(said.stance, Verb.APPROVE)
        return _named(found, said.digest, said.person, verb, live)
    if isinstance(said, Asked) and said.key.startswith("comment:"):
        return _named(found, said.digest, said.person, said.verb, ())
    match said:
        case Nearly():  # on somebody's page, "lgtm" is about the code
            to: Found = ()
        case Voice(surface=Surface.REVIEW):
            to = live
        case Touched(kind=Touch.PUSHED):
            to = [p for p in found if said.head != p.at.head]
        case _:
            to = found
    return Addressed(tuple(to))


def _named(
    found: Found, digest: str | None, who: Person, verb: Verb, heard: tuple[Proposal, ...]
) -> Addressed:
    """The one plan that a digest names; `heard`: who shall show a command that names none."""
    live = [p for p in found if p.state in ALIVE]
    fit = [p for p in found if digest and names(p.plan.digest, digest)]
    if not fit:
        return _unnamed(live or found[-1:], who, verb, heard if digest is None else ())
    meant = [p for p in fit if p in live] or fit[-1:]
    if len(meant) > 1 or len({p.plan.digest for p in fit}) > 1:
        return Addressed((), ambiguous(who.login), meant[-1])
    return Addressed(tuple(meant))


def _unnamed(shown: Found, who: Person, verb: Verb, heard: tuple[Proposal, ...]) -> Addressed:
    over = all(p.state not in ALIVE for p in shown)
    if over and verb in {Verb.APPROVE, Verb.REJECT}:
        return Addressed()  # nothing of ours is open: it is for somebody else's program
    return Addressed(heard, unnamed(shown, who.login, verb), shown[-1])
