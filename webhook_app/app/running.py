"""`placet serve`: the application on its port, until a signal comes."""

import logging
import socket

import structlog
import uvicorn
from fastapi import FastAPI

from webhook_app.settings import Config

from .application import create_app
from .logs import configure

GRACE = 5
"""Seconds that whoever is being answered has, once the server is told to stop."""


class Server(uvicorn.Server):
    """A server whose application is told of a stop at once, and not when the last caller is gone.

    A client that listens stays for ever; what is being applied has its deadline from here on.
    """

    def __init__(self, app: FastAPI, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._app = app

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop; `app.state.stop` is there once the application has started."""
        if stop := getattr(self._app.state, "stop", None):
            stop()
        await super().shutdown(sockets)


def run(config: Config, *, poll: bool = False) -> str | None:
    """Serve until stopped; the sentence to say when it could not start, None otherwise."""
    configure()
    app = create_app(config, poll=poll)
    app.state.refusal = None
    settings = config.settings
    server = Server(
        app,
        uvicorn.Config(
            app, host=settings.host, port=settings.port, log_config=None, access_log=False,
            timeout_graceful_shutdown=GRACE, server_header=False,
        ),
    )  # fmt: skip
    # A refused start is told in one sentence by us; uvicorn would add a traceback to it.
    logging.getLogger("uvicorn.error").addFilter(lambda _record: app.state.refusal is None)
    structlog.get_logger("placet").info("starting", url=settings.url, poll=poll)
    try:
        server.run()
    except SystemExit:
        if app.state.refusal is None:
            raise
    refusal: str | None = app.state.refusal
    return refusal
