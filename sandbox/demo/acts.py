"""The acts of the story: each is one proposal's life, and says what must be true at its end."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable
from datetime import datetime
from pathlib import Path
from typing import Any

from sandbox.github import DeliveryFault
from sandbox.stage import REPOSITORY, SHOP, TOOL

from .play import Play, Unexpected, counted


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
    asked = await play.hands(lambda: play.agent.propose(TOOL, {"ids": [58]}))
    await play.until(asked["proposal"], lambda s: s["pull_request"] is not None)
    await play.hands(lambda: play.agent.withdraw(asked["proposal"]))
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
        play.tell.line(
            f"  {change['pointer']}: {_short(change['before'])} → {_short(change['after'])}"
        )


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


async def beside_code(play: Play) -> None:
    """Approve what an agent asks beside a person's pull request of another repository."""
    play.tell.act("5. Asked beside somebody's pull request, approved with the check's button")
    lee = play.stage.world.person("lee")
    await lee.push(SHOP, "leave", {"leave.md": "Gull & Daughters leave.\n"})
    pull = await lee.open_pull(SHOP, title="Take Gull & Daughters off the shop", head="leave")
    await play.quiet()
    play.tell.line(f"@lee opens {SHOP}#{pull.number} “{pull.title}”.")
    async with counted(play, "check-run button") as life:
        target = {"repository": SHOP, "pull_request": pull.number}
        seen = await play.ask([71], "They leave the shop with this pull request.", target)
        press = play.stage.world.person("noor").press(play.check(seen).id, "approve")
        life["seen"], life["ms"] = await approve(play, seen, press)
    _sure(not {71} & play.stage.active(), "customer 71 is inactive")
    _sure(pull.state == "open", "the pull request itself is left alone")
    play.tell.line("@noor presses Approve. Nothing else happens to the pull request.")
    play.tell.line(f"The check says: {play.title(seen)}")


async def audit(play: Play) -> None:
    """Clone the repository with plain git, and prove from the clone alone what was done."""
    play.tell.act("6. The trail, in a plain git clone")
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
    fingerprint = (await play.stage.operator("keys"))["fingerprint"]
    store = play.stage.folder / "placet.db"
    play.tell.line("")
    play.tell.line(f"$ placet audit --clone clone --trust {fingerprint} --store placet.db")
    words = ("audit", "--clone", str(clone), "--trust", fingerprint, "--store", str(store))
    for line in (await play.stage.run(*words)).splitlines():
        play.tell.line(line)


def _short(value: Any) -> str:
    """A value of a plan as JSON, cut where it gets long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"  # noqa: PLR2004


async def _git(*words: str) -> str:
    done = await asyncio.create_subprocess_exec("git", *words, stdout=-1, stderr=-1)
    said, complaint = await done.communicate()
    if done.returncode:
        raise Unexpected(f"git {words[0]}: {complaint.decode(errors='replace').strip()}")
    return said.decode(errors="replace")


def _sure(true: bool, what: str) -> None:  # noqa: FBT001
    if not true:
        raise Unexpected(f"it is not true that {what}")


ACTS = (by_review, drifts, by_button, by_comment, beside_code, audit)
