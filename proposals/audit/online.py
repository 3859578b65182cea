"""The recorded approvals against what GitHub shows today, for auditors who can ask it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from proposals.evidence import text_digest

from .report import Finding, Weight
from .signed import Said


@dataclass(frozen=True, slots=True)
class Recorded:
    """One approval that a start records, and where GitHub keeps it.

    `repository` is the numeric id of its page's repository, `number` its pull request's, `order`
    GitHub's id of the review or comment.
    """

    start: Said
    repository: int
    number: int
    key: str
    surface: str
    order: int
    person: int
    login: str
    head: str | None
    text: str | None


@dataclass(frozen=True, slots=True)
class Shown:
    """What GitHub shows of a review or comment today; `there` False: it is not there any more."""

    there: bool
    person: int | None = None
    head: str | None = None
    state: str = ""
    text: str | None = None


def recorded(chain: Sequence[Said]) -> list[Recorded]:
    """Every approval that was counted for a start."""
    return [one for said in chain if said.spot.kind == "start" for one in _of(said)]


def against_github(
    approvals: Sequence[Recorded], shown: Mapping[str, Shown]
) -> Iterator[Finding | str]:
    """What GitHub shows otherwise, as findings; what it does not show to us, as notes.

    `shown` has an entry, by `key`, for everything that could be read.
    """
    for one in approvals:
        who = f"@{one.login}'s {one.surface}"
        seen = shown.get(one.key)
        if one.surface == "button":
            yield f"{one.start.spot.proposal}: {who} press cannot be looked up on GitHub any more."
        elif seen is None:
            yield f"{one.start.spot.proposal}: {who} ({one.key}) could not be read on GitHub."
        elif not seen.there:
            why = f"{who} ({one.key}), which was counted, is not on GitHub any more: deleted"
            yield _light(one, "approval_gone", why)
        elif seen.person != one.person:
            why = f"{who} ({one.key}) was written by somebody else on GitHub (id {seen.person})"
            yield one.start.finding("approval_by_another", why)
        elif one.surface == "review":
            yield from _review(one, seen, who)
        elif one.text != (text_digest(seen.text) if seen.text is not None else None):
            why = f"{who} ({one.key}) was edited after it was counted"
            yield _light(one, "approval_edited", why)


def _review(one: Recorded, seen: Shown, who: str) -> Iterator[Finding | str]:
    if seen.head != one.head:
        why = f"{who} ({one.key}) is about another commit on GitHub ({(seen.head or 'none')[:12]})"
        yield one.start.finding("approval_of_another_commit", why)
    if seen.state == "DISMISSED":
        yield f"{one.start.spot.proposal}: {who} was dismissed since."
    elif seen.state != "APPROVED":
        why = f"{who} ({one.key}) is no approval on GitHub ({seen.state[:30]})"
        yield one.start.finding("no_approval", why)


def _light(one: Recorded, code: str, why: str) -> Finding:
    """What was signed stays proven by its signature; people only changed what GitHub shows."""
    start = one.start
    return Finding(code, why, start.file.path, start.file.commit, start.spot.proposal, Weight.LIGHT)


def _of(start: Said) -> Iterator[Recorded]:
    said = start.predicate
    target, page = said.get("target"), said.get("page")
    home = target.get("repository") if isinstance(target, dict) else said.get("repository")
    number = page.get("pull_request") if isinstance(page, dict) else None
    listed = said.get("approvals")
    for one in listed if isinstance(listed, list) else []:
        match one:
            case {
                "id": int(person),
                "login": str(login),
                "surface": str(surface),
                "key": str(key),
                "order": int(order),
            } if isinstance(one, dict):
                head, text = one.get("head"), one.get("text_digest")
                yield Recorded(
                    start,
                    home if isinstance(home, int) else 0,
                    number if isinstance(number, int) else 0,
                    key,
                    surface,
                    order,
                    person,
                    login,
                    head if isinstance(head, str) else None,
                    text if isinstance(text, str) else None,
                )
