"""Moments of a proposal's life at which a case lets something happen."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from sandbox.github import Fault
from sandbox.github.actions import refs
from sandbox.stage import REPOSITORY
from sandbox.testing import Town
from tests.cases.acting import branch

Does = Callable[[Town, dict[str, Any]], Awaitable[None]]

FROZEN = """\
version: 1
rules:
  - tools: ["box.*"]
    require: [{approvals: 1}]
freeze:
  - {from: 2020-01-01T00:00Z, until: 2999-01-01T00:00Z, reason: code freeze}
"""


def after_the_last_look(here: Town, seen: dict[str, Any], does: Does) -> None:
    """The policy is the last thing read before a start: let this happen right after it."""
    _happens(here, seen, does, Fault("GET", "/contents/.github/placet.yml", when="after"))


def after_the_start(here: Town, seen: dict[str, Any], does: Does) -> None:
    """Let this happen when the start is on the ledger and the tool has not run yet."""
    _happens(here, seen, does, Fault("PUT", "start.json", when="after"))


def _happens(here: Town, seen: dict[str, Any], does: Does, when: Fault) -> None:
    async def run() -> None:
        await does(here, seen)
        await here.world.settled()

    when.run = run
    here.world.faults.add(when)


async def push(here: Town, seen: dict[str, Any]) -> None:
    await here.person("noor").push(REPOSITORY, branch(seen), {"x.txt": "x"})


async def close(here: Town, seen: dict[str, Any]) -> None:
    await here.person("noor").close(REPOSITORY, here.number(seen))


async def delete(here: Town, seen: dict[str, Any]) -> None:
    await here.person("noor").delete_branch(REPOSITORY, branch(seen))


async def reject(here: Town, seen: dict[str, Any]) -> None:
    await here.person("noor").comment(REPOSITORY, here.number(seen), "/reject")


async def block(here: Town, seen: dict[str, Any]) -> None:
    await here.person("noor").review(REPOSITORY, here.number(seen), "REQUEST_CHANGES", "wait")


async def retarget(here: Town, seen: dict[str, Any]) -> None:
    """Aim the pull request at the branch `elsewhere`, which is made where the ledger stands."""
    repository, noor = here.world.repository(REPOSITORY), here.person("noor")
    tip = repository.git.branch("placet/ledger") or ""
    refs.create_ref(here.world, repository, noor.caller, "refs/heads/elsewhere", tip)
    await noor.edit_pull(REPOSITORY, here.number(seen), base="elsewhere")


async def rewrite(here: Town, seen: dict[str, Any]) -> None:
    await here.person("noor").edit_pull(REPOSITORY, here.number(seen), body="Harmless")


async def dismiss(here: Town, seen: dict[str, Any]) -> None:
    number = here.number(seen)
    [given] = [r for r in here.page(seen).reviews.values() if r.number == number]
    await here.person("noor").dismiss(REPOSITORY, given.id)


async def freeze(here: Town, _: dict[str, Any]) -> None:
    await here.person("noor").push(REPOSITORY, "main", {".github/placet.yml": FROZEN})


async def expire(here: Town, _: dict[str, Any]) -> None:
    here.world.clock.advance(timedelta(hours=4))
