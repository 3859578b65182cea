"""What a delivery says as evidence: a yes, a no, something taken back, something asked."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from checks import commands
from checks.commands import Command, Verb
from checks.facts import Person, Stance, Surface, Voice
from proposals.store import Delivery

from .payload import Account, Comment, Payload, payload
from .routing import number

BRANCHES = "refs/heads/placet/p/"
_REVIEWS = {"approved": Stance.APPROVE, "changes_requested": Stance.BLOCK}
_SAID = {Verb.APPROVE: Stance.APPROVE, Verb.REJECT: Stance.REJECT}
_BUTTONS = {"approve": Stance.APPROVE, "reject": Stance.REJECT}
_BUTTON_VERBS = {"replan": Verb.REPLAN, "undo": Verb.UNDO, "withdraw": Verb.WITHDRAW}


@dataclass(frozen=True, slots=True)
class Dismissed:
    """Somebody dismissed the review `key`; whether that lifts a block depends on who did."""

    key: str
    by: Person
    at: datetime


@dataclass(frozen=True, slots=True)
class Gone:
    """The comment `key` was edited or deleted: whatever it said no longer counts.

    `at` is GitHub's date of an edit; `before` what an edited comment of our own App said.
    """

    key: str
    by: Person
    at: datetime
    deleted: bool = False
    before: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A person asks for something other than yes or no; `text` is theirs and hostile."""

    key: str
    verb: Verb
    person: Person
    at: datetime
    digest: str | None = None
    word: str | None = None
    text: str = ""
    via_app: bool = False


@dataclass(frozen=True, slots=True)
class Nearly:
    """A comment that may have meant yes: it is answered with the line to paste, never counted."""

    key: str
    person: Person


class Touch(StrEnum):
    """What somebody did to the page or the branch of a proposal."""

    PUSHED = "pushed"
    RETARGETED = "retargeted"
    EDITED = "edited"
    CLOSED = "closed"
    MERGED = "merged"
    REOPENED = "reopened"
    READY = "ready"


_TOUCHES = {
    "synchronize": Touch.PUSHED,
    "reopened": Touch.REOPENED,
    "ready_for_review": Touch.READY,
}


@dataclass(frozen=True, slots=True)
class Touched:
    """The page or the branch changed; `head` is the tip after a push, if any.

    `at` is GitHub's date of it, where the delivery has one.
    """

    kind: Touch
    by: Person
    at: datetime
    head: str | None = None


Said: TypeAlias = Voice | Dismissed | Gone | Asked | Nearly | Touched


def voice(delivery: Delivery, our_app: int) -> Said | None:
    """Read what a delivery says as evidence; None when it says nothing to us.

    A yes needs everything about it to be as expected; what takes away needs its key alone.
    """
    seen = payload(delivery.body)
    said = _said(delivery, seen, our_app)
    if not isinstance(said, Voice):
        return said
    page = seen.review or seen.comment or seen.check_run
    link = page.html_url if page else None
    return replace(said, delivery=delivery.guid, proof=delivery.proof, link=link)


def _said(delivery: Delivery, seen: Payload, our_app: int) -> Said | None:
    match delivery.event:
        case "pull_request_review":
            return _review(delivery, seen)
        case "issue_comment":
            return _comment(delivery, seen, our_app)
        case "check_run":
            return _button(delivery, seen, our_app)
        case "pull_request" | "push":
            return _touched(delivery, seen)
        case _:
            return None


def _person(account: Account | None) -> Person | None:
    if account is None or account.id is None or not account.login:
        return None
    return Person(account.id, account.login, account.type or "unknown")


def _review(delivery: Delivery, seen: Payload) -> Said | None:
    sender, review = _person(seen.sender), seen.review
    if review is None or review.id is None or sender is None:
        return None
    key = f"review:{review.id}"
    if delivery.action == "dismissed":
        return Dismissed(key, sender, delivery.received)
    author, stance = _person(review.user), _REVIEWS.get((review.state or "").lower())
    if delivery.action != "submitted" or stance is None or author is None or author != sender:
        return None
    if review.submitted_at is None:
        return None
    return Voice(
        key, author, Surface.REVIEW, stance, review.submitted_at, review.id, head=review.commit_id
    )


def _comment(delivery: Delivery, seen: Payload, our_app: int) -> Said | None:
    sender, comment = _person(seen.sender), seen.comment
    if comment is None or comment.id is None or sender is None or number(seen) is None:
        return None
    key = f"comment:{comment.id}"
    if delivery.action in {"edited", "deleted"}:
        deleted = delivery.action == "deleted"
        edited = None if deleted else comment.updated_at
        before = _before(comment, seen, our_app)
        return Gone(key, sender, edited or delivery.received, deleted, before)
    author, at, body = _person(comment.user), comment.created_at, comment.body
    if delivery.action != "created" or author != sender or at is None or body is None:
        return None
    if command := commands.parse(body):
        return _command(comment, key, sender, command)
    return Nearly(key, sender) if commands.looks_like_approval(body) else None


def _before(comment: Comment, seen: Payload, our_app: int) -> str:
    """What a comment of our own App said before an edit; "" for everybody else's."""
    app, body = comment.performed_via_github_app, (seen.changes or {}).get("body")
    ours = isinstance(app, dict) and app.get("id") == our_app
    before = body.get("from") if isinstance(body, dict) else None
    return before if ours and isinstance(before, str) else ""


def _command(comment: Comment, key: str, person: Person, command: Command) -> Said | None:
    at, order, text = comment.created_at, comment.id, comment.body
    if at is None or order is None or text is None:
        return None
    via_app = comment.performed_via_github_app is not None
    if stance := _SAID.get(command.verb):
        return Voice(
            key, person, Surface.COMMENT, stance, at, order,
            digest=command.digest, via_app=via_app, text=text,
        )  # fmt: skip
    return Asked(key, command.verb, person, at, command.digest, command.word, command.text, via_app)


def _button(delivery: Delivery, seen: Payload, our_app: int) -> Said | None:
    person, run, pressed = _person(seen.sender), seen.check_run, seen.requested_action
    if delivery.action != "requested_action" or not (person and run and pressed):
        return None
    if run.app is None or run.app.id != our_app or run.id is None or not run.head_sha:
        return None
    key, name, at = f"button:{delivery.guid}", pressed.identifier or "", delivery.received
    if verb := _BUTTON_VERBS.get(name):
        return Asked(key, verb, person, at)
    stance = _BUTTONS.get(name)
    if stance is None:
        return None
    return Voice(key, person, Surface.BUTTON, stance, at, run.id, head=run.head_sha)


def _touched(delivery: Delivery, seen: Payload) -> Touched | None:
    by, kind = _person(seen.sender), _touch(delivery, seen)
    if by is None or kind is None:
        return None
    at = seen.pull_request.updated_at if seen.pull_request else None
    head = seen.after if kind is Touch.PUSHED else None
    return Touched(kind, by, at or delivery.received, head)


def _touch(delivery: Delivery, seen: Payload) -> Touch | None:
    if delivery.event == "push":
        return Touch.PUSHED if (delivery.head_ref or "").startswith(BRANCHES) else None
    match delivery.action:
        case "edited":
            return Touch.RETARGETED if "base" in (seen.changes or {}) else Touch.EDITED
        case "closed":
            merged = seen.pull_request is not None and seen.pull_request.merged is True
            return Touch.MERGED if merged else Touch.CLOSED
        case action:
            return _TOUCHES.get(action)
