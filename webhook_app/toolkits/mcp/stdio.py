"""An MCP server as a child process: its messages are lines on its standard input and output.

The mcp library's own reader takes time that grows with the square of an answer, takes answers of
any size, and leaves the choice of the environment to its caller's caller.
"""

import asyncio
import logging
import shutil
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

from proposals.tools import printable
from webhook_app.toolkits.process import GRACE, Child

from .lines import Lines, TooLong

LOG = logging.getLogger("placet.upstreams")
_WAITING = 100  # lines that wait to be read before the server has to wait
_LAST_WORDS = 1.0  # seconds in which what is still in the pipe is read after the end

Read = MemoryObjectReceiveStream[SessionMessage | Exception]
Write = MemoryObjectSendStream[SessionMessage]
LastWords = Callable[[int, bytes], None]
"""Told the code with which a server ended, and the last of what it wrote on stderr."""


class Server(Child):
    """The running server; what it says comes out line by line, and it waits when nobody reads."""

    def __init__(self) -> None:
        super().__init__()
        self.cut = Lines(0)
        self._lines: deque[bytes | TooLong] = deque()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Cut its output into lines; the last of its complaints are kept."""
        if fd != 1:
            super().pipe_data_received(fd, data)
            return
        self._lines.extend(self.cut.feed(data))
        if len(self._lines) > _WAITING:
            self._output().pause_reading()
        self._changed.set()

    async def lines(self) -> AsyncIterator[bytes | TooLong]:
        """Everything it says, until it has ended or has closed its output."""
        while True:
            while self._lines:
                yield self._lines.popleft()
            if self.silent:
                return
            self._output().resume_reading()
            if self.exited and not await self.until(lambda: self.silent, _LAST_WORDS):
                return
            await self.until(lambda: bool(self._lines or self.silent or self.exited), None)

    def _output(self) -> asyncio.ReadTransport:
        return cast("asyncio.ReadTransport", self.transport.get_pipe_transport(1))


@asynccontextmanager
async def running(
    command: Sequence[str], folder: Path, env: Mapping[str, str], most: int, tell: LastWords
) -> AsyncIterator[tuple[Read, Write]]:
    """Run the server and give its streams; whatever way this is left, its group is dead then.

    OSError when it cannot be started, ConnectionError when it ended. An
    answer of more than `most` bytes becomes an error.
    """
    server = await Server.start([*_tied(), *command], folder, env)
    server.cut = Lines(most)
    heard, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, said = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_listen, server, heard)
            tasks.start_soon(_speak, server, said)
            try:
                yield read, write
            finally:
                tasks.cancel_scope.cancel()
    except Exception as error:
        if await server.until(lambda: server.exited, _LAST_WORDS):
            raise ConnectionError(f"its command ended with code {server.code}") from error
        raise
    finally:
        for stream in (heard, read, write, said):
            stream.close()
        await _end(server)
        tell(server.code, bytes(server.noise))


async def _end(server: Server) -> None:
    """End it as MCP says: its input is closed, then it is asked to, then it is killed."""
    try:
        if not server.exited:
            server.send(b"", last=True)
            await server.until(lambda: server.exited, GRACE)
    finally:
        await server.end(GRACE)


def _tied() -> tuple[str, ...]:
    """What makes a child die with us also when we are killed and it does not read its input."""
    program = shutil.which("setpriv")
    return (program, "--pdeathsig", "KILL", "--") if program else ()


async def _listen(
    server: Server, heard: MemoryObjectSendStream[SessionMessage | Exception]
) -> None:
    async with heard:
        async for line in server.lines():
            message = _message(line)
            if message is not None:
                try:
                    await heard.send(message)
                except anyio.BrokenResourceError:
                    return  # the session is closed; nobody hears it any more


def _message(line: bytes | TooLong) -> SessionMessage | None:
    """What a line says; nothing when it is no message, and an error when it is too long to read."""
    if isinstance(line, TooLong):
        if line.id is None:
            raise ValueError(f"a message of {line.size:,} bytes that answers nothing")
        error = ErrorData(code=PARSE_ERROR, message=f"its answer has {line.size:,} bytes")
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=line.id, error=error))
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValidationError:
        LOG.debug("no message: %s", printable(line[:200].decode(errors="replace")))
        return None


async def _speak(server: Server, said: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async with said:
        async for item in said:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            server.send(text.encode() + b"\n", last=False)
