"""`placet mcp try`, or `placet mcp --try`: a first look at the gate before one's own MCP server."""

import os

from proposals.tools import BadDeclaration
from webhook_app.settings import SettingsError

from .announced import announced
from .say import give_up
from .tooling import EnvOption, HeaderOption, ServerArgument, upstream_of


def try_it(server: ServerArgument, env: EnvOption = None, header: HeaderOption = None) -> None:
    """Try Placet before one MCP server, with a GitHub of the sandbox; nothing is set up or kept.

    Serves stdin and stdout. Reads, as guessed from their names, are done; what waits is approved at
    the address on stderr, and then really done by the server.
    """
    run = announced("try", "what is tried here is")
    from webhook_app.toolkits.suggesting import NotListed  # noqa: PLC0415

    try:
        run(upstream_of(server, env or [], header or []), os.environ)
    except NotListed as error:
        give_up(f"the server did not say what tools it has: {error}. Try it by hand.")
    except (BadDeclaration, SettingsError) as error:
        give_up(str(error))
