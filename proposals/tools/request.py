"""How a call becomes an HTTP request: `method`, `path`, and where each argument goes."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

_HOLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_PATH = re.compile(r"/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*")
_HEADER = re.compile(r"[A-Za-z0-9-]{1,64}")
# What decides where a request goes or how it is read is not an argument's to say.
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "content-type"})


def _path(template: str) -> str:
    plain = _HOLE.sub("x", template)
    if not _PATH.fullmatch(plain) or plain.startswith("//") or "/." in plain:
        raise ValueError("a path is such as /v1/items/{id}, and stays below the upstream's address")
    return template


def _headers(said: dict[str, str]) -> dict[str, str]:
    for header in said.values():
        if not _HEADER.fullmatch(header) or header.lower() in _OURS:
            raise ValueError(f"{header!a:.80} is no header that an argument can set")
    return said


class Request(BaseModel):
    """One request. Arguments fill the holes of `path`; those in `query` and `headers` go there.

    `headers` names the header of each argument. What is left is the query of a GET, and the JSON
    body of anything else.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: Annotated[str, AfterValidator(_path), Field(max_length=500)]
    query: Annotated[tuple[str, ...], Field(strict=False)] = ()
    headers: Annotated[dict[str, str], AfterValidator(_headers)] = {}

    @property
    def holes(self) -> list[str]:
        """The arguments that stand in the path."""
        return _HOLE.findall(self.path)

    def unknown(self, known: object) -> str | None:
        """An argument that it places but that `known` has not."""
        placed = [*self.holes, *self.query, *self.headers]
        return next((n for n in placed if isinstance(known, dict) and n not in known), None)

    def at(self, parts: dict[str, str]) -> str:
        """The path with its holes filled by these parts, which are encoded already."""
        return _HOLE.sub(lambda hole: parts[hole[1]], self.path)
