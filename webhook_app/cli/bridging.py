"""`placet mcp`: what an agent's MCP client starts to reach the gateway, with one token only."""

import os
from typing import Any

import typer
from typer.core import TyperGroup

from .asking import server
from .importing import import_client, print_snippet
from .say import give_up
from .trying import try_it


class _Mcp(TyperGroup):
    """`placet mcp --try` is `placet mcp try`: a group cannot take a server's command itself."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, ["try", *args[1:]] if args[:1] == ["--try"] else args)


mcp = typer.Typer(
    cls=_Mcp,
    help="Serve the gateway's tools on stdin and stdout, for an agent's MCP client.",
    invoke_without_command=True,
)


@mcp.callback()
def bridge(context: typer.Context) -> None:
    """Relay stdin and stdout to the server at PLACET_URL, as the agent of PLACET_TOKEN."""
    if context.invoked_subcommand is not None:
        return
    url, token = server()
    try:
        import anyio  # noqa: PLC0415

        from webhook_app.doors.mcp.bridge import bridge as relay  # noqa: PLC0415
    except ModuleNotFoundError:
        give_up("the MCP library is not installed. Run: pip install placet[mcp]")
    # Claude Code names its conversation; the name goes to Placet and no further.
    anyio.run(relay, url, token, os.environ.get("CLAUDE_CODE_SESSION_ID"))


mcp.command("try")(try_it)
mcp.command("import")(import_client)
mcp.command("snippet")(print_snippet)
