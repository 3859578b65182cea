"""An MCP server that answers what FILE says, by method: {method: {result | error, progress}}."""

import json
import sys
from pathlib import Path
from typing import Any

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
CAN: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}, "completions": {}}
USUAL: dict[str, Any] = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": CAN,
        "serverInfo": {"name": "poser", "version": "1"},
    },
    "tools/list": {"tools": [{"name": "get", "inputSchema": SCHEMA}]},
    "resources/list": {"resources": []},
    "prompts/list": {"prompts": []},
}


def say(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(asked: dict[str, Any]) -> None:
    told = json.loads(Path(sys.argv[1]).read_text()).get(asked["method"], {})
    token = asked.get("params", {}).get("_meta", {}).get("progressToken")
    for number, words in enumerate(told.get("progress", []), 1):
        params = {"progressToken": token, "progress": number, "message": words}
        say(method="notifications/progress", params=params)
    if "error" in told:
        say(id=asked["id"], error=told["error"])
    else:
        say(id=asked["id"], result=told.get("result", USUAL.get(asked["method"], {})))


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        answer(message)
