"""A calendar as an MCP server: `cal.py FOLDER` on stdio, `cal.py FOLDER --http` on a port.

Everything it knows lies in FOLDER, so that it survives its own death: `events.json`, and one line
in `calls` for every call. A test says in `fault` what is to go wrong with the next create_event.
On HTTP it prints its port, and asks for `Authorization: Bearer TOKEN` where TOKEN is set. With
NEWER it knows no handshake, only the newer era; on HTTP that is refused with this status.
"""

import asyncio
import base64
import json
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server import NotificationOptions, Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.message import SessionMessage
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

FOLDER = Path(sys.argv[1])
NEWER = int(os.environ.get("NEWER", "0"))
BUS = InMemorySubscriptionBus()
PAGE = int(os.environ.get("PAGE", "100"))
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n one pixel").decode()
ID = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
TITLE = {"title": {"type": "string"}}
Arguments = dict[str, Any]


def events() -> dict[str, Any]:
    file = FOLDER / "events.json"
    return dict(json.loads(file.read_text())) if file.exists() else {}


def keep(known: dict[str, Any]) -> None:
    (FOLDER / "events.json").write_text(json.dumps(known))


def said(value: dict[str, Any]) -> types.CallToolResult:
    text = types.TextContent(text=json.dumps(value))
    return types.CallToolResult(content=[text], structured_content=value)


def wrong(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=message)], is_error=True)


async def list_events(_: ServerRequestContext, __: Arguments) -> types.CallToolResult:
    return said({"events": events()})


async def get_event(_: ServerRequestContext, given: Arguments) -> types.CallToolResult:
    known = events()
    return said(known[given["id"]]) if given["id"] in known else wrong("no such event")


async def create_event(_: ServerRequestContext, given: Arguments) -> types.CallToolResult:
    known, fault = events(), FOLDER / "fault"
    event = {"id": f"e{len(known) + 1}", **given}
    keep(known | {event["id"]: event})
    how = fault.read_text() if fault.exists() else ""
    fault.unlink(missing_ok=True)
    if how == "die":
        os._exit(9)
    if how == "hang":
        await asyncio.sleep(60)
    return said(event)


async def delete_event(_: ServerRequestContext, given: Arguments) -> types.CallToolResult:
    known = events()
    if known.pop(given["id"], None) is None:
        return wrong("no such event")
    keep(known)
    return said({"deleted": given["id"]})


async def push_workout(_: ServerRequestContext, given: Arguments) -> types.CallToolResult:
    known = events()
    event = {"id": f"w-{given['title']}", "title": given["title"], "minutes": given["minutes"]}
    if not given.get("dry_run", True):
        keep(known | {event["id"]: event})
    return said({"would_write": event, "dry_run": given.get("dry_run", True)})


async def picture(_: ServerRequestContext, __: Arguments) -> types.CallToolResult:
    image = types.ImageContent(data=PIXEL, mime_type="image/png")
    link = types.ResourceLink(uri="calendar://events", name="events")
    return types.CallToolResult(content=[image, link])


async def slow(ctx: ServerRequestContext, given: Arguments) -> types.CallToolResult:
    steps = given.get("steps", 4)
    try:
        for step in range(steps):
            await ctx.session.report_progress(step, steps, f"step {step}")
            await asyncio.sleep(given["seconds"] / steps)
    except BaseException:
        (FOLDER / "cancelled").touch()
        raise
    return said({"slept": given["seconds"]})


async def crash(_: ServerRequestContext, __: Arguments) -> types.CallToolResult:
    os._exit(9)


async def big(_: ServerRequestContext, given: Arguments) -> types.CallToolResult:
    text = types.TextContent(text="x" * int(given["megabytes"] * 1_000_000))
    return types.CallToolResult(content=[text])


async def surroundings(_: ServerRequestContext, __: Arguments) -> types.CallToolResult:
    return said({"env": dict(os.environ), "folder": str(Path.cwd()), "pid": os.getpid()})


async def grow(ctx: ServerRequestContext, given: Arguments) -> types.CallToolResult:
    """Get another tool, or another description of an old one, and say so."""
    if "describe" in given:
        TOOLS[given["describe"]][0].description = "Changed since."
    else:
        TOOLS["grown"] = (types.Tool(name="grown", input_schema={"type": "object"}), list_events)
    await ctx.session.send_tool_list_changed()
    await BUS.publish(ToolsListChanged())
    return said({"tools": len(TOOLS)})


Handler = Callable[[ServerRequestContext, Arguments], Awaitable[types.CallToolResult]]
TOOLS: dict[str, tuple[types.Tool, Handler]] = {}


def offers(handler: Handler, description: str, **schema: Any) -> None:
    whole = {"type": "object", "properties": {}} | schema
    name = handler.__name__
    TOOLS[name] = (types.Tool(name=name, description=description, input_schema=whole), handler)


