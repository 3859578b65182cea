"""What a client's files say to reach Placet, and to deny the client's own shell and file tools."""

import json
from typing import Any, Literal, get_args

from webhook_app.settings.toml import table

Client = Literal["claude-code", "codex", "vscode"]
CLIENTS: tuple[Client, ...] = get_args(Client)
_TOKEN = "PLACET_TOKEN"  # noqa: S105 (the name of the variable)
_INPUT = "placet-token"
_NAMES: dict[Client, str] = {
    "claude-code": "claude-code",
    "codex": "codex-mcp-client",
    "vscode": "Visual Studio Code",
}
"""As clients call themselves; whoever else calls itself so gains nothing by it."""
_DENY = {
    "permissions": {
        "deny": ["Bash", "Edit", "MultiEdit", "Write", "NotebookEdit"],
        "disableBypassPermissionsMode": "disable",
    }
}
_VSCODE = {
    "chat.tools.global.autoApprove": False,
    "chat.tools.terminal.enableAutoApprove": False,
    "chat.tools.edits.autoApprove": {"**/*": False},
}


def entry(client: Client, url: str) -> dict[str, Any]:
    """The one server that a client knows: the bridge, which gets its token from its environment."""
    said: dict[str, Any] = {"command": "placet", "args": ["mcp"], "env": {"PLACET_URL": url}}
    match client:
        case "codex":
            return said | {"env_vars": [_TOKEN]}
        case "vscode":
            said["env"] = said["env"] | {_TOKEN: f"${{input:{_INPUT}}}"}
            return {"type": "stdio"} | said
        case "claude-code":
            said["env"] = said["env"] | {_TOKEN: f"${{{_TOKEN}}}"}
            return said


def inputs() -> list[dict[str, Any]]:
    """What VS Code asks a person for once, and keeps."""
    asked = "Placet's token of this agent, from `placet agents add`"
    return [{"type": "promptString", "id": _INPUT, "description": asked, "password": True}]


def snippet(client: Client, url: str) -> list[tuple[str, str]]:
    """The snippets for a client: where each goes, and its text."""
    calm = "\n".join(table(["server"], {"calm_clients": [_NAMES[client]]}))
    where = "placet.toml, only if it refuses tools marked as destructive before the call arrives"
    return [*_files(client, url), (where, calm)]


def _files(client: Client, url: str) -> list[tuple[str, str]]:
    match client:
        case "claude-code":
            return [
                (".mcp.json", _json({"mcpServers": {"placet": entry(client, url)}})),
                ("managed-settings.json, or .claude/settings.json", _json(_DENY)),
            ]
        case "codex":
            top = ['sandbox_mode = "read-only"', 'approval_policy = "on-request"', ""]
            features = table(["features"], {"shell_tool": False, "unified_exec": False})
            servers = table(["mcp_servers", "placet"], entry(client, url))
            return [("~/.codex/config.toml", "\n".join([*top, *features, "", *servers]))]
        case "vscode":
            file = {"servers": {"placet": entry(client, url)}, "inputs": inputs()}
            agent = "---\ndescription: Works through Placet only\ntools: ['placet/*']\n---"
            return [
                (".vscode/mcp.json", _json(file)),
                ("settings.json", _json(_VSCODE)),
                (".github/agents/placet.agent.md", agent),
            ]


def _json(value: Any) -> str:
    return json.dumps(value, indent=2)
