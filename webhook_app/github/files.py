"""Files on a branch: created once, never overwritten, compared byte for byte."""

import base64
import binascii
import hashlib
from dataclasses import dataclass
from datetime import datetime

from proposals.ports import Refused

from .repository import NOT_FOUND, Repository
from .route import inside
from .shapes import Contents, Written

EXISTS = frozenset({409, 422})


@dataclass(frozen=True, slots=True)
class File:
    """A file as GitHub has it, at `date` by GitHub's clock.

    `data` is None beyond 1 MB, where only the blob's sha is known.
    """

    sha: str
    data: bytes | None
    date: datetime | None = None

    def same(self, data: bytes) -> bool:
        """Whether it holds exactly these bytes."""
        return self.sha == blob_sha(data) and self.data in (None, data)


def blob_sha(data: bytes) -> str:
    """Git's name for these bytes."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


async def create(
    repo: Repository, branch: str, path: str, data: bytes, message: str, *, urgent: bool = False
) -> Written:
    """Write a file that must not be there yet: Refused 422 or 409 when it is; raises ForgeError."""
    body = {"message": message, "content": base64.b64encode(data).decode(), "branch": branch}
    reply = await repo.ask("PUT", "contents", *inside(path), body=body, urgent=urgent)
    return reply.read(Written)


async def read(repo: Repository, path: str, ref: str | None = None) -> File | None:
    """The file at a commit or branch (None: the default branch as it is now); None: not there."""
    query = {} if ref is None else {"ref": ref}
    try:
        reply = await repo.ask("GET", "contents", *inside(path), query=query)
    except Refused as refused:
        if refused.status != NOT_FOUND:
            raise
        return None
    if reply.content.lstrip()[:1] == b"[":
        raise Refused(f"{path} is a folder", 422)
    found = reply.read(Contents)
    if found.type != "file":
        raise Refused(f"{path} is a {found.type}, not a file", 422)
    return File(found.sha, _bytes(found), reply.date)


def _bytes(found: Contents) -> bytes | None:
    if found.encoding != "base64":
        return None
    try:
        return base64.b64decode(found.content)
    except binascii.Error:
        return None
