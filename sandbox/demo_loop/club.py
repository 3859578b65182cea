"""The club of the story: a register behind Placet, an agent that talks to a user, and people."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proposals.loop import Ended, Loop
from proposals.transcript import Transcript
from proposals.turn import text
from sandbox.demo.play import Play, Unexpected
from sandbox.demo_loop.scripted import Line, Scripted
from sandbox.stage import REPOSITORY, Stage
from sandbox.tools import members
from webhook_app.adapters.desk import Desk
from webhook_app.client import AsyncPlacet

ENTER, FIND = "club__enter", "club__find"
POLICY = """\
version: 1
rules:
  - tools: ["club.*"]
    require: [{approvals: 1}]
"""


def tools(here: Stage) -> str:
    """Declare the register: entering waits for people, finding does not."""
    database = register(here).resolve().as_uri()
    return f"""
[tool.club.enter]
kind = "python"
effect = "write"
module = "sandbox.tools.members"
section = "member"
summary = "Enter {{/arguments/name}} into the register"
plan_env = {{DATABASE = "{database}?mode=ro"}}
apply_env = {{DATABASE = "{database}?mode=rw"}}

[tool.club.find]
kind = "python"
effect = "read"
module = "sandbox.tools.lookup"
plan_env = {{DATABASE = "{database}?mode=ro"}}
"""


def register(here: Stage) -> Path:
    """Where the register is."""
    return here.folder / "club.db"


@dataclass(slots=True)
class Club:
    """One conversation: the loop, what it has said so far, and the person who approves."""

    play: Play
    desk: Desk
    model: Scripted
    transcript: Transcript = field(default_factory=Transcript)
    told: dict[str, str] = field(default_factory=dict)
    """What the reports of this conversation said last of each proposal."""

    async def says(self, words: str, *script: Line) -> Ended:
        """Let the user say something, and the agent answer by the loop and this script."""
        self.play.tell.line(f"User: {words}")
        self.model.will(script)
        loop = Loop(self.model, self.desk, self.desk, time.monotonic, self._shown)
        ended = await loop.turn(self.transcript, words)
        self.transcript = ended.transcript
        for entry in (*ended.report["entries"], *ended.report["ended_since_last"]):
            if entry["proposal"]:
                self.told[entry["proposal"]] = entry["status"]
        for line in text(ended.report).split("\n"):
            self.play.tell.line(f"    | {line}")
        return ended

    async def approved(self) -> dict[str, Any]:
        """Let lee approve what was asked last; how it ended."""
        [asked] = [p for p, status in self.told.items() if status == "awaiting_approval"]
        seen = await self.play.until(asked, lambda s: s["pull_request"] is not None)
        number = self.play.number(seen)
        await self.play.stage.world.person("lee").review(REPOSITORY, number, "APPROVE")
        self.play.tell.line(f"@lee approves “{seen['summary']}”.")
        return await self.play.over(asked)

    def entered(self) -> dict[str, int]:
        """Who is in the register right now."""
        return members.members(register(self.play.stage))

    async def agrees(self) -> dict[str, str]:
        """Hold the last word of the reports to the store's; Unexpected when they differ."""
        stored = {p: (await self.desk.placet.status(p))["status"] for p in self.told}
        if stored != self.told:
            raise Unexpected(f"the store says {stored}, and the reply {self.told}")
        return stored

    def _shown(self, words: str) -> None:
        self.play.tell.line(f"Agent: {words}")


def talk(play: Play, placet: AsyncPlacet, session: str) -> Club:
    """Begin a conversation."""
    desk = Desk(placet.within(session))
    return Club(play, desk, Scripted(lambda words: play.tell.line(f"  ({words})")))
