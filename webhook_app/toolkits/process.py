"""A child process: no shell, its own process group, never longer or louder than allowed."""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self, cast

MAX_OUTPUT = 1_000_000  # bytes of standard output, of one answer
MAX_NOISE = 8_000  # bytes of standard error that are kept, the last ones
GRACE = 2.0  # seconds between SIGTERM and SIGKILL
_LAST_WORDS = 1.0  # seconds in which what is still in the pipe is read after the end


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of asking a child: its answer, or the `problem` in words.

    `started` is false only when it is certain that not one instruction of it ran.
    """

    answer: bytes = b""
    noise: bytes = b""
    code: int = 0
    problem: str = ""
    started: bool = True


class Child(asyncio.SubprocessProtocol):
    """A child that runs; everything it starts in its group ends with it.

    asyncio's own Process is not used: before Python 3.13 its wait() also waited for grandchildren
    that hold the pipes.
    """

    transport: asyncio.SubprocessTransport

    def __init__(self) -> None:
        self.output = bytearray()
        self.noise = bytearray()
        self.loud = False
        self.silent = False
        self.exited = False
        self._changed = asyncio.Event()

    @classmethod
    async def start(cls, argv: Sequence[str], folder: Path, env: Mapping[str, str]) -> Self:
        """Start it in `folder` with exactly this environment; OSError when it cannot."""
        child = cls()
        made = await asyncio.get_running_loop().subprocess_exec(
            lambda: child, *argv, cwd=folder, env=dict(env), start_new_session=True
        )
        child.transport = made[0]
        return child

    def send(self, data: bytes, *, last: bool) -> None:
        """Write to its standard input, and close that after the `last`."""
        pipe = cast("asyncio.WriteTransport | None", self.transport.get_pipe_transport(0))
        if pipe is not None and not pipe.is_closing():
            pipe.write(data)
            if last:
                pipe.write_eof()

    async def until(self, done: Callable[[], bool], seconds: float | None) -> bool:
        """Wait for something of it that is checked at each change; false when time is up."""
        try:
            async with asyncio.timeout(seconds):
                while not done():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True

    async def end(self, grace: float) -> None:
        """End it and its group: asked to first, for `grace` seconds, then killed."""
        try:
            if grace and not self.exited:
                self._signal(signal.SIGTERM)
                await self.until(lambda: self.exited, grace)
        finally:
            self._signal(signal.SIGKILL)
            try:
                await self.until(lambda: self.exited, GRACE)
                await self.until(lambda: self.silent, _LAST_WORDS)
            finally:
                self.transport.close()

    @property
    def code(self) -> int:
        """How it ended: its exit code, or minus the signal that killed it."""
        return self.transport.get_returncode() or 0

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self.transport.get_pid(), number)
        except (ProcessLookupError, PermissionError):
            return

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Keep what is said, up to the caps."""
        if fd == 1:
            self.output += data[: MAX_OUTPUT + 1 - len(self.output)]
            self.loud = len(self.output) > MAX_OUTPUT
        else:
            self.noise = (self.noise + data)[-MAX_NOISE:]
        self._changed.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002
        """Notice the end of its output; a closed input is its own choice."""
        self.silent = self.silent or fd == 1
        self._changed.set()

    def process_exited(self) -> None:
        """Notice its end, whoever still holds its pipes."""
        self.exited = True
        self._changed.set()


async def run(
    argv: Sequence[str], given: bytes, folder: Path, env: Mapping[str, str], seconds: float
) -> Ran:
    """Run a command once, to its end. Whatever way this is left, its group is dead afterwards."""
    try:
        child = await Child.start(argv, folder, env)
    except (OSError, ValueError) as error:
        return not_started(argv[0], error)
    grace = 0.0
    try:
        child.send(given, last=True)
        in_time = await child.until(lambda: child.loud or child.exited, seconds)
        grace = GRACE if not child.exited else 0.0
    finally:
        await child.end(grace)
    problem = "" if in_time else f"The tool did not end within {seconds:g} s and was stopped."
    return ran(child, bytes(child.output), problem)


def ran(child: Child, answer: bytes, problem: str) -> Ran:
    """What came of a child that was asked; too much output is a problem of its own."""
    if child.loud:
        problem = f"The tool wrote more than {MAX_OUTPUT:,} bytes and was stopped."
    return Ran(answer, bytes(child.noise), child.code, problem)


def not_started(program: str, error: Exception) -> Ran:
    """What came of a program that could not even be started."""
    why = error.strerror if isinstance(error, OSError) else str(error)
    return Ran(problem=f"{program} could not be started: {why}.", started=False)


def environment(
    server: Mapping[str, str], declared: Mapping[str, str]
) -> tuple[dict[str, str], list[str]]:
    """The whole environment of a child, and the server's variables that it needs but lacks."""
    made = {k: server[k] for k in ("PATH", "HOME", "LANG") if k in server}
    lacking = []
    for name, value in declared.items():
        source = value.removeprefix("env:")
        if source == value:
            made[name] = value
        elif source in server:
            made[name] = server[source]
        else:
            lacking.append(source)
    return made, lacking
