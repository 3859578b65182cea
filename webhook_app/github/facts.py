"""Looking at a proposal on GitHub: what is true right now, and what could not be read."""

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeVar

from checks.facts import Access, Person, Stance, Standing, Surface, Voice
from proposals.plan import Proposal
from proposals.ports import ForgeError, PolicyFile, Refused, Sight

from .deliveries import DeliveryLog
from .files import read
from .people import access_of, to_ask
from .repository import NOT_FOUND, Repository
from .shapes import Comment, Pull, Review
from .standing import commented, lines, pressed, reviewed
from .view import Render

T = TypeVar("T")
POLICY = ".github/placet.yml"
_BUTTON = "button:"


@dataclass(frozen=True, slots=True)
class Looking:
    """One look at one proposal; nothing of it is kept for the next one."""

    repo: Repository
    log: DeliveryLog
    render: Render
    proposal: Proposal
    teams: frozenset[str] = frozenset()

    @property
    def page(self) -> Repository:
        """The repository in which it is shown."""
        return self.repo

    async def glance(self, voices: Sequence[Voice]) -> Sight:
        """The page, the reviews, and what the people may do; raises when there is no page."""
        number = self.proposal.at.number
        page, reviews, access = await asyncio.gather(
            tried(self._page()),
            tried(self.repo.every(Review, "pulls", number, "reviews")),
            self._access(voices),
        )
        if isinstance(page, ForgeError):
            raise page
        pull, skew = page
        if isinstance(reviews, ForgeError):
            told = tuple(unread(v) if v.surface is Surface.REVIEW else v for v in voices)
        else:
            told = reviewed(voices, reviews)
            noes = [v for v in told if v.stance is Stance.BLOCK and v.person.id not in access]
            access |= await self._access(noes)
        unreadable = ("the list of reviews",) if isinstance(reviews, ForgeError) else ()
        return self._sight(pull, told, access, unreadable, skew)

    async def look(self, voices: Sequence[Voice]) -> Sight:
        """`glance`, the policy, and whether comments and button presses still stand."""
        sight, policy, confirmed = await asyncio.gather(
            tried(self.glance(voices)), tried(policy_file(self.repo)), self._confirmed(voices)
        )
        if isinstance(sight, ForgeError):
            raise sight
        told = tuple(confirmed.get(voice.key, voice) for voice in sight.voices)
        if isinstance(policy, ForgeError):
            policy = PolicyFile(None, problem=f"{POLICY} could not be read just now")
            sight = replace(sight, unreadable=(*sight.unreadable, "the policy"))
        return replace(sight, voices=told, policy=policy)

    async def _confirmed(self, voices: Sequence[Voice]) -> dict[str, Voice]:
        """The comments and button presses as they stand now, by key."""
        groups = await asyncio.gather(
            self._pressed([v for v in voices if v.surface is Surface.BUTTON]),
            *(self._commented(v) for v in voices if v.surface is Surface.COMMENT),
        )
        return {voice.key: voice for group in groups for voice in group}

    async def _page(self) -> tuple[Pull, timedelta]:
        pull, reply = await self.repo.pull(self.proposal.at.number)
        if reply.date is None:
            raise Refused("GitHub's answer has no Date, so its clock is not known", reply.status)
        return pull, self.repo.client.now() - reply.date

    async def _access(self, voices: Iterable[Voice]) -> dict[int, Access]:
        people: list[Person] = list(to_ask(voices, self.proposal).values())
        found = await asyncio.gather(*(access_of(self.repo, p, self.teams) for p in people))
        return {person.id: access for person, access in zip(people, found, strict=True)}

    async def _commented(self, voice: Voice) -> list[Voice]:
        try:
            reply = await self.page.ask("GET", "issues", "comments", voice.order)
            return [commented(voice, reply.read(Comment))]
        except Refused as refused:
            gone = refused.status == NOT_FOUND
            return [commented(voice, None) if gone else unread(voice)]
        except ForgeError:
            return [unread(voice)]

    async def _pressed(self, voices: Sequence[Voice]) -> list[Voice]:
        if not voices:
            return []
        guids = {voice.key: voice.key.removeprefix(_BUTTON) for voice in voices}
        try:
            sent = await self.log.first_sent(set(guids.values()), min(v.at for v in voices))
        except ForgeError:
            return [unread(voice) for voice in voices]
        return [pressed(voice, sent.get(guids[voice.key])) for voice in voices]

    def _sight(
        self,
        pull: Pull,
        voices: tuple[Voice, ...],
        access: dict[int, Access],
        unreadable: tuple[str, ...],
        skew: timedelta,
    ) -> Sight:
        same_title = pull.title == self.render.title(self.proposal)
        same_body = lines(pull.body) == lines(self.render.body(self.proposal))
        return Sight(
            head=pull.head.sha,
            base=pull.base.ref,
            is_open=pull.state == "open",
            merged=pull.merged,
            draft=pull.draft,
            view_intact=same_title and same_body,
            voices=voices,
            access=access,
            unreadable=unreadable,
            skew=skew,
        )


async def policy_file(repo: Repository) -> PolicyFile:
    """The policy as it is on the default branch, whichever that is now; raises ForgeError."""
    file = await read(repo, POLICY)
    if file is None:
        return PolicyFile(None, problem=f"{POLICY} is missing on the default branch")
    if file.data is None:
        return PolicyFile(None, file.sha, f"{POLICY} is too long to be read")
    try:
        return PolicyFile(file.data.decode(), file.sha)
    except UnicodeDecodeError:
        return PolicyFile(None, file.sha, f"{POLICY} is not text in UTF-8")


def unread(voice: Voice) -> Voice:
    """A voice of which nobody can tell just now whether it stands."""
    return replace(voice, standing=Standing.UNREAD)


async def tried(work: Awaitable[T]) -> T | ForgeError:
    """The result, or the error as a value, so that one unreadable part leaves the others."""
    try:
        return await work
    except ForgeError as error:
        return error
