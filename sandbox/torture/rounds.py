"""A round: agents ask, people approve, deliveries go wrong, and then the server dies."""

import asyncio
import contextlib
import signal
import time
from collections.abc import Awaitable, Callable

import httpx

from sandbox.github import DeliveryFault, Fault
from sandbox.stage import REPOSITORY

from .book import Book
from .machine import FORGOTTEN, LONGER, TOOL, Machine, asleep

REPO = "/repos/{owner}/{repo}"
# Where the server dies: right before or after a request of its own had its effect.
STEPS = {
    "branch made": ("POST", f"{REPO}/git/refs", "after"),
    "plan committed": ("PUT", r"/plan\.json", "after"),
    "page opened": ("POST", f"{REPO}/pulls", "after"),
    "check made": ("POST", f"{REPO}/check-runs", "after"),
    "first look": ("GET", f"{REPO}/pulls/{{pull_number}}/reviews", "before"),
    "claimed": ("GET", r"/contents/\.github/placet\.yml", "before"),
    "start not sent": ("PUT", r"/start\.json", "before"),
    "start recorded": ("PUT", r"/start\.json", "after"),
    "end not sent": ("PUT", r"/end\.json", "before"),
    "end recorded": ("PUT", r"/end\.json", "after"),
    "merged": ("PUT", f"{REPO}/pulls/{{pull_number}}/merge", "after"),
    "told": ("POST", f"{REPO}/issues/{{issue_number}}/comments", "after"),
}
TRAPS = {"tool begun": "before", "tool done": "after"}
WAYS = ("any moment", "frozen", "paused", "restored", *STEPS, *TRAPS)
ANSWER = 502
PATIENCE = 120.0
"""Seconds without any progress after which what is left counts as lost."""
AGAIN = 20.0
"""Seconds after which people say again what led to nothing."""


async def torment(made: Machine, book: Book) -> None:
    """One round; the server is up again at its end."""
    way = book.dice.choice(WAYS)
    book.ways[way] += 1
    backup = await made.backup() if way == "restored" else None
    died = await _arm(made, book, way)
    await _mischief(made, book)
    await asyncio.gather(*(_ask(made, book) for _ in range(2)))
    await _approve(made, book)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LONGER if way == "paused" else 1.5):
            await died()
    made.kill(signal.SIGCONT)
    if way == "paused":
        return  # it goes on, with everything timed out around it
    made.kill()
    await made.down()
    made.world.faults.clear()
    for trap in TRAPS.values():
        (made.box / trap).unlink(missing_ok=True)
    if backup:
        made.restore(backup)
    await made.start()
    if backup:
        await made.resume()


async def _arm(made: Machine, book: Book, way: str) -> Callable[[], Awaitable[object]]:
    """Prepare the way to die; what it gives back waits until that has happened."""
    gone = asyncio.Event()

    async def kill() -> None:
        made.kill()
        gone.set()

    if way in STEPS:
        method, path, when = STEPS[way]
        fault = Fault(method, path, when=when, run=kill, nth=book.dice.choice((1, 1, 2)))  # type: ignore[arg-type]
        made.world.faults.add(fault)
        return gone.wait
    if way in TRAPS:
        (made.box / TRAPS[way]).touch()
        return gone.wait
    moment = book.dice.uniform(0.0, 1.0)
    if way in ("frozen", "paused"):
        asyncio.get_running_loop().call_later(moment, made.kill, signal.SIGSTOP)
        return lambda: asleep(moment + (0.4 if way == "frozen" else LONGER))
    return lambda: asleep(moment)


async def _mischief(made: Machine, book: Book) -> None:
    """Let a delivery fail, get lost, come twice or late, or again; let GitHub answer 502 once."""
    event = book.dice.choice(("pull_request_review", "pull_request", "push", "check_run"))
    effect = book.dice.choice(("fail", "lose", "double", "double", "hold"))
    made.world.faults.add(DeliveryFault(event, effect))  # type: ignore[arg-type]
    deliveries = made.world.deliveries
    deliveries.release(backwards=book.dice.random() < 0.5)  # noqa: PLR2004
    if deliveries.all and book.dice.random() < 0.5:  # noqa: PLR2004
        deliveries.again(book.dice.choice(deliveries.all), made.world.new_id("delivery"))
    if book.dice.random() < 0.3:  # noqa: PLR2004
        fault = Fault("*", "^/repos/", nth=book.dice.randint(1, 9), status=ANSWER, when="after")
        made.world.faults.add(fault)


