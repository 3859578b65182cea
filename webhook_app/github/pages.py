"""Lists that come in pages, read to the end or not at all."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

from proposals.ports import Unavailable

from .answer import Reply

PER_PAGE = 100
MOST = 50


async def pages(
    ask: Callable[[dict[str, str | int]], Awaitable[Reply]],
    query: Mapping[str, str | int] | None = None,
    most: int = MOST,
) -> AsyncIterator[Reply]:
    """Each page of a list; Unavailable when the pages go in a circle or never end.

    Only the page number or cursor is taken from GitHub's link, never its address.
    """
    step: dict[str, str] = {}
    seen: list[dict[str, str]] = [step]
    for _ in range(most):
        reply = await ask({"per_page": PER_PAGE, **(query or {}), **step})
        yield reply
        step = reply.next
        if not step:
            return
        if step in seen:
            raise Unavailable(f"GitHub's list does not go on ({reply.asked})")
        seen.append(step)
    raise Unavailable(f"GitHub's list is longer than {most * PER_PAGE} entries ({reply.asked})")
