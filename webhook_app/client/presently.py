"""For code that awaits Placet's answers where nothing can be awaited: they are there at once."""

from collections.abc import Coroutine
from typing import Any, Self, TypeVar

from .awaited import Awaited
from .direct import Placet
from .requests import Request

T = TypeVar("T")


class Presently(Awaited):
    """`Placet`, asked as `AsyncPlacet` is: whoever awaits an answer has waited for it already."""

    def __init__(self, placet: Placet) -> None:
        self._session = None  # it is the other's
        self._placet = placet

    def within(self, session: str) -> Self:
        """Give the same access for this conversation; its turns are told apart from others'."""
        return type(self)(self._placet.within(session))

    async def wait(self, proposal: str, timeout: float, *, every: float = 2.0) -> dict[str, Any]:  # noqa: ASYNC109 (how long a person may take)
        """Ask until it is over, `every` so many seconds; StillWaiting after `timeout` seconds."""
        return self._placet.wait(proposal, timeout, every=every)

    async def _listed(self, request: Request, member: str) -> list[dict[str, Any]]:
        return self._placet._listed(request, member)  # noqa: SLF001 (it is one of us)

    async def _send(self, request: Request) -> dict[str, Any]:
        return self._placet._send(request)  # noqa: SLF001 (it is one of us)


def at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run what awaits nothing but `Presently`, without any event loop; RuntimeError if it does."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        found: T = done.value
        return found
    coroutine.close()
    raise RuntimeError("it waits for something that only an event loop can bring")
