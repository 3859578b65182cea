"""A stream of bytes cut into lines, in time that grows with its length and no faster."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_ENDS = 256  # bytes that are kept of each end of a line that is too long
_HEAD = re.compile(rb'^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,')
_TAIL = re.compile(rb',\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line that was longer than allowed; `id` is the request it seems to answer, if it says so.

    Libraries write an answer's id before or after everything else, so the ends of the line tell it.
    """

    size: int
    id: int | None


class Lines:
    """Collects what arrives, piece by piece; of a line over `most` bytes only its ends are kept."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes | TooLong]:
        """Take what arrived; every line that it completes comes out, without its end."""
        *ending, rest = data.split(b"\n")
        for piece in ending:
            self._keep(piece)
            yield self._line()
        self._keep(rest)

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        self._parts.append(piece)
        if self._size > self._most:
            whole = b"".join(self._parts)
            self._parts = [whole[:_ENDS], whole[_ENDS:][-_ENDS:]]

    def _line(self) -> bytes | TooLong:
        whole, size = b"".join(self._parts), self._size
        self._parts, self._size = [], 0
        if size <= self._most:
            return whole
        found = _HEAD.search(whole[:_ENDS]) or _TAIL.search(whole[-_ENDS:])
        return TooLong(size, int(found[1]) if found else None)
