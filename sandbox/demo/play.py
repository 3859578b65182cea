"""The play so far: who tells it, the agent's hands, and what each proposal's life took."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import typer

from sandbox.github.model import CheckRun
from sandbox.stage import AGENT, REPOSITORY, SHOP, TOOL, Stage
from webhook_app.client import Placet

TOKENS = "POST /app/installations/{installation_id}/access_tokens"
PATIENCE = 15.0  # seconds, for any one thing to happen


class Unexpected(Exception):
    """Something in the story went otherwise than told."""


@dataclass(slots=True)
class Telling:
    """Who tells the story: in words, or silently."""

    silent: bool = False
    began: float = field(default_factory=time.monotonic)

    def act(self, title: str) -> None:
        """Begin an act."""
        self._say(f"\n\033[1m{title}\033[0m")

    def line(self, words: str) -> None:
        """Say one thing that happened."""
        self._say(f"  {words}")

    def _say(self, words: str) -> None:
        if not self.silent:
            typer.echo(words)


async def rest(here: Stage) -> None:
    """Wait until the server and GitHub have nothing left to tell each other."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        await here.world.settled()
        counts = await here.counts()
        if counts["inbox"] == counts["outbox"] == 0:
            return
        await asyncio.sleep(0.02)
    raise Unexpected("the server did not come to rest")


@dataclass(slots=True)
class Play:
    """The story so far: the stage, the agent's hands, and what was counted."""

    stage: Stage
    agent: Placet
    tell: Telling
    told: list[dict[str, Any]] = field(default_factory=list)

    async def ask(
        self, customers: list[int], why: str, target: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Let the agent ask, and wait until its page stands: a pull request, or a check on one."""
        arguments = {"ids": customers}
        asked = await self.hands(
            lambda: self.agent.propose(TOOL, arguments, reason=why, target=target)
        )
        self.tell.line(f"Agent {AGENT}: deactivate customers {customers}. {why}")
        opened = await self.until(asked["proposal"], lambda s: s["pull_request"] is not None)
        self.tell.line(f"Placet to the agent: {opened['say_to_user']}")
        self.tell.line(f"Pull request: {opened['pull_request']} “{opened['summary']}”")
        return opened

    async def until(self, id_: str, true: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait until the agent sees this of its proposal."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            seen = await self.hands(lambda: self.agent.status(id_))
            if true(seen):
                return seen
            await asyncio.sleep(0.02)
        raise Unexpected(f"{id_} did not get there; it is {seen['status']}: {seen['error']}")

    async def over(self, id_: str) -> dict[str, Any]:
        """Wait until a proposal is over and GitHub has been told all of it."""
        seen = await self.until(id_, lambda s: s["status"] in ("applied", "failed", "ended"))
        await self.quiet()
        return seen

    async def quiet(self) -> None:
        """Wait until the server has nothing left to do."""
        await rest(self.stage)

    def number(self, seen: dict[str, Any]) -> int:
        """The number of a proposal's pull request."""
        return int(seen["pull_request"].rsplit("/", 1)[1])

    def check(self, seen: dict[str, Any]) -> CheckRun:
        """The check run of a proposal, as GitHub shows it."""
        places = (self.stage.world.repository(name) for name in (REPOSITORY, SHOP))
        runs = (run for place in places for run in place.checks.values())
        return next(run for run in runs if run.external_id == seen["proposal"])

    def title(self, seen: dict[str, Any]) -> str:
        """What the check run of a proposal says, as GitHub shows it."""
        return str(self.check(seen).output.get("title"))

    @staticmethod
    async def hands(call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Let the agent do something while everything else goes on."""
        return await asyncio.to_thread(call)


@contextlib.asynccontextmanager
async def counted(play: Play, surface: str | None) -> AsyncIterator[dict[str, Any]]:
    """Play one proposal's life and write down what it took; yields a dict to put the end into."""
    log = play.stage.world.log
    before = log.counts()
    life: dict[str, Any] = {}
    yield life
    spent = Counter(log.counts())
    spent.subtract(before)
    seen = life["seen"]
    play.told.append(
        {
            "id": seen["proposal"],
            "pull_request": seen["pull_request"],
            "digest": seen["digest"],
            "state": seen["status"],
            "reason": (seen["error"] or {}).get("code"),
            "surface": surface,
            "requests": {k: n for k, n in sorted(spent.items()) if n > 0 and k != TOKENS},
            "approval_to_applied_ms": life.get("ms"),
        }
    )
