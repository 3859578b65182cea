"""Everything that an agent may ask of Placet, written once for both clients."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, Literal, Self, TypeVar
from urllib.parse import quote

from .requests import Request, header

One = TypeVar("One")
Many = TypeVar("Many")
Action = Literal["open", "look", "guard", "close"]


class Asking(ABC, Generic[One, Many]):
    """One agent's access to one server; an answer is `One` dict, or `Many` of them in a list.

    Every method raises PlacetError when Placet does not take the request.
    """

    _session: str | None

    def within(self, session: str) -> Self:
        """Give the same access for this conversation; its turns are told apart from others'."""
        other = copy.copy(self)
        other._session = session  # noqa: SLF001 (it is one of us)
        return other

    @abstractmethod
    def _send(self, request: Request) -> One:
        """Send a request and read its answer."""

    @abstractmethod
    def _listed(self, request: Request, member: str) -> Many:
        """Send a request and read this member of its answer, a list."""

    def propose(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        reason: str = "",
        key: str | None = None,
        target: Mapping[str, Any] | None = None,
        confirm_token: str | None = None,
    ) -> One:
        """Ask for one call; it is not done when this returns. Same `key`, same proposal.

        `target` ties it to a page that is there: {"repository": "owner/name"} with "pull_request"
        (a number) or "commit" (a full sha). `confirm_token` came with a preview that the user has
        agreed to.
        """
        body = _asked(tool, arguments, reason, target, confirm_token)
        return self._send(Request("POST", "proposals", body, header("Idempotency-Key", key)))

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        reason: str = "",
        key: str | None = None,
        target: Mapping[str, Any] | None = None,
        confirm_token: str | None = None,
    ) -> One:
        """Call a tool: a read is done and its `result` is there; anything else waits for people."""
        body = _asked(tool, arguments, reason, target, confirm_token)
        return self._send(Request("POST", "calls", body, header("Idempotency-Key", key)))

    def status(self, proposal: str) -> One:
        """Tell how a proposal stands, with its last verdict and its receipt."""
        return self._send(Request("GET", _path("proposals", proposal)))

    def explain(self, proposal: str) -> One:
        """Tell why a proposal is or is not approved, rule by rule."""
        return self._send(Request("GET", _path("proposals", proposal, "explanation")))

    def proposals(self) -> Many:
        """List this agent's proposals, newest first."""
        return self._listed(Request("GET", "proposals"), "proposals")

    def withdraw(self, proposal: str, *, reason: str = "") -> One:
        """Take a proposal back."""
        return self._send(
            Request("POST", _path("proposals", proposal, "withdraw"), {"reason": reason})
        )

    def undo(self, proposal: str, *, reason: str = "") -> One:
        """Ask for taking back what was applied: a new proposal, every time the same one."""
        return self._send(Request("POST", _path("proposals", proposal, "undo"), {"reason": reason}))

    def turn(self, action: Action) -> One:
        """Open the next turn, `look` at it, `guard` its end or `close` it; the facts come back.

        They are a `report` (placet.turn/v1), its `text`, what is `pending`, and a `correction`
        when the guard has one.
        """
        return self._send(Request("POST", "turns", {"action": action}))

    def discard(self, draft: str) -> One:
        """Let go of a call that lacks input."""
        return self._send(Request("POST", _path("drafts", draft, "discard"), {}))

    def tools(self) -> Many:
        """List the tools that are declared."""
        return self._listed(Request("GET", "tools"), "tools")


def _asked(
    tool: str,
    arguments: Mapping[str, Any],
    reason: str,
    target: Mapping[str, Any] | None,
    confirm_token: str | None,
) -> dict[str, Any]:
    more = {"target": target and dict(target), "confirm_token": confirm_token}
    body = {"tool": tool, "arguments": dict(arguments), "reason": reason}
    return body | {name: said for name, said in more.items() if said}


def _path(*steps: str) -> str:
    return "/".join(quote(step, safe="") for step in steps)
