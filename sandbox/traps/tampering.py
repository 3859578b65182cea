"""What is done behind everybody's back: pushes that nobody is told of, and deliveries made up."""

import copy
import json
from collections.abc import Mapping
from typing import Any

import httpx

from sandbox.github.actions.refs import BRANCH, update_ref
from sandbox.github.deliveries import Delivery, signature
from sandbox.github.faults import DeliveryFault
from sandbox.stage import REPOSITORY

from .place import Place

NOT_THE_SECRET = "everybody knows this one"  # noqa: S105 (that is the point)


async def rewrite_unheard(place: Place, number: int, old: str, new: str) -> None:
    """Push another plan over one that waits, as dana; GitHub loses the webhooks of it."""
    _lose_a_push(place)
    await place.rewrite(number, "dana", old, new)


async def swapped(place: Place, number: int, old: str, new: str) -> None:
    """Show lee another plan, and put the real one back before the webhook of the yes arrives."""
    world = place.stage.world
    branch, _, _ = place.file(number)
    pinned = world.repository(REPOSITORY).git.commit_of(branch)
    await rewrite_unheard(place, number, old, new)
    world.faults.add(DeliveryFault("pull_request_review", "hold"))
    await place.approve(number, "lee")
    _lose_a_push(place)
    dana = world.person("dana").caller
    repository = world.repository(REPOSITORY)
    update_ref(world, repository, dana, f"{BRANCH}{branch}", pinned, force=True)
    world.deliveries.release()
    await place.rest()


async def forge_a_press(place: Place, number: int) -> None:
    """Let dana press the button, and send what GitHub could not deliver of it as a press of lee's.

    GitHub's own log shows a press of that guid; only the signature tells that it is another one.
    """
    world = place.stage.world
    run = next(r for r in world.repository(REPOSITORY).checks.values() if _shows(place, number, r))
    world.faults.add(DeliveryFault("check_run", "fail", "requested_action"))
    await world.person("dana").press(run.id, "approve")
    real = next(d for d in reversed(world.deliveries.all) if d.action == "requested_action")
    forged = copy.deepcopy(real.payload)
    lee = world.account("lee")
    forged["sender"] |= {"login": lee.login, "id": lee.id}
    await _send(place, real, forged)
    await place.rest()


def _shows(place: Place, number: int, run: Any) -> bool:
    branch, _, _ = place.file(number)
    return bool(run.external_id == branch.rpartition("/")[2])


async def _send(place: Place, real: Delivery, payload: Mapping[str, Any]) -> None:
    raw = json.dumps(payload).encode()
    headers = {**real.headers, "X-Hub-Signature-256": signature(NOT_THE_SECRET, raw)}
    async with httpx.AsyncClient() as http:
        await http.post(f"{place.stage.placet}/webhook", content=raw, headers=headers)


def _lose_a_push(place: Place) -> None:
    faults = place.stage.world.faults
    faults.add(DeliveryFault("push", "lose"))
    faults.add(DeliveryFault("pull_request", "lose", "synchronize"))
