"""Looking at a proposal on somebody's page: its head, whether it is open, what we say there."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from checks.facts import Access, Surface, Voice
from proposals.ports import ForgeError, Refused, Sight

from .answer import Reply
from .facts import NOBODY, Known, Looking, confirmed, policy_file, tried, with_policy
from .repository import Repository
from .shapes import CheckRun, Comment
from .standing import lines
from .talk import comment_of
from .tied import ANNOUNCEMENT

SECOND = timedelta(seconds=1)  # by which GitHub's two dates of a comment differ without an edit


class _Page(NamedTuple):
    """What a pull request or bare commit is right now."""

    skew: timedelta
    head: str
    base: str = ""
    is_open: bool = True


class _Said(NamedTuple):
    """Our announcement: whether it is gone, says what we wrote, and when it was last edited."""

    gone: bool = False
    intact: bool = True
    edited: datetime | None = None


@dataclass(frozen=True, slots=True)
class TiedLooking(Looking):
    """As `Looking`, of a proposal whose page is in another repository, `there`.

    Reviews are not even read: they are about the code, and so is everything else on the page.
    """

    there: Repository | None = None

    @property
    def page(self) -> Repository:
        """The repository in which it is shown."""
        return self.there or self.repo

    async def people(self, voices: Sequence[Voice], known: Known = NOBODY) -> dict[int, Access]:
        """As `Looking.people`; nobody is asked about for a review."""
        about_it = [voice for voice in voices if voice.surface is not Surface.REVIEW]
        return await Looking.people(self, about_it, known)

    async def glance(self, voices: Sequence[Voice], known: Known = NOBODY) -> Sight:
        """The head of the page and what the people may do; raises when there is no page."""
        sight, comments = await asyncio.gather(
            tried(self._seen(voices, known)), self.conversation()
        )
        if isinstance(sight, ForgeError):
            raise sight
        return await self.overheard(sight, comments)

    async def _seen(self, voices: Sequence[Voice], known: Known) -> Sight:
        page, access = await asyncio.gather(tried(self._head()), self.people(voices, known))
        if isinstance(page, ForgeError):
            raise page
        return Sight(
            head=page.head,
            base=page.base,
            is_open=page.is_open,
            merged=False,
            draft=False,
            view_intact=True,
            voices=tuple(voices),
            access=access,
            skew=page.skew,
        )

    async def conversation(self) -> list[Comment] | ForgeError:
        """As `Looking.conversation`; a bare commit has none."""
        return await Looking.conversation(self) if self.proposal.at.number else []

    async def look(self, voices: Sequence[Voice]) -> Sight:
        """All that `Looking` looks at, and whether our announcement stands as it was written.

        Our announcement and what people said are in one list. What it lacks is asked for by its
        id before it counts as gone.
        """
        sight, policy, pressed, comments = await asyncio.gather(
            tried(self._seen(voices, NOBODY)),
            tried(policy_file(self.repo)),
            self.pressed(voices),
            self.conversation(),
        )
        if isinstance(sight, ForgeError):
            raise sight
        listed = [] if isinstance(comments, ForgeError) else comments
        commented, said = await asyncio.gather(
            self.commented(voices, listed), tried(self._announcement(listed))
        )
        heard = await self.overheard(confirmed(sight, (*pressed, *commented)), comments)
        sight = with_policy(heard, policy)
        if isinstance(said, ForgeError):
            return replace(sight, unreadable=(*sight.unreadable, "Placet's announcement"))
        is_open = sight.is_open and not said.gone
        return replace(sight, is_open=is_open, view_intact=said.intact, edited=said.edited)

    async def _head(self) -> _Page:
        place = self.proposal.at
        if place.number:
            pull, reply = await self.page.pull(place.number)
            is_open = pull.state == "open"
            return _Page(self._skew(reply), pull.head.sha, pull.base.ref, is_open)
        reply = await self.page.ask("GET", "check-runs", place.check_run)
        return _Page(self._skew(reply), reply.read(CheckRun).head_sha or "")

    def _skew(self, reply: Reply) -> timedelta:
        if reply.date is None:
            raise Refused("GitHub's answer has no Date, so its clock is not known", reply.status)
        return self.repo.client.now() - reply.date

    async def _announcement(self, listed: Iterable[Comment]) -> _Said:
        """What became of our announcement; a bare commit has none."""
        announced = self.proposal.at.announced
        if announced is None:
            return _Said()
        found = next((c for c in listed if c.id == announced), None)
        found = found or await self.comment(announced)
        if found is None:
            return _Said(gone=True)
        wanted = comment_of(self.proposal, ANNOUNCEMENT, self.render.announcement(self.proposal))
        return _Said(intact=lines(found.body) == lines(wanted), edited=edited(found))


def edited(comment: Comment) -> datetime | None:
    """When a comment was last edited; None when never. Raises Refused when GitHub gives no date."""
    if comment.created_at is None or comment.updated_at is None:
        raise Refused(f"GitHub gave no dates of the comment {comment.id}", 200)
    changed = comment.updated_at - comment.created_at > SECOND
    return comment.updated_at.astimezone(UTC) if changed else None
