"""A whole Placet and a whole GitHub in one process, for tests: people act, and see what follows.

    async with town(tmp_path, tools=TOOLS) as t:
        seen = await t.propose("box.add", {"n": 1})
        await t.person("lee").review(REPOSITORY, t.number(seen), "APPROVE")
        assert (await t.over(seen))["status"] == "applied"

Only the sockets are left out; `wrap` puts a judge around the sandbox's GitHub.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from proposals.plan import Proposal
from proposals.store import Store
from sandbox.github import Person, World, create_app
from sandbox.github.model import CheckRun, Pull, Repository
from sandbox.stage import (
    AGENT,
    POLICY,
    REPOSITORY,
    Stage,
    people_and_repository,
    write_configuration,
)
from webhook_app.app import create_app as create_placet
from webhook_app.app.forge import NamedForge
from webhook_app.app.view import View
from webhook_app.doors.hall import Hall, token_hash
from webhook_app.github import ForgeSettings
from webhook_app.settings import load

PATIENCE = 20.0  # seconds, for any one thing to happen
OVER = ("applied", "failed", "unknown", "ended")

Wrap = Callable[[Any], Any]


class _Hook(httpx.AsyncBaseTransport):
    """Carries deliveries to whichever Placet runs now; to nobody while it is down."""

    def __init__(self) -> None:
        self.app: FastAPI | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self.app is None:
            raise httpx.ConnectError("Placet is down", request=request)
        transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
        return await transport.handle_async_request(request)


@dataclass(slots=True)
class Town:
    """One town: the sandbox's `world`, Placet over it, and an agent that works for dana."""

    stage: Stage
    github: Any
    hook: _Hook
    token: str = ""
    app: FastAPI | None = None
    skew: timedelta = timedelta()
    """How far Placet's clock is ahead of GitHub's."""
    patience: timedelta = timedelta()
    """How long a stopping Placet lets running changes end; not at all, as in a crash."""
    _running: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)

    @property
    def world(self) -> World:
        """The sandbox's GitHub."""
        return self.stage.world

    @property
    def hall(self) -> Hall:
        """Placet's parts, while it runs."""
        if self.app is None:
            raise LookupError("Placet is down")
        hall = self.app.state.hall
        assert isinstance(hall, Hall)  # noqa: S101 (create_app put it there)
        return hall

    @property
    def store(self) -> Store:
        """Placet's store, while it runs."""
        return self.hall.ports.store

    def person(self, login: str) -> Person:
        """Somebody's hands on GitHub."""
        return self.world.person(login)

    async def start(self, *, poll: bool = False) -> None:
        """Start Placet over what is there; its clock is the sandbox's.

        With `poll` GitHub cannot reach it: it asks for its deliveries.
        """
        config, now = load(self.stage.config), self._now
        settings = config.settings.model_copy(update={"shutdown_wait": self.patience})
        config = replace(config, settings=settings)
        said = ForgeSettings(
            api_url=settings.api_url,
            app_id=settings.app_id,
            private_key_pem=settings.pem(),
            accounts=settings.accounts,
            writes_per_minute=None,
        )
        transport = httpx.ASGITransport(app=self.github, raise_app_exceptions=False)
        forge = NamedForge(said, View(settings.html_url), now, transport=transport)
        await self._running.enter_async_context(forge)
        app = create_placet(config, forge=forge, now=now, poll=poll)
        await self._running.enter_async_context(app.router.lifespan_context(app))
        self.app = app
        self.hook.app = None if poll else app

    async def stop(self) -> None:
        """Stop Placet; what is not done within `patience` breaks off, but files stay whole."""
        self.app = self.hook.app = None
        await self._running.aclose()
        self._running = contextlib.AsyncExitStack()

    def _now(self) -> datetime:
        return self.world.clock.now() + self.skew

    def http(self) -> httpx.AsyncClient:
        """An agent's connection to Placet."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.AsyncClient(
            transport=self.transport(), base_url="http://placet", headers=headers
        )

    def transport(self) -> httpx.ASGITransport:
        """The way to Placet's doors, while it runs."""
        assert self.app is not None  # noqa: S101 (for mypy)
        return httpx.ASGITransport(app=self.app, raise_app_exceptions=False)

    async def ask(self, tool: str, arguments: Any, **more: Any) -> httpx.Response:
        """Send one proposal as the agent does; the raw answer."""
        body = {"tool": tool, "arguments": arguments, **more}
        async with self.http() as http:
            return await http.post("/v1/proposals", json=body)

    async def propose(self, tool: str, arguments: Any, **more: Any) -> dict[str, Any]:
        """Propose and wait until the page stands."""
        said = (await self.ask(tool, arguments, **more)).raise_for_status().json()
        await self.until(said, lambda p: p.place is not None)
        await self.rest()
        return await self.seen(said)

    async def seen(self, said: dict[str, Any]) -> dict[str, Any]:
        """What the agent is told of a proposal now."""
        async with self.http() as http:
            answer = await http.get(f"/v1/proposals/{said['proposal']}")
            return dict(answer.raise_for_status().json())

    def kept(self, said: dict[str, Any]) -> Proposal:
        """The proposal as the store has it."""
        found = self.store.proposal(said["proposal"])
        assert found is not None  # noqa: S101 (for mypy)
        return found

    async def until(self, said: dict[str, Any], true: Callable[[Proposal], bool]) -> Proposal:
        """Wait until this is true of a proposal."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if true(kept := self.kept(said)):
                return kept
            await asyncio.sleep(0.005)
        raise TimeoutError(f"waited in vain; it is {self.kept(said)}")

    async def over(self, said: dict[str, Any]) -> dict[str, Any]:
        """Wait until a proposal is over and everybody has been told."""
        await self.until(said, lambda p: p.state in OVER)
        await self.rest()
        return await self.seen(said)

    @contextlib.asynccontextmanager
    async def in_line(self, said: dict[str, Any]) -> AsyncIterator[None]:
        """Approved by lee and started; its statement stands in line until this is left."""
        async with self.hall.ports.lines.of(self.kept(said).repository):
            await self.person("lee").review(REPOSITORY, self.number(said), "APPROVE")
            await self.until(said, lambda p: p.state == "started")
            yield
        await self.until(said, lambda p: p.state != "started")

    async def rest(self) -> None:
        """Wait until every delivery has arrived and Placet has nothing left to do."""
        deadline = time.monotonic() + PATIENCE
        still = 0
        while still < 3:  # noqa: PLR2004 (what one did may give the other something to do)
            if time.monotonic() > deadline:
                raise TimeoutError(f"no rest: {self.store.counts()}")
            await self.world.settled()
            worker: Any = self.hall.worker
            still = 0 if worker.busy else still + 1
            await asyncio.sleep(0.005)

    def number(self, said: dict[str, Any]) -> int:
        """The number of a proposal's pull request."""
        place = self.kept(said).place
        assert place is not None  # noqa: S101 (for mypy)
        return place.number

    def page(self, said: dict[str, Any]) -> Repository:
        """The repository in which a proposal is shown."""
        return self.world.state.repositories[self.kept(said).page]

    def pull(self, said: dict[str, Any]) -> Pull:
        """A proposal's pull request as GitHub has it."""
        return self.page(said).pulls[self.number(said)]

    def check(self, said: dict[str, Any]) -> CheckRun:
        """A proposal's check run as GitHub has it."""
        runs = self.page(said).checks.values()
        return next(run for run in runs if run.external_id == said["proposal"])

    def comments(self, said: dict[str, Any]) -> list[str]:
        """What Placet has said on a proposal's page."""
        number, bot = self.number(said), self.stage.app.bot_id
        found = self.page(said).comments.values()
        return [c.body for c in found if c.number == number and c.author_id == bot]


@contextlib.asynccontextmanager
async def town(
    folder: Path, *, tools: str, policy: str = POLICY, wrap: Wrap = lambda app: app
) -> AsyncIterator[Town]:
    """Run a town with these tools (TOML) and this policy, in this folder."""
    hook = _Hook()
    world = World(folder / "github", "http://127.0.0.1:1", hook_transport=hook)
    app = people_and_repository(world, policy, "http://127.0.0.1:2/webhook")
    here = Stage(folder, world, app, "http://127.0.0.1:2")
    write_configuration(here, tools)
    made = Town(here, wrap(create_app(world)), hook)
    try:
        await made.start()
        dana = frozenset({world.account("dana").id})
        made.token = "placet_a-token-of-this-town"  # noqa: S105
        made.store.add_agent(AGENT, token_hash(made.token), dana, world.clock.now())
        yield made
    finally:
        await made.stop()
        await world.aclose()
