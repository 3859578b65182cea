"""The server that MCP's conformance suite asks for: `fixture.py` on stdio, `--http` on a port.

Names and texts are the suite's. On HTTP it prints its port.
"""

import asyncio
import base64
import json
import socket
import sys
import warnings
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts.base import Message, UserMessage

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAA"
    "AABJRU5ErkJggg=="
)
SOUND = base64.b64encode(b"RIFF\x26\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0").decode()
STEP = 0.05  # seconds between two words of a tool that takes its time
warnings.simplefilter("ignore")  # the older era's ways are tested on purpose
mcp = MCPServer("conformance-fixture", version="1.0", log_level="CRITICAL")


def image() -> types.ImageContent:
    return types.ImageContent(data=PIXEL, mime_type="image/png")


def embedded(uri: str, text: str, kind: str = "text/plain") -> types.EmbeddedResource:
    inside = types.TextResourceContents(uri=uri, mime_type=kind, text=text)
    return types.EmbeddedResource(resource=inside)


def plain(*blocks: types.ContentBlock) -> types.CallToolResult:
    return types.CallToolResult(content=list(blocks))


def text(words: str) -> types.TextContent:
    return types.TextContent(text=words)


@mcp.tool()
def test_simple_text() -> types.CallToolResult:
    """A text."""
    return plain(text("This is a simple text response for testing."))


@mcp.tool()
def test_image_content() -> types.CallToolResult:
    """An image."""
    return plain(image())


@mcp.tool()
def test_audio_content() -> types.CallToolResult:
    """A sound."""
    return plain(types.AudioContent(data=SOUND, mime_type="audio/wav"))


@mcp.tool()
def test_embedded_resource() -> types.CallToolResult:
    """A resource inside the answer."""
    return plain(embedded("test://embedded-resource", "This is an embedded resource content."))


@mcp.tool()
def test_multiple_content_types() -> types.CallToolResult:
    """A text, an image and a resource."""
    mixed = embedded("test://mixed-content-resource", '{"test": "data"}', "application/json")
    return plain(text("Multiple content types test:"), image(), mixed)


@mcp.tool()
async def test_tool_with_logging(ctx: Context) -> str:
    """Log three times while working."""
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(words)
        await asyncio.sleep(STEP)
    return "Logged three times."


@mcp.tool()
async def test_tool_with_progress(ctx: Context) -> str:
    """Tell three times how far it is."""
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100, f"Completed step {done} of 100")
        await asyncio.sleep(STEP)
    return "Told three times."


@mcp.tool()
def test_error_handling() -> str:
    """Fail."""
    raise RuntimeError("This tool intentionally returns an error for testing")


@mcp.tool()
async def test_sampling(prompt: str, ctx: Context) -> str:
    """Have the client's model say something."""
    asked = types.SamplingMessage(role="user", content=text(prompt))
    said = await ctx.session.create_message(
        messages=[asked], max_tokens=100, related_request_id=ctx.request_id
    )
    return f"LLM response: {said.content}"


async def elicited(ctx: Context, message: str, schema: dict[str, Any]) -> str:
    said = await ctx.session.elicit_form(message, schema, ctx.request_id)
    return f"User response: action={said.action}, content={json.dumps(said.content)}"


def form(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": []}


CHOICE = {"type": "string", "enum": ["a", "b"]}
TITLED = {"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]}
TITLES = [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]


@mcp.tool()
async def test_elicitation(message: str, ctx: Context) -> str:
    """Ask the person at the client."""
    return await elicited(ctx, message, form(response={"type": "string"}))


@mcp.tool()
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """Ask with a default for every simple type."""
    schema = form(
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        verified={"type": "boolean", "default": True},
    )
    return await elicited(ctx, "Please check these.", schema)


@mcp.tool()
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """Ask with choices of every form."""
    schema = form(
        untitledSingle=CHOICE,
        titledSingle=TITLED,
        legacyEnum={**CHOICE, "enumNames": ["A", "B"]},
        untitledMulti={"type": "array", "items": CHOICE},
        titledMulti={"type": "array", "items": {"anyOf": TITLES}},
    )
    return await elicited(ctx, "Please choose.", schema)


@mcp.tool()
async def test_input_required_result_elicitation(
    ctx: Context,
) -> types.CallToolResult | types.InputRequiredResult:
    """Ask for a name as the newer era does: the call is to be made again with it."""
    said = (ctx.input_responses or {}).get("user_name")
    if isinstance(said, types.ElicitResult):
        return plain(text(f"Hello, {(said.content or {}).get('name')}!"))
    schema = form(name={"type": "string"})
    asked = types.ElicitRequestFormParams(message="What is your name?", requested_schema=schema)
    return types.InputRequiredResult(
        input_requests={"user_name": types.ElicitRequest(params=asked)}
    )


@mcp.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """A text."""
    return "This is the content of the static text resource."


@mcp.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    """An image."""
    return base64.b64decode(PIXEL)


@mcp.resource("test://template/{id}/data", mime_type="application/json")
def template(id: str) -> str:  # noqa: A002 (the suite's name)
    """Something for every id."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@mcp.prompt()
def test_simple_prompt() -> list[Message]:
    """A prompt."""
    return [UserMessage(text("This is a simple prompt for testing."))]


@mcp.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> list[Message]:
    """A prompt of two arguments."""
    return [UserMessage(text(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"))]


@mcp.prompt()
def test_prompt_with_embedded_resource(resourceUri: str) -> list[Message]:  # noqa: N803 (the suite's)
    """A prompt with a resource inside."""
    return [UserMessage(embedded(resourceUri, "Embedded.")), UserMessage(text("Look at it."))]


@mcp.prompt()
def test_prompt_with_image() -> list[Message]:
    """A prompt with an image."""
    return [UserMessage(image()), UserMessage(text("Look at it."))]


@mcp.completion()
async def completed(_ref: Any, _argument: Any, _context: Any) -> types.Completion:
    return types.Completion(values=["paris", "park"], total=2, has_more=False)


async def on_http() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)  # noqa: T201 (whoever started it reads this)
    config = uvicorn.Config(
        mcp.streamable_http_app(), log_level="error", timeout_graceful_shutdown=1
    )
    await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    if "--http" in sys.argv:
        asyncio.run(on_http())
    else:
        mcp.run("stdio")
