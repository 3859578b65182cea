"""Errors as people and programs read them: application/problem+json (RFC 9457)."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from proposals.flow import Refusal
from proposals.lifecycle import IllegalMoveError
from proposals.store import StoreStopped

_WORD = {"type": "string"}
DESCRIBED: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "It is not taken: `code` is stable, `hint` says what to do.",
        "content": {
            "application/problem+json": {
                "schema": {
                    "type": "object",
                    "properties": {
                        **dict.fromkeys(("type", "title", "code", "detail", "hint"), _WORD),
                        "status": {"type": "integer", "minimum": 400, "maximum": 599},
                    },
                    "required": ["type", "title", "status", "code", "detail", "hint"],
                }
            }
        },
    }
}
"""How a problem is described in /openapi.json, for every operation."""
_log = structlog.get_logger("placet")


class Problem(Exception):
    """A request that is not taken: `code` is stable, `detail` says what, `hint` what to do."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        hint: str = "",
        *,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.hint = hint
        self.headers = headers
        self.more = more


def answer_problems(app: FastAPI) -> None:
    """Let every refusal of this application leave as a problem, and no text of ours leak."""
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(Refusal, _refusal)
    app.add_exception_handler(IllegalMoveError, _too_late)
    app.add_exception_handler(StoreStopped, _stopped)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(Exception, _fault)
    app.add_middleware(_Address)


class _Address:
    """Refuses a query that is not ASCII: no address has other bytes, and Starlette trips on them.

    Not every HTTP parser refuses them before.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope["query_string"].isascii():
            detail = "The address holds bytes that no address has."
            problem = Problem(400, "bad_address", detail, "Escape them with %.")
            await respond(problem)(scope, receive, send)
            return
        await self.app(scope, receive, send)


def respond(problem: Problem) -> JSONResponse:
    """The response for a problem; every member is always there."""
    content = {
        "type": f"urn:placet:problem:{problem.code}",
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "code": problem.code,
        "detail": str(problem),
        "hint": problem.hint,
    }
    return JSONResponse(
        content | problem.more,
        status_code=problem.status,
        headers=problem.headers,
        media_type="application/problem+json",
    )


def _problem(_request: Request, error: Exception) -> JSONResponse:
    return respond(error if isinstance(error, Problem) else Problem(500, "fault", ""))


def _refusal(_request: Request, error: Exception) -> JSONResponse:
    status = error.status if isinstance(error, Refusal) else 500
    code = getattr(error, "code", "fault")
    return respond(Problem(status, code, str(error), getattr(error, "hint", "")))


def _too_late(_request: Request, _error: Exception) -> JSONResponse:
    """Two things happened at once, and the other one was first."""
    detail = "The proposal has moved on meanwhile."
    return respond(Problem(409, "already_over", detail, "Look at its state."))


def _stopped(_request: Request, _error: Exception) -> JSONResponse:
    hint = "The operator must look at the disk; then send it again."
    return respond(Problem(503, "store_stopped", "The store cannot be written.", hint))


def _http(_request: Request, error: Exception) -> JSONResponse:
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = error.headers if isinstance(error, HTTPException) else None
    code = HTTPStatus(status).name.lower()
    hint = "The addresses and methods are in /openapi.json."
    return respond(Problem(status, code, HTTPStatus(status).description, hint, headers=headers))


def _invalid(_request: Request, error: Exception) -> JSONResponse:
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    where = ".".join(str(step) for step in first.get("loc", ()))
    detail = f"{where}: {first.get('msg', 'not as expected')}"
    return respond(Problem(422, "bad_request", detail, "See /openapi.json."))


def _fault(request: Request, error: Exception) -> JSONResponse:
    """A mistake of ours: its kind and place go to the log, and nothing of it to the caller."""
    _log.error("fault", path=request.url.path, error=type(error).__name__, exc_info=error)
    detail = "Something went wrong in Placet; the log of the server says what."
    return respond(
        Problem(500, "fault", detail, "Ask the operator; what was done is in the store.")
    )
