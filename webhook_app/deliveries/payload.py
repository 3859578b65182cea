"""The parts of a payload that a decision needs; whatever is not as expected counts as absent."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, NoReturn

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, WrapValidator
from pydantic_core import from_json


class NotADelivery(ValueError):
    """The body is not what GitHub sends.

    `code` is not_utf8, not_json, too_deep or not_an_object.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def _or_none(value: Any, read_as: Callable[[Any], Any]) -> Any:
    try:
        return read_as(value)
    except ValidationError:
        return None


def _encodable(text: str | None) -> str | None:
    """Refuse a lone surrogate, which JSON can spell and no file or database can keep."""
    if text is not None:
        text.encode()
    return text


def _moment(value: Any, read_as: Callable[[Any], datetime | None]) -> datetime | None:
    """Read ISO 8601, GitHub's older `2018-09-14 11:02:43 UTC`, or seconds since 1970."""
    text = value.removesuffix(" UTC") if isinstance(value, str) else value
    try:
        moment = read_as(text)
        if moment is None:
            return None
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValidationError, OverflowError):
        return None


_Maybe = WrapValidator(_or_none)
# Beyond 2**53 no reader of JSON agrees on a number, and beyond 2**63 no database keeps it.
_Id = Annotated[int | None, Field(strict=True, gt=0, lt=2**53), _Maybe]
_Text = Annotated[str | None, Field(strict=True), AfterValidator(_encodable), _Maybe]
_Moment = Annotated[datetime | None, WrapValidator(_moment)]


class _Read(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Account(_Read):
    """A user, bot or organisation."""

    id: _Id = None
    login: _Text = None
    type: _Text = None


class Numbered(_Read):
    """Something of which only the numeric id matters."""

    id: _Id = None


class Repository(_Read):
    """The repository it is about, and the account that owns it."""

    id: _Id = None
    owner: Annotated[Account | None, _Maybe] = None
    default_branch: _Text = None


class Issue(_Read):
    """An issue, which is a pull request when it has that member."""

    number: _Id = None
    pull_request: Any = None


class Pull(_Read):
    """A pull request; `merged` is looked at only for being exactly true."""

    number: _Id = None
    merged: Any = None
    updated_at: _Moment = None


class Review(_Read):
    """A review; `commit_id` is the commit that was reviewed."""

    id: _Id = None
    user: Annotated[Account | None, _Maybe] = None
    state: _Text = None
    commit_id: _Text = None
    html_url: _Text = None
    submitted_at: _Moment = None


class Comment(_Read):
    """A comment of the conversation; by an App when the last member is not null."""

    id: _Id = None
    user: Annotated[Account | None, _Maybe] = None
    body: _Text = None
    html_url: _Text = None
    created_at: _Moment = None
    updated_at: _Moment = None
    performed_via_github_app: Any = None


class CheckRun(_Read):
    """A check run; `external_id` is ours to choose: the id of the proposal."""

    id: _Id = None
    head_sha: _Text = None
    external_id: _Text = None
    html_url: _Text = None
    app: Annotated[Numbered | None, _Maybe] = None


class Requested(_Read):
    """The button that was pressed."""

    identifier: _Text = None


class Payload(_Read):
    """One whole delivery."""

    action: _Text = None
    sender: Annotated[Account | None, _Maybe] = None
    repository: Annotated[Repository | None, _Maybe] = None
    installation: Annotated[dict[str, Any] | None, _Maybe] = None
    pull_request: Annotated[Pull | None, _Maybe] = None
    issue: Annotated[Issue | None, _Maybe] = None
    comment: Annotated[Comment | None, _Maybe] = None
    review: Annotated[Review | None, _Maybe] = None
    check_run: Annotated[CheckRun | None, _Maybe] = None
    requested_action: Annotated[Requested | None, _Maybe] = None
    changes: Annotated[dict[str, Any] | None, _Maybe] = None
    ref: _Text = None
    before: _Text = None
    after: _Text = None
    deleted: Any = None
    forced: Any = None
    repositories: Any = None
    repositories_removed: Any = None
    commits: Any = None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def payload(body: bytes | str) -> Payload:
    """Read a body; NotADelivery when it is not a JSON object, and nothing else ever."""
    whole = _quickly(body)
    if not isinstance(whole, dict):
        raise NotADelivery("not_an_object", "the body is JSON, but not an object")
    return Payload.model_validate(whole)


def _quickly(body: bytes | str) -> Any:
    """Read in half the time of `json`; what this reader refuses, `json` reads or says why not."""
    try:
        return from_json(body, allow_inf_nan=False)
    except ValueError:
        return _exactly(body)


def _exactly(body: bytes | str) -> Any:
    """Read as Python's own library does; it takes lone surrogates, which GitHub has sent."""
    try:
        text = body.decode() if isinstance(body, bytes) else body
    except UnicodeDecodeError:
        raise NotADelivery("not_utf8", "the body is not UTF-8") from None
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise NotADelivery("too_deep", "the body is nested too deeply to be read") from None
    except ValueError:  # also whole numbers of more than 4300 digits
        raise NotADelivery("not_json", "the body is not JSON") from None