offers(list_events, "All events.")
offers(get_event, "One event by its id.", **ID)
offers(
    create_event,
    "Create an event; attendees are mailed.",
    properties={**TITLE, "attendees": {"type": "array", "items": {"type": "string"}}},
    required=["title"],
)
offers(delete_event, "Delete an event.", **ID)
offers(
    push_workout,
    "Push a workout to the calendar.",
    properties={
        **TITLE,
        "minutes": {"type": "integer"},
        "dry_run": {"type": "boolean", "default": True},
    },
    required=["title", "minutes"],
)
offers(picture, "An image and a link to a resource.")
offers(
    slow,
    "Take this many seconds, and tell how far it is.",
    properties={"seconds": {"type": "number"}, "steps": {"type": "integer"}},
    required=["seconds"],
)
offers(crash, "End the server in the middle of a call.")
offers(
    big,
    "Answer with megabytes.",
    properties={"megabytes": {"type": "number"}},
    required=["megabytes"],
)
offers(surroundings, "What the server's process can see.")
offers(
    grow, "Add a tool, or describe one differently.", properties={"describe": {"type": "string"}}
)


async def on_list(
    _: ServerRequestContext, params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    start = int(params.cursor) if params and params.cursor else 0
    page = [tool for tool, _ in TOOLS.values()][start : start + PAGE]
    more = start + PAGE < len(TOOLS)
    return types.ListToolsResult(
        tools=page,
        next_cursor=str(start + PAGE) if more else None,
        ttl_ms=0,
        cache_scope="private",
    )


async def on_call(
    ctx: ServerRequestContext, params: types.CallToolRequestParams
) -> types.CallToolResult:
    with (FOLDER / "calls").open("a") as calls:
        meta = sorted(k for k in params.meta or {} if not k.startswith("io.modelcontextprotocol"))
        headers = dict(ctx.request.headers) if ctx.request is not None else {}
        line = {"tool": params.name, "arguments": params.arguments, "meta": meta}
        line["headers"] = headers
        calls.write(json.dumps(line) + "\n")
    if params.name not in TOOLS:
        return wrong(f"no tool {params.name}")
    return await TOOLS[params.name][1](ctx, params.arguments or {})


SERVER = Server(
    "calendar",
    version="1.0",
    on_list_tools=on_list,
    on_call_tool=on_call,
    on_subscriptions_listen=ListenHandler(BUS),
)


async def no_handshake(read: Any, write: Any, onward: Any) -> None:
    """Answer a handshake as a server does that has never heard of one; hand all else on."""
    data = {"supported": [*MODERN_PROTOCOL_VERSIONS], "requested": "2025-11-25"}
    no = types.ErrorData(code=types.UNSUPPORTED_PROTOCOL_VERSION, message="no such", data=data)
    async with onward:
        async for item in read:
            message = item.message
            if getattr(message, "method", "") == "initialize":
                error = types.JSONRPCError(jsonrpc="2.0", id=message.id, error=no)
                await write.send(SessionMessage(error))
            else:
                await onward.send(item)


async def near(_: ServerRequestContext, given: Arguments) -> types.CallToolResult:
    return said({"region": given["region"]})


if NEWER:
    where = {"region": {"type": "string", "x-mcp-header": "Region"}}
    offers(near, "Events near by; its region stands in a header too.", properties=where)


async def on_stdio() -> None:
    options = SERVER.create_initialization_options(NotificationOptions(tools_changed=True))
    async with stdio_server() as (read, write), anyio.create_task_group() as tasks:
        if NEWER:
            onward, left = anyio.create_memory_object_stream[Any](0)
            tasks.start_soon(no_handshake, read, write, onward)
            await SERVER.run(left, write, options)
        else:
            await SERVER.run(read, write, options)


async def on_http() -> None:
    import uvicorn  # noqa: PLC0415 (on stdio nobody waits for it)
    from starlette.responses import PlainTextResponse  # noqa: PLC0415

    inner = SERVER.streamable_http_app(streamable_http_path="/mcp")
    token = os.environ.get("TOKEN")

    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        if token and headers and headers.get(b"authorization") != f"Bearer {token}".encode():
            await PlainTextResponse("no", status_code=401)(scope, receive, send)
        elif NEWER and headers and b"mcp-method" not in headers:
            await PlainTextResponse("no", status_code=NEWER)(scope, receive, send)
        else:
            await inner(scope, receive, send)

    listening = socket.create_server(("127.0.0.1", int(os.environ.get("PORT", "0"))))
    print(listening.getsockname()[1], flush=True)  # noqa: T201 (whoever started it reads this)
    config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
    await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    asyncio.run(on_http() if "--http" in sys.argv else on_stdio())
