"""The operators' Unix socket: a file beside the store that only its owner can open (0600)."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import uvicorn
from fastapi import FastAPI

LONGEST = 100  # bytes of a socket's path; Linux allows 107, others less


class _Quiet(uvicorn.Server):
    """A server beside the main one, to which the process's signals belong."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield


def socket_path(store: Path) -> Path:
    """Where the socket of a store lies."""
    return store.with_name(store.name + ".sock")


@asynccontextmanager
async def listening(path: Path, app: FastAPI) -> AsyncIterator[None]:
    """Serve an application on the socket while the block runs; ValueError: the path is too long."""
    with _bound(path) as bound:
        config = uvicorn.Config(app, lifespan="off", log_config=None, access_log=False)
        server = _Quiet(config)
        task = asyncio.create_task(server.serve(sockets=[bound]))
        try:
            yield
        finally:
            server.should_exit = True
            await task


@contextmanager
def _bound(path: Path) -> Iterator[socket.socket]:
    """Bind with 0600 from the first moment on: uvicorn's own way leaves it open to everybody."""
    if len(os.fsencode(path)) > LONGEST:
        raise ValueError(f"{path} is too long for a socket; use a shorter folder for the store")
    path.unlink(missing_ok=True)  # the lock of the store says that its server is gone
    before = os.umask(0o177)
    try:
        bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        bound.bind(str(path))
    finally:
        os.umask(before)
    try:
        yield bound
    finally:
        bound.close()
        with suppress(OSError):
            path.unlink()
