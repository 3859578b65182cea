"""Where the traps are set: a GitHub, a Placet as its own process, and the office behind it."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from sandbox.github import World, create_app
from sandbox.stage import (
    REPOSITORY,
    Stage,
    free_port,
    people_and_repository,
    running,
    served,
    write_configuration,
)

from .counting import Seen
from .office import fresh
from .rules import APPROVERS, MACHINE, POLICY, RULED, tools

PATIENCE = 60.0  # seconds, for any one thing to happen
_BUSY = ("planning", "claimed", "started", "inbox", "outbox")


@dataclass(slots=True)
class Place:
    """The stage of the traps; `approved` is what the people of the current job said yes to."""

    stage: Stage
    office: Path
    approved: list[Seen] = field(default_factory=list)

    async def hire(self, name: str) -> str:
        """Add an agent that works for dana; its token."""
        dana = self.stage.world.account("dana").id
        async with self._operator() as http:
            said = await http.post("/agents", json={"name": name, "identities": [dana]})
            return str(said.raise_for_status().json()["token"])

    async def approve(self, number: int, *who: str) -> None:
        """Let people look at a page and approve it, all at once; wait until nothing moves."""
        self.read(number, *who)
        people = [self.stage.world.person(login) for login in who]
        await asyncio.gather(*(p.review(REPOSITORY, number, "APPROVE") for p in people))
        await self.rest()

    async def ask(self, number: int, login: str, words: str) -> None:
        """Let somebody ask for something on a page, and wait until Placet has answered there."""
        answers = self._answers(number)
        await self.stage.world.person(login).comment(REPOSITORY, number, words)
        deadline = time.monotonic() + PATIENCE
        while self._answers(number) == answers:
            if time.monotonic() > deadline:
                raise RuntimeError(f"no answer to {words} on page {number}")
            await asyncio.sleep(0.02)
        await self.rest()

    async def agree(self, number: int, login: str) -> None:
        """Let somebody read a page and approve it by a comment."""
        self.read(number, login)
        await self.comment(number, login, "/approve")

    def read(self, number: int, *who: str) -> None:
        """Let people read a page, to say yes to what it shows right now."""
        for login in who:
            seen = self._plan(number)
            may = login in APPROVERS and seen.tool.startswith(RULED)
            if may and seen not in self.approved:
                self.approved.append(seen)

    async def reject(self, number: int, login: str) -> None:
        """Let somebody reject what a page asks for."""
        await self.stage.world.person(login).comment(REPOSITORY, number, "/reject not now")
        await self.rest()

    async def comment(self, number: int, login: str, words: str) -> None:
        """Let somebody, or whoever has their token, comment on a page."""
        await self.stage.world.person(login).comment(REPOSITORY, number, words)
        await self.rest()

    async def rewrite(self, number: int, login: str, old: str, new: str) -> None:
        """Let somebody, or whoever has their token, push another plan to a page's branch."""
        branch, path, text = self.file(number)
        other = {path: text.replace(old, new)}
        await self.stage.world.person(login).push(REPOSITORY, branch, other)
        await self.rest()

    async def rest(self) -> None:
        """Wait until every delivery has arrived and Placet has nothing left to do."""
        deadline, still = time.monotonic() + PATIENCE, 0
        while still < 3:  # noqa: PLR2004 (what one did may give the other something to do)
            if time.monotonic() > deadline:
                raise RuntimeError(f"no rest: {await self._counts()}")
            await self.stage.world.settled()
            counts = await self._counts()
            still = 0 if any(counts[name] for name in _BUSY) else still + 1
            await asyncio.sleep(0.02)

    def _plan(self, number: int) -> Seen:
        """What a page shows right now, as somebody reads it who opens its file."""
        plan = json.loads(self.file(number)[2])["plan"]
        whom = next((e["after"] for e in plan["effects"]), None)
        return Seen(plan["tool"]["name"], plan["arguments"], whom)

    def file(self, number: int) -> tuple[str, str, str]:
        """The branch of a page, and the path and text of the plan on it."""
        found = self.stage.world.repository(REPOSITORY)
        branch = found.pulls[number].head_ref
        head, id_ = found.git.commit_of(branch), branch.rpartition("/")[2]
        for path, entry in found.git.walk(found.git.tree(head)):
            if path.endswith(f"/{id_}/plan.json"):
                return branch, path, found.git.blob(str(entry.id)).decode()
        raise LookupError(f"there is no plan on {branch}")

    def _answers(self, number: int) -> int:
        """How many comments of Placet's own stand on a page."""
        said = self.stage.world.repository(REPOSITORY).comments.values()
        return sum(c.number == number and c.author_id == self.stage.app.bot_id for c in said)

    async def _counts(self) -> dict[str, int]:
        async with self._operator() as http:
            return dict((await http.get("/status")).raise_for_status().json()["counts"])

    def _operator(self) -> httpx.AsyncClient:
        socket = httpx.AsyncHTTPTransport(uds=str(self.stage.folder / "placet.db.sock"))
        return httpx.AsyncClient(transport=socket, base_url="http://placet", timeout=PATIENCE)


def number_of(said: dict[str, Any]) -> int:
    """The number of the pull request that an agent was told of; 0 when it was told of none."""
    return int(str(said.get("pull_request") or "/0").rsplit("/", 1)[1])


@contextlib.asynccontextmanager
async def place(folder: Path, source: Path | None = None) -> AsyncIterator[Place]:
    """Set everything up in this folder; the Placet of the folder `source`, or this one, runs."""
    office = folder / "office"
    fresh(office)
    async with contextlib.AsyncExitStack() as stack:
        world = World(folder / "github")
        stack.push_async_callback(world.aclose)
        world.url = await stack.enter_async_context(served(create_app(world)))
        port = free_port()
        app = people_and_repository(world, POLICY, f"http://127.0.0.1:{port}/webhook")
        machine = world.add_user(MACHINE).id
        world.set_permission(REPOSITORY, MACHINE, "write")
        here = Stage(folder, world, app, f"http://127.0.0.1:{port}", source=source)
        write_configuration(here, tools(office))
        text = here.config.read_text()
        here.config.write_text(text.replace("[server]\n", f"[server]\nmachines = [{machine}]\n"))
        here.process = await stack.enter_async_context(running(here))
        yield Place(here, office)
