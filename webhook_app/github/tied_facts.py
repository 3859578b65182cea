"""Looking at a proposal on somebody's page: its head, whether it is open, what we say there."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from checks.facts import Surface, Voice
from proposals.ports import ForgeError, Refused, Sight

from .answer import Reply
from .facts import Looking, tried
from .repository import NOT_FOUND, Repository
from .shapes import CheckRun, Comment
from .standing import lines
from .talk import comment_of
from .tied import ANNOUNCEMENT


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

    async def glance(self, voices: Sequence[Voice]) -> Sight:
        """The head of the page and what the people may do; raises when there is no page."""
        about_it = [voice for voice in voices if voice.surface is not Surface.REVIEW]
        page, access = await asyncio.gather(tried(self._head()), self._access(about_it))
        if isinstance(page, ForgeError):
            raise page
        head, base, is_open, skew = page
        return Sight(
            head=head,
            base=base,
            is_open=is_open,
            merged=False,
            draft=False,
            view_intact=True,
            voices=tuple(voices),
            access=access,
            skew=skew,
        )

    async def look(self, voices: Sequence[Voice]) -> Sight:
        """All that `Looking` looks at, and whether our announcement stands as it was written."""
        sight, said = await asyncio.gather(Looking.look(self, voices), tried(self._announcement()))
        if isinstance(said, ForgeError):
            return replace(sight, unreadable=(*sight.unreadable, "Placet's announcement"))
        gone, intact = said
        return replace(sight, is_open=sight.is_open and not gone, view_intact=intact)

    async def _head(self) -> tuple[str, str, bool, timedelta]:
        place = self.proposal.at
        if place.number:
            pull, reply = await self.page.pull(place.number)
            return pull.head.sha, pull.base.ref, pull.state == "open", self._skew(reply)
        reply = await self.page.ask("GET", "check-runs", place.check_run)
        return reply.read(CheckRun).head_sha or "", "", True, self._skew(reply)

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
