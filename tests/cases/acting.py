"""What people and agents do in the cases."""

from collections.abc import Iterable
from typing import Any

from sandbox.stage import REPOSITORY
from sandbox.testing import Town

LEDGER = "refs/heads/placet/ledger"
TWO = """\
version: 1
rules:
  - tools: ["box.*"]
    require: [{approvals: 2}]
"""


def branch(seen: dict[str, Any]) -> str:
    return f"placet/p/{seen['proposal']}"


def short(seen: dict[str, Any]) -> str:
    """The digest as people paste it."""
    return str(seen["digest"]).removeprefix("sha256:")[:12]


async def keyed(here: Town, n: int, key: str) -> dict[str, Any]:
    """Propose under a key of its own, so that it is another call whatever it says."""
    body = {"tool": "box.add", "arguments": {"n": n}}
    async with here.http() as http:
        said = await http.post("/v1/proposals", json=body, headers={"Idempotency-Key": key})
    seen: dict[str, Any] = said.raise_for_status().json()
    await here.until(seen, lambda p: p.place is not None)
    await here.rest()
    return seen


async def say(here: Town, who: str, seen: dict[str, Any], words: str) -> None:
    """Comment on a proposal's page and wait until Placet has read it."""
    await here.person(who).comment(REPOSITORY, here.number(seen), words)
    await here.rest()


async def review(here: Town, who: str, seen: dict[str, Any], event: str = "APPROVE") -> None:
    """Review a proposal's page and wait until Placet has read it."""
    await here.person(who).review(REPOSITORY, here.number(seen), event, "looked at it")
    await here.rest()


async def waits(here: Town, seen: dict[str, Any]) -> bool:
    await here.rest()
    return bool((await here.seen(seen))["status"] == "awaiting_approval")


async def why_not(here: Town, seen: dict[str, Any]) -> set[str]:
    """Every code that the last verdict gives, about the proposal or about a stance."""
    verdict = (await here.seen(seen))["verdict"] or {"findings": [], "heard": []}
    told: Iterable[dict[str, Any]] = [*verdict["findings"], *verdict["heard"]]
    return {str(one.get("code") or one.get("reason")) for one in told} - {"None"}
