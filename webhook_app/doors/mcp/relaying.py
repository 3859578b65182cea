"""Resources, prompts and completion of upstreams whose operator lets agents read them.

Each request is one read at one upstream, logged like a call. Nothing of the caller's envelope goes
on, and no `_meta` comes back.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, NoReturn, TypeVar

import mcp_types as types
import structlog
from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS
from pydantic import BaseModel, ValidationError

from proposals.calls import Call, Status
from proposals.likeness import Imitates, genuine
from proposals.tools import printable
from proposals.upstreams import Unreached, Unreturned
from webhook_app.doors.calling import noted
from webhook_app.doors.hall import Hall
from webhook_app.toolkits.mcp.session import Refused

from .taking import agent_of

_PAGES, _MOST = 50, 5_000
_NOT_FOUND = -32002  # what the handshake era says of a resource that is not there
_log = structlog.get_logger("placet")
Handler = Callable[[ServerRequestContext, Any], Awaitable[BaseModel]]
Result = TypeVar("Result", bound=BaseModel)


class Relaying:
    """What agents may read besides calling tools, and from which upstream it comes."""

    def __init__(self, here: Hall) -> None:
        self._here = here

    def handlers(self) -> dict[str, Handler]:
        """The handlers that the server is made with, by its arguments."""
        found: dict[str, Handler] = {}
        if self._relaying("resources"):
            found["on_list_resources"] = self._resources
            found["on_list_resource_templates"] = self._templates
            found["on_read_resource"] = self._read
        if self._relaying("prompts"):
            found |= {"on_list_prompts": self._prompts, "on_get_prompt": self._prompt}
        if self._relaying("completion"):
            found["on_completion"] = self._completion
        return found

    def _relaying(self, what: str) -> list[str]:
        declared = self._here.settings.upstream
        return [name for name, upstream in declared.items() if what in upstream.relay]

    async def _resources(self, ctx: ServerRequestContext, _: Any) -> types.ListResourcesResult:
        listed = await self._listed(ctx, "resources")
        every = [one for ones in listed.values() for one in ones]
        return _read(types.ListResourcesResult, {"resources": every})

    async def _templates(
        self, ctx: ServerRequestContext, _: Any
    ) -> types.ListResourceTemplatesResult:
        listed = await self._listed(ctx, "resources", "templates")
        every = [one for ones in listed.values() for one in ones]
        return _read(types.ListResourceTemplatesResult, {"resourceTemplates": every})

    async def _prompts(self, ctx: ServerRequestContext, _: Any) -> types.ListPromptsResult:
        listed = await self._listed(ctx, "prompts")
        every = [
            one | {"name": self._wire(name, one["name"])}
            for name, ones in listed.items()
            for one in ones
            if isinstance(one.get("name"), str)
        ]
        return _read(types.ListPromptsResult, {"prompts": every})

    async def _read(
        self, ctx: ServerRequestContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        upstream = await self._owner(ctx, params.uri)
        said = await self._asked(ctx, upstream, "resources/read", {"uri": params.uri})
        return _read(types.ReadResourceResult, said)

    async def _prompt(
        self, ctx: ServerRequestContext, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        upstream, name = self._unwired(params.name, "prompts")
        asked = {"name": name, "arguments": params.arguments or {}}
        return _read(types.GetPromptResult, await self._asked(ctx, upstream, "prompts/get", asked))

    async def _completion(
        self, ctx: ServerRequestContext, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        asked: dict[str, Any] = {"argument": params.argument.model_dump()}
        if params.context is not None:
            asked["context"] = params.context.model_dump(exclude_none=True)
        if isinstance(params.ref, types.PromptReference):
            upstream, name = self._unwired(params.ref.name, "completion")
            asked["ref"] = {"type": "ref/prompt", "name": name}
        else:
            upstream = await self._owner(ctx, params.ref.uri, "completion")
            asked["ref"] = {"type": "ref/resource", "uri": params.ref.uri}
        said = await self._asked(ctx, upstream, "completion/complete", asked)
        return _read(types.CompleteResult, said)

    def _wire(self, upstream: str, name: str) -> str:
        return self._here.settings.upstream[upstream].wire(f"{upstream}.{name}")

    def _unwired(self, wire: str, what: str) -> tuple[str, str]:
        """The upstream that a prompt is of, and its name there; the longest prefix wins."""
        prefixes = {self._wire(name, ""): name for name in self._relaying(what)}
        for prefix in sorted(prefixes, key=len, reverse=True):
            if wire.startswith(prefix):
                return prefixes[prefix], wire.removeprefix(prefix)
        raise MCPError(INVALID_PARAMS, "There is no such prompt; prompts/list names all.")

    async def _owner(self, ctx: ServerRequestContext, uri: str, what: str = "resources") -> str:
        """The one upstream that lists this resource or has a template for it.

        Where several claim it nobody is asked: one of them would answer in the other's name.
        """
        relaying = self._relaying(what)
        if len(relaying) == 1:
            return relaying[0]
        listed = await self._listed(ctx, "resources")
        templates = await self._listed(ctx, "resources", "templates")
        claims = [
            name
            for name in relaying
            if any(one.get("uri") == uri for one in listed.get(name, ()))
            or uri.startswith(tuple(_beginnings(templates.get(name, ()))))
        ]
        if len(claims) > 1:
            _log.warning("resource claimed by several", upstreams=claims, uri=printable(uri, 200))
            words = f"{' and '.join(claims)} both claim it; the operator must relay only one there."
            raise MCPError(INVALID_PARAMS, words, {"uri": uri})
        if not claims:
            raise MCPError(INVALID_PARAMS, "There is no such resource.", {"uri": uri})
        return claims[0]

    async def _listed(
        self, ctx: ServerRequestContext, what: str, part: str = ""
    ) -> dict[str, list[dict[str, Any]]]:
        """What each upstream lists; one that is down, or lists nothing, takes no other with it."""
        method = "/".join(filter(None, (what, part, "list")))
        key = "resourceTemplates" if part else what
        found: dict[str, list[dict[str, Any]]] = {}
        for name in self._relaying(what):
            try:
                found[name] = await self._pages(ctx, name, method, key)
            except MCPError:
                found[name] = []
        return found

    async def _pages(
        self, ctx: ServerRequestContext, upstream: str, method: str, key: str
    ) -> list[dict[str, Any]]:
        every: list[dict[str, Any]] = []
        cursor = None
        for _ in range(_PAGES):
            asked: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
            page = await self._asked(ctx, upstream, method, asked)
            ones = page.get(key)
            every += [_plain(one) for one in ones or () if isinstance(one, dict)]
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or not cursor or len(every) > _MOST:
                break
        return every[:_MOST]

    async def _asked(
        self, ctx: ServerRequestContext, upstream: str, method: str, params: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Ask one upstream, as one logged read; MCPError when it brings nothing."""
        call = Call(f"{upstream} {method}", {}, agent=agent_of(ctx).name)
        try:
            said = await self._here.ask(upstream, method, params)
            genuine(_plain(said))
        except (Refused, Unreached, Unreturned, Imitates) as error:
            noted(self._here, Status.FAILED, call)
            _posing(error, call)
            _failed(error, params)
        noted(self._here, Status.EXECUTED, call)
        return _plain(said)


