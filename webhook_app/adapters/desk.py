"""A Placet server as our own loop's Calls and Guard: its tools, and the facts of each turn.

    async with AsyncPlacet(url, token, session="conversation-7") as placet:
        desk = Desk(placet)
        loop = Loop(model, desk, desk, time.monotonic, print)
        ended = await loop.turn(Transcript(), "Enter Ann.")

Nothing here raises: what goes wrong is a result that says so, and facts that cannot be had say
that nothing is confirmed.
"""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from proposals.agent_ports import Facts, Offer
from proposals.answer import denied
from proposals.own import OWN, Discard, List, Status, Withdraw, read
from proposals.reserved import RESERVED, Reserved, reserved, with_reserved
from proposals.tools import BadArguments
from proposals.transcript import Result, Use
from webhook_app.client import (
    Action,
    Awaited,
    PlacetError,
    StillWaiting,
    not_confirmed,
    read_facts,
)

from .unheard import unheard, unknown_facts

_WRONG = frozenset({"denied", "draft", "failed", "ended", "unknown"})
_UNKNOWN = {"gated": True}
_EVERY = 0.5  # seconds between looks at a proposal that a model waits for


class Desk:
    """What one conversation of an agent has before it; `placet` is within its session."""

    def __init__(self, placet: Awaited) -> None:
        self.placet = placet
        self._tools: dict[str, Mapping[str, Any]] = {}

    async def begin(self) -> Facts:
        """Open the next turn; the facts are about the one before."""
        return await self._turn("open")

    async def facts(self) -> Facts:
        """Look at the turn."""
        return await self._turn("look")

    async def end(self) -> Facts:
        """Close the turn."""
        return await self._turn("close")

    async def correction(self) -> str | None:
        """Ask the server's guard; when nobody can be asked, that is what the model is told."""
        try:
            said = read_facts(await self.placet.turn("guard"))["correction"]
        except PlacetError as error:
            return not_confirmed(error)
        return said if isinstance(said, str) else None

    async def tools(self) -> list[Offer]:
        """List what may be called: the server's tools, and Placet's own."""
        own = [Offer(n, m.__doc__ or n, m.model_json_schema()) for n, m in OWN.items()]
        try:
            found = await self._declared(fresh=True)
        except PlacetError:
            return own  # the facts of the turn say that nobody can be asked
        return [*(Offer(w, t["description"], _schema(t)) for w, t in found.items()), *own]

    async def gated(self, wire: str) -> bool:
        """Whether calling this may ask people; what is not known may as well."""
        if wire in OWN:
            return False
        try:
            return bool((await self._declared()).get(wire, _UNKNOWN)["gated"])
        except PlacetError:
            return True

    async def call(self, use: Use) -> Result:
        """Make one call; its result is `placet.call/v1`, however it came out."""
        return result(use, await self.ask(use))

    async def ask(self, use: Use, key: str | None = None) -> dict[str, Any]:
        """Make one call, under an idempotency key if it has one; what is said of it."""
        try:
            if use.tool in OWN:
                return await self._own(OWN[use.tool], use)
            return await self._called(use, key)
        except BadArguments as error:
            return denied(use.tool, error.code, str(error), error.hint)
        except PlacetError as error:
            return unheard(use.tool, error)

    async def look(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Tell how the proposal of an earlier answer stands now."""
        try:
            return await self.placet.status(str(said["proposal"]))
        except PlacetError as error:
            return unheard(str(said["tool"]), error) | {"proposal": said["proposal"]}

    async def _declared(self, *, fresh: bool = False) -> Mapping[str, Mapping[str, Any]]:
        """The server's tools by their names on the wire."""
        if fresh or not self._tools:
            self._tools = {tool["wire"]: tool for tool in await self.placet.tools()}
        return self._tools

    async def _called(self, use: Use, key: str | None) -> dict[str, Any]:
        given = dict(use.arguments)
        tool = (await self._declared()).get(use.tool, {"name": use.tool, **_UNKNOWN})
        own = reserved(given.pop(RESERVED, None)) if tool["gated"] else Reserved()
        return await self.placet.call(
            tool["name"],  # one that is not declared is denied by the server, and stands there
            given,
            reason=own.reason,
            key=own.key or key,
            confirm_token=own.confirm_token,
        )

    async def _own(self, model: type[BaseModel], use: Use) -> dict[str, Any]:
        match read(model, dict(use.arguments)):
            case Status(proposal=proposal, wait=wait):
                return await self._status(proposal, wait)
            case Withdraw(proposal=proposal, reason=reason):
                return await self.placet.withdraw(proposal, reason=reason)
            case Discard(draft=draft):
                return await self.placet.discard(draft)
            case List(limit=limit):
                return {"proposals": (await self.placet.proposals())[:limit]}
        raise LookupError(use.tool)

    async def _status(self, proposal: str, wait: float) -> dict[str, Any]:
        try:
            return await self.placet.wait(proposal, wait, every=_EVERY)
        except StillWaiting:
            return await self.placet.status(proposal)

    async def _turn(self, action: Action) -> Facts:
        try:
            told = read_facts(await self.placet.turn(action))
        except PlacetError as error:
            return unknown_facts(not_confirmed(error))
        return Facts(told["report"], told["text"], told["pending"])


def _schema(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    schema: Mapping[str, Any] = tool["arguments"]
    return with_reserved(schema) if tool["gated"] else schema


def result(use: Use, said: Mapping[str, Any]) -> Result:
    """Write an answer as the result of a call; the report comes once, after all of them."""
    text = json.dumps({**said, "turn_report": {}}, ensure_ascii=False)
    asked_about = use.tool in OWN and said.get("status") not in ("denied", "unknown")
    if asked_about or said.get("status") not in _WRONG:
        return Result(use.id, text)
    return Result(use.id, text, str((said.get("error") or {}).get("code") or said["status"]))
