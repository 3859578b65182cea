"""What a fresh look at GitHub leaves of the voices that were delivered. It can only take away."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from checks.commands import Verb, names, parse
from checks.facts import Person, Stance, Standing, Surface, Voice
from proposals.plan import Proposal

from .shapes import Account, Comment, Pull, Review
from .shown import Shown
from .view import Render

_STATES = {"APPROVED": Stance.APPROVE, "CHANGES_REQUESTED": Stance.BLOCK}
_COMMANDS = {Verb.APPROVE: Stance.APPROVE, Verb.REJECT: Stance.REJECT}


def person(account: Account) -> Person:
    """A GitHub account as the rules know it."""
    return Person(account.id, account.login, account.type)


def lines(text: str | None) -> str:
    """Text with one kind of line end and without blank ends, which GitHub's forms change."""
    return (text or "").replace("\r\n", "\n").rstrip()


def worded(pull: Pull | Shown, render: Render, proposal: Proposal) -> bool:
    """Whether a pull request still says what we wrote when it was opened."""
    same_title = pull.title == render.title(proposal)
    return same_title and lines(pull.body) == lines(render.body(proposal))


def reviewed(voices: Sequence[Voice], reviews: Iterable[Review]) -> tuple[Voice, ...]:
    """The voices as the list of reviews leaves them, and the stances nobody delivered."""
    by_key = {f"review:{review.id}": review for review in reviews}
    heard = {voice.key for voice in voices}
    told = (
        _again(voice, by_key.get(voice.key)) if voice.surface is Surface.REVIEW else voice
        for voice in voices
    )
    untold = (_undelivered(key, r) for key, r in by_key.items() if key not in heard)
    return (*told, *(voice for voice in untold if voice))


def stands(voice: Voice) -> bool:
    """Whether nothing is known against it."""
    return voice.standing is Standing.STANDS


def untold(comments: Iterable[Comment], proposal: Proposal) -> tuple[Voice, ...]:
    """Every yes and no about this plan in a list of comments, as if no delivery told of it."""
    found = (_command(comment, proposal) for comment in comments)
    return tuple(voice for voice in found if voice)


def _command(comment: Comment, proposal: Proposal) -> Voice | None:
    """One of them; on somebody's page a command without a digest is about no plan."""
    command, author, at = parse(comment.body or ""), comment.user, comment.created_at
    stance = _COMMANDS.get(command.verb) if command else None
    if command is None or stance is None or author is None or at is None:
        return None
    if not names(proposal.plan.digest, command) or (proposal.target and not command.digest):
        return None
    return Voice(
        f"comment:{comment.id}",
        person(author),
        Surface.COMMENT,
        stance,
        at.astimezone(UTC),
        comment.id,
        digest=command.digest,
        via_app=comment.performed_via_github_app is not None,
        text=comment.body,
        standing=Standing.UNDELIVERED,
    )


def _again(voice: Voice, review: Review | None) -> Voice:
    if voice.stance is Stance.APPROVE and voice.standing is not Standing.STANDS:
        return voice  # a dismissal that was delivered: a list from before it revives nothing
    if review is None or review.user is None or review.user.id != voice.person.id:
        return replace(voice, standing=Standing.GONE)
    at = review.submitted_at.astimezone(UTC) if review.submitted_at else voice.at
    return replace(voice, at=at, standing=_standing(voice, review))


def _standing(voice: Voice, review: Review) -> Standing:
    if review.state == "DISMISSED":
        return Standing.DISMISSED
    if _STATES.get(review.state) is not voice.stance:
        return Standing.GONE
    if voice.stance is Stance.APPROVE and review.commit_id != voice.head:
        return Standing.GONE
    return Standing.STANDS


def _undelivered(key: str, review: Review) -> Voice | None:
    stance = _STATES.get(review.state)
    if stance is None or review.user is None or review.submitted_at is None:
        return None
    return Voice(
        key,
        person(review.user),
        Surface.REVIEW,
        stance,
        review.submitted_at.astimezone(UTC),
        review.id,
        review.commit_id,
        standing=Standing.UNDELIVERED,
    )


def commented(voice: Voice, comment: Comment | None) -> Voice:
    """A comment's voice: it stands while the same person's same text is there.

    One that a delivery took back stays so, even when its text is put back later.
    """
    if voice.standing is not Standing.STANDS:
        return voice
    same = (
        comment is not None
        and comment.user is not None
        and comment.user.id == voice.person.id
        and voice.text is not None
        and lines(comment.body) == lines(voice.text)
    )
    if comment is None or not same:
        return replace(voice, standing=Standing.GONE)
    via = voice.via_app or comment.performed_via_github_app is not None
    return replace(voice, standing=Standing.STANDS, via_app=via)


def pressed(voice: Voice, sent: datetime | None) -> Voice:
    """A button's voice: it stands when GitHub's own log shows its delivery."""
    if voice.standing is not Standing.STANDS:
        return voice
    if sent is None:
        return replace(voice, standing=Standing.UNDELIVERED)
    return replace(voice, standing=Standing.STANDS, at=sent)
