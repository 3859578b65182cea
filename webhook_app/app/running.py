"""`placet serve`: the application on its port, until a signal comes."""

import logging

import structlog
import uvicorn

from webhook_app.settings import Config

from .application import create_app
from .logs import configure


def run(config: Config, *, poll: bool = False) -> str | None:
    """Serve until stopped; the sentence to say when it could not start, None otherwise."""
    configure()
    app = create_app(config, poll=poll)
    app.state.refusal = None
    settings = config.settings
    server = uvicorn.Server(
        uvicorn.Config(
            app, host=settings.host, port=settings.port, log_config=None, access_log=False,
            timeout_graceful_shutdown=30, server_header=False,
        )
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
