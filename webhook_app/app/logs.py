"""The log: one JSON object a line, so that no text of an agent can forge a line."""

import logging
import sys
from typing import TextIO

import structlog
from structlog.typing import Processor

_SHARED: list[Processor] = [
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,  # the text alone: local variables may be secrets
]
_JSON = structlog.processors.JSONRenderer()


def configure(to: TextIO = sys.stderr) -> None:
    """Send our own lines and those of the libraries there; escaped beyond ASCII."""
    structlog.configure(
        processors=[*_SHARED, _JSON],
        logger_factory=structlog.PrintLoggerFactory(to),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(to)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_SHARED,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _JSON],
        )
    )
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    logging.getLogger("mcp").setLevel(logging.WARNING)
    logging.getLogger("githubkit").setLevel(logging.WARNING)
