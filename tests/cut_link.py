"""A link between a client and a server that can die without a word."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeAlias
from urllib.parse import urlsplit

Carry: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Link:
    """While it is `deaf`, what the server answers is lost, and its connection stays mute."""

    def __init__(self, there: str) -> None:
        self._there = urlsplit(there)
        self.url = ""
        self.deaf = False

    async def carry(self, down: asyncio.StreamReader, up: asyncio.StreamWriter) -> None:
        """Carry one connection, both ways."""
        there, to = await asyncio.open_connection(self._there.hostname, self._there.port)
        with contextlib.suppress(ConnectionError, asyncio.CancelledError):
            await asyncio.gather(self._upwards(down, to), self._downwards(there, up))
        to.close()
        up.close()

    async def _upwards(self, read: asyncio.StreamReader, write: asyncio.StreamWriter) -> None:
        while data := await read.read(65_536):
            write.write(data)
            await write.drain()
        write.close()

    async def _downwards(self, read: asyncio.StreamReader, write: asyncio.StreamWriter) -> None:
        mute = False
        while data := await read.read(65_536):
            mute = mute or self.deaf
            if not mute:
                write.write(data)
                await write.drain()
        if not mute:
            write.close()


@contextlib.asynccontextmanager
async def linked(there: str) -> AsyncIterator[Link]:
    """Give a link to this address, at one of its own."""
    link = Link(there)
    async with listening(link.carry) as link.url:
        yield link


@contextlib.asynccontextmanager
async def listening(carry: Carry) -> AsyncIterator[str]:
    """Let this answer whoever connects to an address of its own, which it gives."""
    server = await asyncio.start_server(carry, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
