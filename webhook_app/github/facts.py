"""Looking at a proposal on GitHub: what is true right now, and what could not be read."""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from checks.facts import Access, Stance, Standing, Surface, Voice
from checks.policy import POLICY_PATH
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
        return await self.overheard(sight, await self._said(sight, pull.conversation()))

    async def conversation(self) -> list[Comment] | ForgeError:
        """The comments since the opening, or why they can't be read."""
        opened = self.proposal.at.opened.strftime("%Y-%m-%dT%H:%M:%SZ")
        where = ("issues", self.proposal.at.number, "comments")
        return await tried(self.page.every(Comment, *where, since=opened))

    async def _said(self, sight: Sight, shown: list[Comment] | None) -> list[Comment] | ForgeError:
        """The comments that GraphQL has `shown`; by REST if there is a command to be overheard.

        Only REST tells of a comment that an App wrote it in a person's name. One that its list
        lacks, as a list from a moment before does, is as GraphQL has it.
        """
        if shown is not None and not self._new(sight, shown):
            return shown
        listed = await self.conversation()
        if shown is None or isinstance(listed, ForgeError):
            return listed
        return [*({c.id: c for c in shown} | {c.id: c for c in listed}).values()]

    def _new(self, sight: Sight, comments: list[Comment]) -> tuple[Voice, ...]:
        """The commands in these comments that no delivery told of."""
        known = {voice.key for voice in sight.voices}
        return tuple(v for v in untold(comments, self.proposal) if v.key not in known)

    async def overheard(self, sight: Sight, comments: list[Comment] | ForgeError) -> Sight:
        """With the commands in the conversation that no delivery told of, and their authors.

        They grant nothing: a yes is answered, a no holds things up until its delivery comes.
        """
        if isinstance(comments, ForgeError):
            return replace(sight, unreadable=(*sight.unreadable, "the list of comments"))
        new = self._new(sight, comments)
        access = await self.people([v for v in new if v.stance is Stance.REJECT], sight.access)
        return replace(sight, voices=(*sight.voices, *new), access=access)

    async def look(self, voices: Sequence[Voice]) -> Sight:
        """`glance`, the policy, and whether comments and button presses still stand."""
        sight, policy, pressed, commented = await asyncio.gather(
            tried(self.glance(voices)),
            tried(policy_file(self.repo)),
            self.pressed(voices),
            self.commented(voices),
        )
        if isinstance(sight, ForgeError):
            raise sight
        return with_policy(confirmed(sight, (*pressed, *commented)), policy)

    async def _page(self) -> tuple[Shown, timedelta]:
        pull, reply = await self.repo.shown(self.proposal.at.number)
        if reply.date is None:
            raise Refused("GitHub's answer has no Date, so its clock is not known", reply.status)
        return pull, self.repo.client.now() - reply.date

    async def commented(
        self, voices: Sequence[Voice], listed: Iterable[Comment] = ()
    ) -> list[Voice]:
        """The comments as they stand now; those that are not `listed` are read one by one."""
        known = {comment.id: comment for comment in listed}
        asked = [v for v in voices if v.surface is Surface.COMMENT and stands(v)]
        return await asyncio.gather(*(self._commented(v, known.get(v.order)) for v in asked))

    async def _commented(self, voice: Voice, found: Comment | None) -> Voice:
        try:
            return commented(voice, found or await self.comment(voice.order))
        except ForgeError:
            return unread(voice)

    async def comment(self, number: int) -> Comment | None:
        """A comment by its id; None when there is none. Raises ForgeError."""
        try:
            return (await self.page.ask("GET", "issues", "comments", number)).read(Comment)
        except Refused as refused:
            if refused.status == NOT_FOUND:
                return None
            raise

    async def pressed(self, voices: Sequence[Voice]) -> list[Voice]:
        """The button presses, as GitHub's own log shows their deliveries."""
        buttons = [voice for voice in voices if voice.surface is Surface.BUTTON]
        if not buttons:
            return []
        guids = {voice.key: voice.key.removeprefix(_BUTTON) for voice in buttons}
        try:
            sent = await self.log.first_sent(set(guids.values()), min(v.at for v in buttons))
        except ForgeError:
            return [unread(voice) for voice in buttons]
        return [pressed(voice, sent.get(guids[voice.key])) for voice in buttons]

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


def confirmed(sight: Sight, voices: Iterable[Voice]) -> Sight:
    """With these voices as they were found to stand."""
    by_key = {voice.key: voice for voice in voices}
    return replace(sight, voices=tuple(by_key.get(v.key, v) for v in sight.voices))


def with_policy(sight: Sight, policy: PolicyFile | ForgeError) -> Sight:
    """With the policy, or the fact that it could not be read."""
    if isinstance(policy, ForgeError):
        policy = PolicyFile(None, problem=f"{POLICY_PATH} could not be read just now")
        sight = replace(sight, unreadable=(*sight.unreadable, "the policy"))
    return replace(sight, policy=policy)


async def policy_file(repo: Repository) -> PolicyFile:
    """The policy as it is on the default branch, whichever that is now; raises ForgeError."""
    file = await read(repo, POLICY_PATH)
    if file is None:
        return PolicyFile(None, problem=f"{POLICY_PATH} is missing on the default branch")
    if file.data is None:
        return PolicyFile(None, file.sha, f"{POLICY_PATH} is too long to be read")
    try:
        skew = repo.client.now() - file.date if file.date else None
        return PolicyFile(file.data.decode(), file.sha, skew=skew)
    except UnicodeDecodeError:
        return PolicyFile(None, file.sha, f"{POLICY_PATH} is not text in UTF-8")


def unread(voice: Voice) -> Voice:
    """A voice of which nobody can tell just now whether it stands."""
    return replace(voice, standing=Standing.UNREAD)


async def tried(work: Awaitable[T]) -> T | ForgeError:
    """The result, or the error as a value, so that one unreadable part leaves the others."""
    try:
        return await work
    except ForgeError as error:
        return error