async def _ask(made: Machine, book: Book) -> None:
    """Ask with a key of its own, so that asking again after no answer makes no second one."""
    n = len(book.asked) + 1
    while n in book.asked:
        n += 1
    book.asked[n] = ""
    for _ in range(3):
        try:
            async with made.http() as http:
                body = {"tool": TOOL, "arguments": {"n": n}}
                headers = {"Idempotency-Key": f"key-{n}"}
                said = (await http.post("/v1/proposals", json=body, headers=headers)).json()
            book.asked[n] = said["proposal"]
            made.last[said["proposal"]] = said
        except (httpx.HTTPError, ValueError, KeyError):
            await asleep(0.1)
        else:
            return
    del book.asked[n]


async def _approve(made: Machine, book: Book) -> None:
    """Approve what waits: by review, by two people in the same moment, or by the button."""
    for n, id_ in list(book.asked.items()):
        if n in book.approved or not made.pulls(id_):
            continue
        book.approved.add(n)
        await _say_yes(made, book, id_)


async def _say_yes(made: Machine, book: Book, id_: str) -> None:
    found = made.world.repository(REPOSITORY)
    pull = next(p for p in found.pulls.values() if p.head_ref == f"placet/p/{id_}")
    runs = [run for run in found.checks.values() if run.external_id == id_]
    lee, noor = made.world.person("lee"), made.world.person("noor")
    if pull.state != "open":
        return
    way = book.dice.choice(("review", "both", "button"))
    if way == "button" and runs and runs[0].actions:
        await lee.press(runs[0].id, "approve")
        return
    people = (lee, noor) if way == "both" else (lee,)
    await asyncio.gather(*(one.review(REPOSITORY, pull.number, "APPROVE") for one in people))


async def settle(made: Machine, book: Book) -> None:
    """Let everything go right again, and see every proposal to its end."""
    made.world.faults.clear()
    made.world.deliveries.release()
    said: dict[str, float] = {}
    unknown: set[str] = set()
    waiting = list(book.asked.values())
    deadline = time.monotonic() + PATIENCE
    while waiting and time.monotonic() < deadline:
        for id_ in waiting:
            seen = await made.look(id_)
            if seen and not _over(made, id_) and time.monotonic() - said.get(id_, 0.0) > AGAIN:
                said[id_] = time.monotonic()
                await _say_again(made, book, id_, seen, unknown)
        left = [id_ for id_ in waiting if not _over(made, id_)]
        if len(left) < len(waiting):
            deadline = time.monotonic() + PATIENCE
        waiting = left
        await asleep(0.5)
    book.unknown = len(unknown)


def _over(made: Machine, id_: str) -> bool:
    return made.last.get(id_, {}).get("status") in ("applied", "failed", "ended", FORGOTTEN)


async def _say_again(
    made: Machine, book: Book, id_: str, seen: dict[str, object], unknown: set[str]
) -> None:
    """What people do about one that is not over: look into the box, or approve it (again)."""
    if seen["status"] == "unknown":
        unknown.add(id_)
        await _resolve(made, book, id_, seen)
    elif made.pulls(id_):
        book.approved.add(next(n for n, known in book.asked.items() if known == id_))
        await _say_yes(made, book, id_)


async def _resolve(made: Machine, book: Book, id_: str, seen: dict[str, object]) -> None:
    """Look into the box, as a person would, and say what they found."""
    n = next(n for n, known in book.asked.items() if known == id_)
    word = "applied" if made.runs()[n] else "failed"
    digest = str(seen["digest"]).removeprefix("sha256:")[:12]
    found = made.world.repository(REPOSITORY)
    pull = next(p for p in found.pulls.values() if p.head_ref == f"placet/p/{id_}")
    words = f"/resolve {digest} {word} I looked into the box"
    await made.world.person("noor").comment(REPOSITORY, pull.number, words)
