"""Asks whoever sits at the client, where the client can: to open a page, or to agree to a preview.

That somebody opened a page counts for nothing: whoever it is works with the agent. Agreeing sends
the preview's own token, and proves no more than that token does: a client can agree by itself.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Literal

import mcp_types as types
from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from proposals.canonical import canonical
from proposals.tools import printable

PATIENCE = 15.0  # seconds that a call of the older era waits for somebody to look
READING = 45.0  # seconds for somebody to read a preview; clients wait a minute for an answer
AGREED = "agreed"
_MOST = 1_000
_SHOWN = 12  # effects in a form
_FORM: types.ElicitRequestedSchema = {"type": "object", "properties": {}}
_UNANSWERED = (TimeoutError, MCPError, ValidationError)  # the last: an answer that is none

Agreed = Literal["accept", "decline", "cancel"]


class Offers:
    """Which proposals were offered already: each is once, however often its call is repeated."""

    def __init__(self) -> None:
        self._made: dict[str, None] = {}

    async def page(
        self, ctx: ServerRequestContext, said: Mapping[str, Any]
    ) -> types.InputRequiredResult | None:
        """Offer the page of a call that waits; what comes back must be returned instead of it."""
        page, proposal = said["pull_request"], str(said["proposal"])
        waits = said["status"] == "awaiting_approval" and page is not None
        if not waits or not opens_addresses(_of(ctx)) or not self._first(proposal):
            return None
        message = f"{said['say_to_user']} Open it?"
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            asked = types.ElicitRequestURLParams(message=message, url=page)
            return types.InputRequiredResult(
                input_requests={"pull_request": types.ElicitRequest(params=asked)}
            )
        try:
            async with asyncio.timeout(PATIENCE):
                await ctx.session.elicit_url(message, page, proposal, ctx.request_id)
        except _UNANSWERED:
            pass
        return None

    async def form(
        self, ctx: ServerRequestContext, said: Mapping[str, Any]
    ) -> types.InputRequiredResult | Agreed | None:
        """Ask whether a preview is to be done: the answer, or what must be returned to get one.

        None: nobody was asked, or nobody answered.
        """
        waits = said["status"] == "confirmation_required" and said["confirm_token"] is not None
        if not waits or not fills_forms(_of(ctx)) or not self._first(str(said["proposal"])):
            return None
        message = _preview(said)
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            asked = types.ElicitRequestFormParams(message=message, requested_schema=_FORM)
            return types.InputRequiredResult(
                input_requests={AGREED: types.ElicitRequest(params=asked)},
                request_state=said["confirm_token"],
            )
        try:
            async with asyncio.timeout(READING):
                return (await ctx.session.elicit_form(message, _FORM, ctx.request_id)).action
        except _UNANSWERED:
            return None

    def _first(self, proposal: str) -> bool:
        if proposal in self._made:
            return False
        while len(self._made) >= _MOST:
            del self._made[next(iter(self._made))]
        self._made[proposal] = None
        return True


def agreed(params: types.CallToolRequestParams) -> Agreed | None:
    """What came of a form in the newer era, whose clients send the call again with the answer."""
    said = (params.input_responses or {}).get(AGREED)
    return said.action if isinstance(said, types.ElicitResult) else None


def opens_addresses(can: types.ClientCapabilities | None) -> bool:
    """Whether a client says that it can have somebody open an address."""
    return bool(can and can.elicitation and can.elicitation.url is not None)


def fills_forms(can: types.ClientCapabilities | None) -> bool:
    """Whether a client says that it can show a form: also one that says neither, as of old."""
    asks = can.elicitation if can else None
    return asks is not None and (asks.form is not None or asks.url is None)


def _of(ctx: ServerRequestContext) -> types.ClientCapabilities | None:
    return ctx.session.client_capabilities


def _preview(said: Mapping[str, Any]) -> str:
    """What somebody agrees to, in our own words first."""
    effects = said["effects"]
    lines = [
        f"{_text(e['what'])}: {_text(e['before'])} becomes {_text(e['after'])}"
        for e in effects[:_SHOWN]
    ]
    if len(effects) > _SHOWN:
        lines.append(f"and {len(effects) - _SHOWN} more")
    if cost := said["cost"]:
        lines.append(f"It costs {_text(cost['amount'])} {_text(cost['unit'])}.")
    ask = "Accept, and exactly this is done, once. Decline, and it is not."
    return "\n".join([said["say_to_user"], *lines, ask])


def _text(value: Any) -> str:
    return printable(value if isinstance(value, str) else canonical(value).decode(), 120)
