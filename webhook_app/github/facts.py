"""Looking at a proposal on GitHub: what is true right now, and what could not be read."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from checks.facts import Access, Stance, Standing, Surface, Voice
from proposals.plan import Proposal
from proposals.ports import ForgeError, PolicyFile, Refused, Sight, Unavailable

from .deliveries import DeliveryLog
from .files import read
from .people import access_of, to_ask
from .repository import NOT_FOUND, Repository
from .shapes import Comment, Review
from .shown import Shown
from .standing import commented, pressed, reviewed, stands, untold, worded
from .view import Render

T = TypeVar("T")
Known: TypeAlias = Mapping[int, Access]
NOBODY: Known = MappingProxyType({})
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

    async def people(self, voices: Sequence[Voice], known: Known = NOBODY) -> dict[int, Access]:
        """What those who spoke may do; the `known` ones are not asked about again."""
        asked = [p for p in to_ask(voices, self.proposal).values() if p.id not in known]
        found = await asyncio.gather(*(access_of(self.repo, p, self.teams) for p in asked))
        return dict(known) | {p.id: access for p, access in zip(asked, found, strict=True)}

    async def glance(self, voices: Sequence[Voice], known: Known = NOBODY) -> Sight:
        """The page, the reviews, and what the people may do; raises when there is no page."""
        number = self.proposal.at.number
        page, reviews, access = await asyncio.gather(
            tried(self._page()),
            tried(self.repo.every(Review, "pulls", number, "reviews")),
            self.people(voices, known),
        )
        if isinstance(page, ForgeError):
            raise page
        pull, skew = page
        if pull.newest_review < max(_reviews(voices), default=0):
            raise Unavailable("GitHub showed the page as it was before a review that it told of")
        if isinstance(reviews, ForgeError):
            told = tuple(unread(v) if v.surface is Surface.REVIEW else v for v in voices)
        else:
            told = reviewed(voices, reviews)
            access = await self.people([v for v in told if v.stance is Stance.BLOCK], access)
        unreadable = ("the list of reviews",) if isinstance(reviews, ForgeError) else ()
        sight = self._sight(pull, told, access, unreadable, skew)
        more = pull.comments.total_count > self.expected(voices)
        return await self.overheard(sight) if more else sight

    def expected(self, voices: Sequence[Voice]) -> int:
        """How many comments the page has when nobody but us wrote any that was not delivered."""
        ours = self.proposal.at.announced is not None
        return ours + sum(stands(v) for v in voices if v.surface is Surface.COMMENT)

    async def overheard(self, sight: Sight) -> Sight:
        """With the commands in the conversation that no delivery told of, and their authors.

        They grant nothing: a yes is answered, a no holds things up until its delivery comes.
        """
        comments = await tried(
            self.page.every(
                Comment, "issues", self.proposal.at.number, "comments",
                since=self.proposal.at.opened.strftime("%Y-%m-%dT%H:%M:%SZ"),
            )
        )  # fmt: skip
        if isinstance(comments, ForgeError):
            return replace(sight, unreadable=(*sight.unreadable, "the list of comments"))
        known = {voice.key for voice in sight.voices}
        new = tuple(v for v in untold(comments, self.proposal) if v.key not in known)
        access = await self.people([v for v in new if v.stance is Stance.REJECT], sight.access)
        return replace(sight, voices=(*sight.voices, *new), access=access)

    async def look(self, voices: Sequence[Voice]) -> Sight:
        """`glance`, the policy, and whether comments and button presses still stand."""
        sight, policy, confirmed = await asyncio.gather(
            tried(self.glance(voices)), tried(policy_file(self.repo)), self._confirmed(voices)
        )
        if isinstance(sight, ForgeError):
            raise sight
        told = tuple(confirmed.get(voice.key, voice) for voice in sight.voices)
        if any(said_no_more(v, confirmed) for v in voices):
            sight = await self.overheard(sight)  # what is gone may have hidden one more
            told = (*told, *sight.voices[len(told) :])
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

    async def _page(self) -> tuple[Shown, timedelta]:
        pull, reply = await self.repo.shown(self.proposal.at.number)
        if reply.date is None:
            raise Refused("GitHub's answer has no Date, so its clock is not known", reply.status)
        return pull, self.repo.client.now() - reply.date

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
        pull: Shown,
        voices: tuple[Voice, ...],
        access: dict[int, Access],
        unreadable: tuple[str, ...],
        skew: timedelta,
    ) -> Sight:
        return Sight(
            head=pull.head_ref_oid,
            base=pull.base_ref_name,
            is_open=pull.state == "OPEN",
            merged=pull.merged,
            draft=pull.is_draft,
            view_intact=worded(pull, self.render, self.proposal),
            edited=pull.edited,
            voices=voices,
            access=access,
            unreadable=unreadable,
            skew=skew,
        )


def _reviews(voices: Sequence[Voice]) -> list[int]:
    """GitHub's ids of the reviews that were delivered."""
    return [voice.order for voice in voices if voice.surface is Surface.REVIEW]


def said_no_more(voice: Voice, confirmed: Mapping[str, Voice]) -> bool:
    """Whether a comment that stood as far as was delivered stands no longer."""
    comment = voice.surface is Surface.COMMENT
    return comment and stands(voice) and not stands(confirmed.get(voice.key, voice))


async def policy_file(repo: Repository) -> PolicyFile:
    """The policy as it is on the default branch, whichever that is now; raises ForgeError."""
    file = await read(repo, POLICY)
    if file is None:
        return PolicyFile(None, problem=f"{POLICY} is missing on the default branch")
    if file.data is None:
        return PolicyFile(None, file.sha, f"{POLICY} is too long to be read")
    try:
        skew = repo.client.now() - file.date if file.date else None
        return PolicyFile(file.data.decode(), file.sha, skew=skew)
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
