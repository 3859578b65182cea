"""For agents: ask Placet for tool calls from Python. Needs httpx and nothing of the server.

placet = Placet("https://placet.example.com", token)
asked = placet.propose("crm.deactivate", {"ids": [17, 23]}, reason="they bounced")
print(asked["say_to_user"])
over = placet.wait(asked["proposal"], timeout=3600)
"""

import json
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx

OVER = frozenset({"read", "applied", "failed", "unknown", "ended", "denied"})


class PlacetError(Exception):
    """Placet did not take the request; `code` is stable, `hint` says what to do.

    `status` is HTTP's, 0 when no answer came: then the request may or may not have arrived, and
    sending it again with the same `key` is safe.
    """

    def __init__(self, code: str, message: str, hint: str = "", status: int = 0) -> None:
        super().__init__(f"{code}: {message} {hint}".strip())
        self.code = code
        self.hint = hint
        self.status = status


class StillWaiting(PlacetError):
    """The proposal was not over in time; it goes on waiting."""


class Placet:
    """One agent's access to one server; every answer is a dict of `placet.call/v1`."""

    def __init__(
        self, url: str, token: str, *, transport: httpx.BaseTransport | None = None
    ) -> None:
        # Longer than the 20 s after which the server answers that it still plans.
        self._http = httpx.Client(
            base_url=url.rstrip("/") + "/v1/",
            headers={"Authorization": f"Bearer {token}"},
            timeout=30.0,
            transport=transport,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    def propose(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        reason: str = "",
        key: str | None = None,
        target: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Ask for one call; it is not done when this returns. Same `key`, same proposal.

        `target` ties it to a page that is there: {"repository": "owner/name"} with "pull_request"
        (a number) or "commit" (a full sha).
        """
        headers = {"Idempotency-Key": key} if key else {}
        body = {"tool": tool, "arguments": dict(arguments), "reason": reason}
        body |= {"target": dict(target)} if target else {}
        return self._send("POST", "proposals", body, headers)

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        reason: str = "",
        key: str | None = None,
        session: str | None = None,
    ) -> dict[str, Any]:
        """Call a tool: a read is done and its `result` is there; anything else waits for people.

        `session` is for tools whose reads are remembered: it names yours.
        """
        headers = {"Idempotency-Key": key} if key else {}
        headers |= {"Placet-Session": session} if session else {}
        body = {"tool": tool, "arguments": dict(arguments), "reason": reason}
        return self._send("POST", "calls", body, headers)

    def status(self, proposal: str) -> dict[str, Any]:
        """Tell how a proposal stands, with its last verdict and its receipt."""
        return self._send("GET", f"proposals/{quote(proposal, safe='')}")

    def explain(self, proposal: str) -> dict[str, Any]:
        """Tell why a proposal is or is not approved, rule by rule."""
        return self._send("GET", f"proposals/{quote(proposal, safe='')}/explanation")

    def proposals(self) -> list[dict[str, Any]]:
        """List this agent's proposals, newest first."""
        return list(self._send("GET", "proposals")["proposals"])

    def wait(self, proposal: str, timeout: float, *, every: float = 2.0) -> dict[str, Any]:
        """Ask until it is over, `every` so many seconds; StillWaiting after `timeout` seconds."""
        end = time.monotonic() + timeout
        while True:
            answer = self.status(proposal)
            if answer["status"] in OVER:
                return answer
            left = end - time.monotonic()
            if left <= 0:
                status = answer["status"]
                raise StillWaiting("still_waiting", f"{proposal} is {status}.", "Wait again.")
            time.sleep(min(every, left))

    def withdraw(self, proposal: str, *, reason: str = "") -> dict[str, Any]:
        """Take a proposal back."""
        path = f"proposals/{quote(proposal, safe='')}/withdraw"
        return self._send("POST", path, {"reason": reason})

    def undo(self, proposal: str, *, reason: str = "") -> dict[str, Any]:
        """Ask for taking back what was applied: a new proposal, every time the same one."""
        path = f"proposals/{quote(proposal, safe='')}/undo"
        return self._send("POST", path, {"reason": reason})

    def turn(self, action: str, *, session: str | None = None) -> dict[str, Any]:
        """Open the next turn, `look` at it, `guard` its end or `close` it; the facts come back.

        They are a `report` (placet.turn/v1), its `text`, what is `pending`, and a `correction`
        when the guard has one. `session` names your conversation.
        """
        headers = {"Placet-Session": session} if session else {}
        return self._send("POST", "turns", {"action": action}, headers)

    def discard(self, draft: str, *, session: str | None = None) -> dict[str, Any]:
        """Let go of a call that lacks input."""
        headers = {"Placet-Session": session} if session else {}
        return self._send("POST", f"drafts/{quote(draft, safe='')}/discard", {}, headers)

    def tools(self) -> list[dict[str, Any]]:
        """List the tools that are declared."""
        return list(self._send("GET", "tools")["tools"])

    def _send(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        content = None if body is None else json.dumps(body, allow_nan=False)
        kind = {"Content-Type": "application/json"} if body is not None else {}
        try:
            response = self._http.request(
                method, path, content=content, headers={**kind, **(headers or {})}
            )
        except httpx.HTTPError as error:
            name = type(error).__name__
            message = f"No answer from {self._http.base_url}: {name}."
            raise PlacetError("unreachable", message, "Is the server running?") from None
        return _answer(response)


def _answer(response: httpx.Response) -> dict[str, Any]:
    try:
        said = response.json()
    except ValueError:
        said = None
    if response.is_success and isinstance(said, dict):
        return said
    problem = said if isinstance(said, dict) else {}
    code = str(problem.get("code", "not_placet"))
    detail = str(problem.get("detail", f"HTTP {response.status_code}, which is not Placet's."))
    raise PlacetError(code, detail, str(problem.get("hint", "")), response.status_code)
