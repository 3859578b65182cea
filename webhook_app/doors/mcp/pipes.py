"""An agent's stdin and stdout: messages line by line, read as strictly as /mcp reads them.

A line that is no message is answered here, and the next one is read: nobody waits for ever.
"""

import asyncio
import math
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import TypeVar

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp_types import (
    INVALID_REQUEST,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from proposals.canonical import MAX_TEXT, NotCanonical, loads
from webhook_app.toolkits.mcp.lines import Lines, TooLong

from .reading import id_of, unread

Given = MemoryObjectReceiveStream[JSONRPCMessage]
Taken = MemoryObjectSendStream[JSONRPCMessage]
_T = TypeVar("_T")
_PIECE = 65_536
_LEAVING = 5.0  # seconds for the last answers, once nothing more is said
_NO_MESSAGE = "Not a message of JSON-RPC 2.0: send an object with jsonrpc, method, params and id."


class Unread(Exception):
    """A line that is no message; `answer` is what whoever wrote it is told."""

    def __init__(self, answer: JSONRPCError) -> None:
        super().__init__(answer.error.message)
        self.answer = answer


@asynccontextmanager
async def pipes() -> AsyncIterator[tuple[Given, Taken]]:
    """Give what the agent says, until its end, and the way back. Nothing else reads or writes.

    The way back takes everything at once, so that no answer is held by somebody who may be ended;
    an agent that reads none of it keeps nobody from ending.
    """
    said, given = anyio.create_memory_object_stream[JSONRPCMessage](0)
    taken, told = anyio.create_memory_object_stream[JSONRPCMessage](math.inf)
    with _kept(0) as stdin, _kept(1) as stdout:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_hear, stdin, said, taken.clone())
            tasks.start_soon(_tell, stdout, told)
            with given, taken:
                yield given, taken
            tasks.cancel_scope.deadline = anyio.current_time() + _LEAVING


def message(line: bytes | TooLong) -> JSONRPCMessage:
    """What a line says; Unread when it is no message, or one that JSON readers could differ about.

    A line over the cap comes as TooLong.
    """
    if isinstance(line, TooLong):
        words = f"{line.size} bytes of JSON; send at most {MAX_TEXT}."
        raise _unread(line.id, unread(NotCanonical("too_large", words)))
    try:
        value = loads(line)
        found = jsonrpc_message_adapter.validate_python(value, by_name=False)
    except NotCanonical as error:
        raise _unread(id_of(line), unread(error)) from None
    except ValidationError:
        found = None
    odd = isinstance(found, JSONRPCNotification) and isinstance(value, dict) and "id" in value
    if found is None or odd:
        raise _unread(id_of(line), {"code": INVALID_REQUEST, "message": _NO_MESSAGE})
    return found


def _unread(id_: str | int | None, error: dict[str, object]) -> Unread:
    return Unread(JSONRPCError(jsonrpc="2.0", id=id_, error=ErrorData.model_validate(error)))


async def _hear(stdin: int, said: Taken, back: Taken) -> None:
    lines = Lines(MAX_TEXT)
    async with said, back:
        while piece := await _apart(partial(os.read, stdin, _PIECE)):
            for line in lines.feed(piece):
                await _heard(line, said, back)
        for line in lines.feed(b"\n"):  # the last one may have no end
            await _heard(line, said, back)


async def _heard(line: bytes | TooLong, said: Taken, back: Taken) -> None:
    if isinstance(line, bytes) and not line.strip():
        return
    try:
        found = message(line)
    except Unread as error:
        await back.send(error.answer)
    else:
        await said.send(found)


async def _tell(stdout: int, told: Given) -> None:
    async with told:
        async for one in told:
            text = one.model_dump_json(by_alias=True, exclude_unset=True)
            await _apart(partial(_written, stdout, text.encode() + b"\n"))


async def _apart(work: Callable[[], _T]) -> _T:
    """Read or write in a thread that nobody has to wait for, nor does the end of the process."""
    done: Future[_T] = Future()
    done.set_running_or_notify_cancel()

    def run() -> None:
        try:
            done.set_result(work())
        except OSError as error:
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return await asyncio.wrap_future(done)


def _written(stdout: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(stdout, left) :]


@contextmanager
def _kept(standard: int) -> Iterator[int]:
    """Keep a standard stream for messages alone: others, children as well, find nothing there."""
    kept, nothing = os.dup(standard), os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, standard)
    os.close(nothing)
    try:
        yield kept
    finally:
        os.dup2(kept, standard)
        os.close(kept)
