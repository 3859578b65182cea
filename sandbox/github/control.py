"""A small desk under /_sandbox for whoever drives the sandbox from another process."""

from typing import Any

from fastapi import APIRouter, Request, Response

from .core import Core
from .faults import DeliveryFault, Fault

router = APIRouter(prefix="/_sandbox")


def _world(request: Request) -> Core:
    world: Core = request.app.state.world
    return world


@router.get("/log")
async def read_log(request: Request) -> dict[str, Any]:
    """Count the requests by route and name the unknown ones."""
    log = _world(request).log
    return {"counts": log.counts(), "unknown": [entry.path for entry in log.unknown()]}


@router.post("/faults", status_code=204)
async def add_fault(request: Request) -> Response:
    """Queue a fault: the members of Fault, or of DeliveryFault when it names an event."""
    wanted = await request.json()
    kind = DeliveryFault if "event" in wanted else Fault
    try:
        _world(request).faults.add(kind(**wanted))
    except TypeError as bad:
        return Response(str(bad), 422)
    return Response(status_code=204)


@router.delete("/faults", status_code=204)
async def clear_faults(request: Request) -> Response:
    """Let everything behave again."""
    _world(request).faults.clear()
    return Response(status_code=204)


@router.post("/settled", status_code=204)
async def settle(request: Request) -> Response:
    """Wait until every delivery has been answered."""
    await _world(request).settled()
    return Response(status_code=204)