def _posing(error: Exception, call: Call) -> None:
    """Hand nothing on that poses as Placet's own answer, the words of an error included."""
    try:
        genuine(error.words if isinstance(error, Refused) else "")
    except Imitates as imitates:
        error = imitates
    if isinstance(error, Imitates):
        asked = printable(call.tool, 80)
        _log.warning("imitation", agent=call.agent, tool=asked, mark=error.mark)
        words = f"What {asked} brought is not handed on: {error}. The operator must look at it."
        raise MCPError(INTERNAL_ERROR, words) from None


def _failed(error: Exception, params: Mapping[str, Any]) -> NoReturn:
    """Say in MCP's words why nothing was read; an upstream's own words stay its own."""
    if not isinstance(error, Refused):
        raise MCPError(INTERNAL_ERROR, str(error)) from None
    if error.code in (INVALID_PARAMS, _NOT_FOUND):
        data = {"uri": params["uri"]} if "uri" in params else None
        raise MCPError(error.code, error.words, data) from None
    raise MCPError(INTERNAL_ERROR, f"The upstream refused: {error}") from None


def _read(model: type[Result], said: Mapping[str, Any]) -> Result:
    try:
        return model.model_validate(said, by_name=False)
    except ValidationError:
        raise MCPError(INTERNAL_ERROR, "What the upstream said cannot be read.") from None


def _plain(said: Mapping[str, Any]) -> dict[str, Any]:
    """What is for the reader; `_meta` is between a server and its client."""
    return {key: value for key, value in said.items() if key != "_meta"}


def _beginnings(templates: Iterable[Mapping[str, Any]]) -> list[str]:
    """What every address of a template begins with."""
    return [str(one.get("uriTemplate", "")).partition("{")[0] for one in templates]
