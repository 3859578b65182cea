"""GitHub as a proposal's forge: the port of `proposals.ports`, spoken over its REST API."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Self

import httpx

from checks.facts import Access, Person, Voice
from checks.verdict import Verdict
from proposals.found import Aims, Knows, LedgerFile, Stray
from proposals.lifecycle import State
from proposals.plan import Aim, Place, Proposal, Target
from proposals.ports import Fence, ForgeError, PolicyFile, Refused, Sight

from .check import check_body
from .client import Client
from .deliveries import DeliveryLog
from .facts import NOBODY, Known, Looking, policy_file
from .guarding import Guards
from .history import added
from .ledger import Forgetful, Ledger, Memory
from .names import Names
from .people import access_of, account_of
from .places import Places
from .publish import Opening
from .repository import Repository
from .reviewers import Reviewers
from .route import route
from .settle import as_approved, close, merge, restored
from .setup import ForgeSettings
from .shapes import Account, Pull, ThisApp
from .standing import worded
from .statements import end_of, start_of
from .strays import Strays
from .talk import OUTCOME, comment_of, react, reword, said, say
from .tied import ANNOUNCEMENT, Tying, target_of
from .tied_facts import TiedLooking
from .view import Render


class GitHubForge:
    """The Forge over GitHub's REST API, as one App; use it inside `async with`.

    `places` finds repositories, `log` reads the App's deliveries. `transport`, `clock` (seconds
    that only grow) and `sleep` are the outside world, for tests to replace.
    """

    def __init__(
        self,
        settings: ForgeSettings,
        render: Render,
        now: Callable[[], datetime],
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._client = Client(settings, now, clock=clock, sleep=sleep, transport=transport)
        self._render = render
        self._now = now
        self._ledger = Ledger(Forgetful())
        self._reviewers = Reviewers()
        self._called = Names(clock)
        self._guards = Guards(clock)
        self._app: ThisApp | None = None
        self._user_id: int | None = None
        self.places = Places(self._client, clock)
        self.log = DeliveryLog(self._client)

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.__aexit__()

    def remember(self, memory: Memory) -> None:
        """Keep what must outlive this process there, from now on."""
        self._ledger.memory = memory

    def brakes(self) -> dict[int, tuple[float, int]]:
        """Where writes wait now: installation -> seconds to go, and how many wait."""
        return self._client.pace.brakes()

    async def slug(self) -> str:
        """The App's name in addresses; its account is `slug[bot]`."""
        if self._app is None:
            self._app = (await self._client.app("GET", route("app"))).read(ThisApp)
        return self._app.slug

    async def our_user_id(self) -> int:
        """The numeric id of the App's own account, by which its own deliveries are known."""
        if self._user_id is None:
            path = route("users", f"{await self.slug()}[bot]")
            scope = await self.places.any_scope()
            self._user_id = (await self._client.installed(scope, "GET", path)).read(Account).id
        return self._user_id

    async def policy(self, repository: int) -> PolicyFile:
        """Read the policy from the default branch of the governing repository."""
        repo = await self.places.of(repository)
        file, guard = await asyncio.gather(policy_file(repo), self._guards.of(repo))
        return replace(file, guarded=guard.kept, weakness=guard.weakness)

    async def reach(self, repository: int) -> None:
        """Look afresh whether a repository can be used; Refused with the `code` of what bars it."""
        await self._ledger.probe(await self.places.of(repository, fresh=True))

    async def prepare(self, repository: int) -> None:
        """Make the ledger branch where there is none yet: what opens no page needs it as well."""
        await self._ledger.tip(await self.places.of(repository))

    async def resolve(self, repository: int, logins: Iterable[str]) -> Mapping[str, int | None]:
        """Read which account each login is now; None for one that no person has."""
        repo, asked = await self.places.of(repository), list(logins)
        found = await asyncio.gather(*(account_of(repo, login) for login in asked))
        return dict(zip(asked, found, strict=True))

    async def called(self, repository: int, ids: Iterable[int]) -> Mapping[str, int]:
        """Read what accounts are called now, to be shown: login -> id, where GitHub says it."""
        return await self._called.people(await self.places.of(repository), ids)

    async def members(self, repository: int, teams: Iterable[str]) -> Mapping[str, int]:
        """Read who is in these teams, to be shown: login -> id, where GitHub says it."""
        return await self._called.members(await self.places.of(repository), teams)

    async def aim(self, aim: Aim) -> Target:
        """Read the page that a call is tied to; Refused, in words for the agent, when it can't."""
        return await target_of(await self.places.named(aim.repository), aim)

    async def publish(self, proposal: Proposal, plan_file: bytes) -> Place:
        """Show the plan on a page of its own or on its target, or find what is there already."""
        repo = await self._repo(proposal)
        if proposal.target:
            there, us = await self._page(proposal), await self.our_user_id()
            tying = Tying(repo, there, self._ledger, self._render, proposal, proposal.target, us)
            return await tying.run(plan_file)
        opening = Opening(repo, self._ledger, self._render, proposal)
        try:
            place, pull = await opening.run(plan_file)
        except Refused:
            self._ledger.forget(repo)
            await self._ledger.tip(repo)  # it may have been deleted, which is another error
            raise
        self._learn(pull)
        await self._reviewers.ask(repo, proposal, place.number)
        return place

    def _learn(self, pull: Pull) -> None:
        if self._user_id is None and self._app and pull.user:
            ours = pull.user.type == "Bot" and pull.user.login == f"{self._app.slug}[bot]"
            self._user_id = pull.user.id if ours else None

    async def people(self, proposal: Proposal, voices: Sequence[Voice]) -> Mapping[int, Access]:
        """Read what those who spoke may do, and no more: whether it can come to a yes at all.

        The teams are those of the policy at propose, without which no team could ever approve.
        """
        return await (await self._as_pinned(proposal)).people(voices)

    async def glance(
        self, proposal: Proposal, voices: Sequence[Voice], known: Known = NOBODY
    ) -> Sight:
        """Read what one cheap look shows: the page, the reviews, what the people may do.

        Those of whom it is `known` since a moment ago are not asked about again.
        """
        return await (await self._as_pinned(proposal)).glance(voices, known)

    async def _as_pinned(self, proposal: Proposal) -> Looking:
        rule = proposal.rule
        teams = rule.teams() if rule else frozenset()
        return await self._looking(await self._repo(proposal), proposal, teams)

    async def look(
        self, proposal: Proposal, voices: Sequence[Voice], teams: frozenset[str]
    ) -> Sight:
        """Read all: `glance`, the policy, each granting comment, the delivery log of buttons."""
        repo = await self._repo(proposal)
        return await (await self._looking(repo, proposal, teams)).look(voices)

    async def _looking(
        self, repo: Repository, proposal: Proposal, teams: frozenset[str]
    ) -> Looking:
        how = (repo, self.log, self._render, proposal, teams)
        return TiedLooking(*how, await self._page(proposal)) if proposal.target else Looking(*how)

    async def access(self, proposal: Proposal, person: Person, teams: frozenset[str]) -> Access:
        """Read what one person may do on the governing repository."""
        return await access_of(await self._repo(proposal), person, teams)

    async def start(self, proposal: Proposal, statement: bytes) -> Fence:
        """Create start.json on the ledger branch, never overwriting; look when no answer came."""
        path = self._render.statement_path(proposal, "start")
        try:
            repo = await self._repo(proposal)
        except ForgeError:
            return Fence.ABSENT
        return await start_of(repo, self._ledger, proposal, path, statement).fence()

    async def restore(self, proposal: Proposal) -> datetime:
        """Put back our words on the page; GitHub's date of the restoring."""
        repo = await self._page(proposal)
        if proposal.at.announced is not None:
            words = comment_of(proposal, ANNOUNCEMENT, self._render.announcement(proposal))
            return await reword(repo, proposal.at.announced, words)
        return await restored(repo, self._render, proposal)

    async def show(self, proposal: Proposal, verdict: Verdict | None) -> None:
        """Bring the check run up to date with the proposal's state and verdict."""
        repo = await self._page(proposal)
        body = check_body(self._render.check(proposal, verdict, self._now()))
        await repo.ask("PATCH", "check-runs", proposal.at.check_run, body=body)

    async def react(self, proposal: Proposal, comment: int) -> None:
        """Mark a comment on the page as seen, by its id; doing it twice changes nothing."""
        await react(await self._page(proposal), comment)

    async def reply(self, proposal: Proposal, key: str, text: str, *, again: bool) -> None:
        """Answer the fact `key` with one comment; `again`: an earlier try may have got through.

        On a bare commit there is no conversation: the check run says all.
        """
        if not proposal.at.number:
            return
        repo = await self._page(proposal)
        if again and await said(repo, proposal, key, await self.our_user_id()):
            return
        await say(repo, proposal, key, text)

    async def reword(self, proposal: Proposal, comment: int, key: str, text: str) -> None:
        """Put back what our comment said of the fact `key`; the outcome's words are made anew."""
        words = self._render.outcome_comment(proposal) if key == OUTCOME else text
        await reword(await self._page(proposal), comment, comment_of(proposal, key, words))

    async def standing(self, proposal: Proposal, kind: str, statement: bytes) -> Fence:
        """Look whether this very statement (`start`, `end`) stands on the ledger; only reads."""
        path = self._render.statement_path(proposal, kind)
        repo = await self._repo(proposal)
        return await start_of(repo, self._ledger, proposal, path, statement).whose()

    async def newest(self, repository: int) -> bytes | None:
        """Read the newest statement on a ledger, whoever wrote it; None when there is none."""
        return await self._ledger.newest(await self.places.of(repository))

    async def intact(self, repository: int) -> bool:
        """Look whether nobody else wrote statements since ours; otherwise the alarm is raised."""
        return await self._ledger.intact(await self.places.of(repository))

    async def added(self, repository: int) -> Sequence[LedgerFile]:
        """Read the statements that others added to a ledger since it was last known as ours."""
        return await added(await self.places.of(repository), self._ledger)

    async def strays(self, repository: int, known: Knows, aims: Aims) -> Sequence[Stray]:
        """Read the pages of ours whose proposal is not `known`; `aims`: which page a plan names."""
        repo = await self.places.of(repository)
        return await Strays(repo, self.places, self.our_user_id, known).found(aims)

    async def write_end(self, proposal: Proposal, kind: str, statement: bytes) -> None:
        """Create `end`, `end-2`, ... on the ledger branch; the same bytes there are fine."""
        path = self._render.statement_path(proposal, kind)
        repo = await self._repo(proposal)
        await end_of(repo, self._ledger, proposal, path, statement).stand()

    async def settle(self, proposal: Proposal) -> None:
        """Merge our own page at the pinned head, or close it; somebody else's is never touched.

        An unknown outcome leaves it open, for people to resolve. Words that somebody changed are
        put back first: a merged page shows what was approved.
        """
        if proposal.target:
            return
        repo = await self._repo(proposal)
        if proposal.state is State.APPLIED:
            pull = await as_approved(repo, proposal)
            if not worded(pull, self._render, proposal):
                await self.restore(proposal)
            if pull.merged:
                return
            await merge(repo, self._ledger, proposal, self._render.merge_message(proposal))
        elif proposal.state in (State.FAILED, State.ENDED):
            await close(repo, proposal.at.number)

    async def tell(self, proposal: Proposal, *, again: bool) -> None:
        """Say the outcome in one comment; `again` as in `reply`."""
        text = self._render.outcome_comment(proposal)
        await self.reply(proposal, OUTCOME, text, again=again)

    async def _page(self, proposal: Proposal) -> Repository:
        return await self.places.of(proposal.page)

    async def _repo(self, proposal: Proposal) -> Repository:
        return await self.places.of(proposal.repository)
