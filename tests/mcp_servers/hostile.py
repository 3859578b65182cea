"""An MCP server as no library would write it, on stdio: broken tools, broken lines, broken answers.

Beside one good tool it lists some that cannot be used, each broken in its own way, and pages that
lead in a circle.
"""

import json
import sys
from typing import Any

GOOD = {"type": "object", "properties": {"how": {"type": "string"}}, "required": ["how"]}
RESERVED = {"type": "object", "properties": {"placet": {"type": "string"}}}
FAR = {"type": "object", "properties": {"a": {"$ref": "https://elsewhere.example/schema"}}}
TOOLS: list[Any] = [
    {"name": "good", "description": "Answers.", "inputSchema": GOOD},
    {"name": "empty", "inputSchema": {}},
    {"name": "no_schema"},
    {"name": "not_object", "inputSchema": {"type": "string"}},
    {"name": "not_a_schema", "inputSchema": {"type": "object", "properties": {"a": {"type": 7}}}},
    {"name": "far", "inputSchema": FAR},
    {"name": "reserved", "inputSchema": RESERVED},
    {"name": "choice", "inputSchema": {"type": "object", "anyOf": [GOOD, RESERVED]}},
    {"name": "wordy", "description": "x" * 60_000, "inputSchema": GOOD},
    {"name": "a b\nc", "inputSchema": GOOD},
    {"name": "twice", "description": "The same name again.", "inputSchema": GOOD},
    {"name": "twice", "description": "Another by this name.", "inputSchema": GOOD},
    {"inputSchema": GOOD},
    "not even an object",
]
ANSWERS: dict[str, Any] = {
    "well": {"content": [{"type": "text", "text": "well"}]},
    "huge": {"content": [{"type": "text", "text": "x" * 200_000}]},
    "odd": {"content": "no list", "isError": "perhaps"},
    "unknown content": {"content": [{"type": "hologram", "data": 1}]},
    "input": {"resultType": "input_required", "inputRequests": {}, "requestState": "s"},
    "task": {"resultType": "task", "content": [], "task": {"taskId": "t"}},
}


def answer(asked: dict[str, Any]) -> dict[str, Any] | None:
    params = asked.get("params") or {}
    match asked["method"]:
        case "initialize":
            return {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "hostile", "version": "1"},
            }
        case "tools/list":
            cursor = int(params.get("cursor", "0"))
            return {"tools": TOOLS[cursor * 5 :][:5], "nextCursor": str((cursor + 1) % 3)}
        case "tools/call":
            how = params["arguments"]["how"]
            if how == "noise":
                say_raw("this is no JSON")
                say_raw('{"jsonrpc": "2.0", "id": 4711, "result": {}}')
                say_raw('{"jsonrpc": "2.0", "id": 1, "method": "roots/list"}')
                return ANSWERS["well"]
            return ANSWERS.get(how)
        case _:
            return None


def say_raw(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked and "method" in asked:
        result = answer(asked)
        error = {"code": -32603, "message": "cannot\nsay"}
        body = {"error": error} if result is None else {"result": result}
        say_raw(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **body}))
