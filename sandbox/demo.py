"""The demo: the main job, played on this machine by an agent and three people, and told in words.

`placet-demo` narrates; with `--json` it prints one JSON document instead. Exit status 0 only when
every proposal ended as it should.
"""

import asyncio
import contextlib
import json
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from sandbox.github import DeliveryFault
from sandbox.github.model import CheckRun
from sandbox.stage import AGENT, REPOSITORY, TOOL, Stage, stage
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


@dataclass(slots=True)
class Play:
    """The story so far: the stage, the agent's hands, and what was counted."""

    stage: Stage
    agent: Placet
    tell: Telling
    told: list[dict[str, Any]] = field(default_factory=list)

    async def ask(self, customers: list[int], why: str) -> dict[str, Any]:
        """Let the agent ask, and wait until its pull request stands."""
        arguments = {"ids": customers}
        asked = await self._agent(lambda: self.agent.propose(TOOL, arguments, reason=why))
        self.tell.line(f"Agent {AGENT}: deactivate customers {customers}. {why}")
        opened = await self.until(asked["proposal"], lambda s: s["pull_request"] is not None)
        self.tell.line(f"Placet to the agent: {opened['say_to_user']}")
        self.tell.line(f"Pull request: {opened['pull_request']} “{opened['summary']}”")
        return opened

    async def until(self, id_: str, true: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait until the agent sees this of its proposal."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            seen = await self._agent(lambda: self.agent.status(id_))
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
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            await self.stage.world.settled()
            counts = (await self.stage.operator("status"))["counts"]
            if counts["inbox"] == counts["outbox"] == 0:
                return
        raise Unexpected("the server did not come to rest")

    def number(self, seen: dict[str, Any]) -> int:
        """The number of a proposal's pull request."""
        return int(seen["pull_request"].rsplit("/", 1)[1])

    def check(self, seen: dict[str, Any]) -> CheckRun:
        """The check run of a proposal, as GitHub shows it."""
        runs = self.stage.world.repository(REPOSITORY).checks.values()
        return next(run for run in runs if run.external_id == seen["proposal"])

    def title(self, seen: dict[str, Any]) -> str:
        """What the check run of a proposal says, as GitHub shows it."""
        return str(self.check(seen).output.get("title"))

    @staticmethod
    async def _agent(call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        return await asyncio.to_thread(call)


@contextlib.asynccontextmanager
async def counted(play: Play, surface: str | None) -> Any:
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


async def approve(
    play: Play, seen: dict[str, Any], approving: Awaitable[object]
) -> tuple[dict[str, Any], int]:
    """Let a person approve; how it ended, and the milliseconds until the change was read back."""
    began = time.time()
    await approving
    over = await play.over(seen["proposal"])
    done = datetime.fromisoformat(over["receipt"]["at"]).timestamp()
    return over, round((done - began) * 1000)


async def first_use(play: Play) -> dict[str, int]:
    """Let Placet meet the repository: what only the first proposal costs is counted apart."""
    before = play.stage.world.log.counts()
    asked = await play._agent(lambda: play.agent.propose(TOOL, {"ids": [58]}))  # noqa: SLF001
    await play.until(asked["proposal"], lambda s: s["pull_request"] is not None)
    await play._agent(lambda: play.agent.withdraw(asked["proposal"]))  # noqa: SLF001
    await play.quiet()
    spent = Counter(play.stage.world.log.counts())
    spent.subtract(before)
    return dict(sorted(spent.items()))


async def by_review(play: Play) -> None:
    """Approve by review; the person behind the agent cannot, and a second delivery does nothing."""
    play.tell.act("1. Approved by a review")
    world = play.stage.world
    async with counted(play, "review") as life:
        seen = await play.ask([17, 23, 31], "These accounts bounced three newsletters.")
        number = play.number(seen)
        await world.person("dana").review(REPOSITORY, number, "APPROVE")
        refused = "does not count"
        await play.until(seen["proposal"], lambda s: s["verdict"] is not None)
        await play.quiet()
        _sure(refused in (play.title(seen)), "the check says that it does not count")
        _sure(play.stage.active() >= {17, 23, 31}, "nothing was changed")
        play.tell.line(f"@dana approves. The check says: {play.title(seen)}")
        world.faults.add(DeliveryFault("pull_request_review", "double"))
        lee = world.person("lee").review(REPOSITORY, number, "APPROVE")
        life["seen"], life["ms"] = await approve(play, seen, lee)
    _sure(not play.stage.active() & {17, 23, 31}, "three customers are inactive")
    play.tell.line("@lee approves; GitHub delivers it twice.")
    play.tell.line(f"The check says: {play.title(seen)}")
    play.tell.line(f"Rows changed once, {life['ms']} ms after the approval.")


async def drifts(play: Play) -> None:
    """Change the world between plan and approval: nothing is applied."""
    play.tell.act("2. The data changed meanwhile")
    async with counted(play, "review") as life:
        seen = await play.ask([42, 58], "No order in two years.")
        play.stage.deactivate_by_hand(58)
        play.tell.line("Somebody deactivates customer 58 by hand.")
        lee = play.stage.world.person("lee").review(REPOSITORY, play.number(seen), "APPROVE")
        life["seen"], _ = await approve(play, seen, lee)
    _sure({42} <= play.stage.active(), "customer 42 is untouched")
    _sure((life["seen"]["error"] or {}).get("code") == "drifted", "the reason is drift")
    play.tell.line("@lee approves, and Placet plans again before it acts.")
    play.tell.line(f"The check says: {play.title(seen)}")
    for change in life["seen"]["receipt"]["differences"]:
        play.tell.line(f"  {change['pointer']}: {change['before']} → {change['after']}")


async def by_button(play: Play) -> None:
    """Approve with the button of the check run."""
    play.tell.act("3. Approved with the button on the check")
    async with counted(play, "button") as life:
        seen = await play.ask([42], "No order in two years.")
        press = play.stage.world.person("lee").press(play.check(seen).id, "approve")
        life["seen"], life["ms"] = await approve(play, seen, press)
    _sure(not {42} & play.stage.active(), "customer 42 is inactive")
    play.tell.line("@lee presses Approve.")
    play.tell.line(f"The check says: {play.title(seen)}")


async def by_comment(play: Play) -> None:
    """Approve with a comment that names the plan."""
    play.tell.act("4. Approved with a comment")
    async with counted(play, "comment") as life:
        seen = await play.ask([66], "The contract ended.")
        words = f"/approve {seen['digest'].removeprefix('sha256:')[:12]}"
        comment = play.stage.world.person("noor").comment(REPOSITORY, play.number(seen), words)
        life["seen"], life["ms"] = await approve(play, seen, comment)
    _sure(not {66} & play.stage.active(), "customer 66 is inactive")
    play.tell.line(f"@noor comments: {words}")
    play.tell.line(f"The check says: {play.title(seen)}")


async def audit(play: Play) -> None:
    """Clone the ledger with plain git and show its log."""
    play.tell.act("5. The trail, in a plain git clone")
    clone = play.stage.folder / "clone"
    token = play.stage.world.token_for("noor")
    url = f"{play.stage.github}/{REPOSITORY}.git".replace("://", f"://noor:{token}@")
    await _git("clone", "-q", "-b", "placet/ledger", url, str(clone))
    log = await _git("-C", str(clone), "log", "--graph", "--format=%h %s")
    for line in log.splitlines():
        play.tell.line(line)
    files = (await _git("-C", str(clone), "ls-files", "proposals")).splitlines()
    for told in play.told:
        own = {Path(f).name for f in files if told["id"] in f}
        wanted = {"applied": {"plan.json", "start.json", "end.json"}}.get(told["state"], set())
        _sure(own >= wanted, f"the clone holds {wanted} of {told['id']}")


async def _git(*words: str) -> str:
    done = await asyncio.create_subprocess_exec("git", *words, stdout=-1, stderr=-1)
    said, complaint = await done.communicate()
    if done.returncode:
        raise Unexpected(f"git {words[0]}: {complaint.decode(errors='replace').strip()}")
    return said.decode(errors="replace")


def _sure(true: bool, what: str) -> None:  # noqa: FBT001
    if not true:
        raise Unexpected(f"it is not true that {what}")


async def play_all(folder: Path, tell: Telling) -> dict[str, Any]:
    """Play the whole story in this folder; what was told, as data."""
    tell.act("Placet: agents propose, people dispose")
    tell.line("Setting the stage: a GitHub, a database with six customers, Placet's server.")
    async with stage(folder) as here:
        with Placet(here.placet, here.token) as agent:
            play = Play(here, agent, tell)
            once = await first_use(play)
            for act in (by_review, drifts, by_button, by_comment, audit):
                await act(play)
            tell.line("")
            tell.line(f"Done in {time.monotonic() - tell.began:.1f} s. Requests to GitHub:")
            for told in play.told:
                spent = sum(told["requests"].values())
                tell.line(f"  {told['id']} {told['state']:8} {spent} ({told['surface']})")
            return {"proposals": play.told, "first_use": once, "memory_mb": memory(here)}


def memory(here: Stage) -> float:
    """The server's resident memory in MB; 0 where the system does not tell."""
    status = Path(f"/proc/{here.process.pid if here.process else 0}/status")
    if not status.exists():
        return 0.0
    line = next(w for w in status.read_text().splitlines() if w.startswith("VmRSS"))
    return round(int(line.split()[1]) / 1024, 1)


def demo(
    auto: Annotated[bool, typer.Option(help="Play without questions (always so today).")] = True,  # noqa: FBT002, ARG001
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,  # noqa: FBT002
    keep: Annotated[Path | None, typer.Option(help="Keep everything in this folder.")] = None,
) -> None:
    """Play the main job on this machine: propose, approve, plan again, apply, prove."""
    folder = keep or Path(tempfile.mkdtemp(prefix="placet-demo-"))
    try:
        told = asyncio.run(play_all(folder, Telling(silent=as_json)))
    except (Unexpected, RuntimeError) as error:
        typer.echo(f"placet-demo: {error}\nEverything is in {folder}.", err=True)
        raise typer.Exit(1) from None
    if as_json:
        typer.echo(json.dumps(told, indent=2))
    if keep is None:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """Run the command `placet-demo`."""
    typer.run(demo)
