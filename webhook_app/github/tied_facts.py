"""Looking at a proposal on somebody's page: its head, whether it is open, what we say there."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import NamedTuple

from checks.facts import Access, Surface, Voice
from proposals.ports import ForgeError, Refused, Sight

from .answer import Reply
from .facts import NOBODY, Known, Looking, tried
from .repository import NOT_FOUND, Repository
from .shapes import CheckRun, Comment
from .standing import lines
from .talk import comment_of
from .tied import ANNOUNCEMENT


class _Page(NamedTuple):
    """What a pull request or bare commit is right now."""

    skew: timedelta
    head: str
    base: str = ""
    is_open: bool = True
    comments: int = 0


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
        page, access = await asyncio.gather(tried(self._head()), self.people(voices, known))
        if isinstance(page, ForgeError):
            raise page
        sight = Sight(
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
        return await self.overheard(sight) if page.comments > self.expected(voices) else sight

    async def look(self, voices: Sequence[Voice]) -> Sight:
        """All that `Looking` looks at, and whether our announcement stands as it was written."""
        sight, said = await asyncio.gather(Looking.look(self, voices), tried(self._announcement()))
        if isinstance(said, ForgeError):
            return replace(sight, unreadable=(*sight.unreadable, "Placet's announcement"))
        gone, intact = said
        return replace(sight, is_open=sight.is_open and not gone, view_intact=intact)

    async def _head(self) -> _Page:
        place = self.proposal.at
        if place.number:
            pull, reply = await self.page.pull(place.number)
            is_open = pull.state == "open"
            return _Page(self._skew(reply), pull.head.sha, pull.base.ref, is_open, pull.comments)
        reply = await self.page.ask("GET", "check-runs", place.check_run)
        return _Page(self._skew(reply), reply.read(CheckRun).head_sha or "")

    def _skew(self, reply: Reply) -> timedelta:
        if reply.date is None:
            raise Refused("GitHub's answer has no Date, so its clock is not known", reply.status)
        return self.repo.client.now() - reply.date

    async def _announcement(self) -> tuple[bool, bool]:
        """Whether it is gone, and whether it says what we wrote; a bare commit has none."""
        announced = self.proposal.at.announced
        if announced is None:
            return False, True
        try:
            reply = await self.page.ask("GET", "issues", "comments", announced)
        except Refused as refused:
            if refused.status == NOT_FOUND:
                return True, True
            raise
        wanted = comment_of(self.proposal, ANNOUNCEMENT, self.render.announcement(self.proposal))
        return False, lines(reply.read(Comment).body) == lines(wanted)
