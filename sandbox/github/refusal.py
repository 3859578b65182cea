"""How GitHub says no: a status, its words and sometimes a list of errors."""

from collections.abc import Sequence
from typing import Any

DOCS = "https://docs.github.com/rest"


class Refused(Exception):
    """An action that GitHub refuses: what a person or an App asked is not possible."""

    def __init__(
        self, status: int, message: str, errors: Sequence[str | dict[str, Any]] = ()
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = list(errors)


def not_found() -> Refused:
    """Give the 404; a new one each time, for an exception keeps all its tracebacks."""
    return Refused(404, "Not Found")


def bad_credentials() -> Refused:
    """Give the 401 of a token or key that GitHub does not know."""
    return Refused(401, "Bad credentials")


def not_accessible() -> Refused:
    """Give the 403 of an App without the permission."""
    return Refused(403, "Resource not accessible by integration")


def invalid(resource: str, field: str, code: str = "invalid", message: str = "") -> Refused:
    """Give the 422 of GitHub's validation, for one field."""
    error = {"resource": resource, "field": field, "code": code}
    return Refused(422, "Validation Failed", [error | ({"message": message} if message else {})])


def custom(resource: str, message: str) -> Refused:
    """Give the 422 of GitHub's validation that has only words."""
    return Refused(
        422, "Validation Failed", [{"resource": resource, "code": "custom", "message": message}]
    )
