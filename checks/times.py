"""How moments and lengths of time are written in a policy, and read without guessing."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainSerializer

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_SIZES = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))

_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?(Z|[+-][0-9]{2}:[0-9]{2})"
)


def _duration(value: Any) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if isinstance(value, str) and (m := re.fullmatch(r"([1-9][0-9]{0,5})([smhd])", value)):
        return timedelta(**{_UNITS[m[2]]: int(m[1])})
    raise ValueError('a duration is a number and one of s, m, h, d, such as "4h"')


def _written(length: timedelta) -> str:
    """A duration as `_duration` reads it."""
    seconds = length // timedelta(seconds=1)
    unit, size = next((u, s) for u, s in _SIZES if seconds % s == 0)
    return f"{seconds // size}{unit}"


def _moment(value: Any) -> datetime:
    if isinstance(value, datetime) and value.tzinfo:
        return value
    if isinstance(value, str) and _MOMENT.fullmatch(value):
        try:
            return datetime.fromisoformat(value).astimezone(UTC)
        except OverflowError:
            raise ValueError(f"{value} is outside the years 1 to 9999") from None
    raise ValueError("a moment has a time and a zone, such as 2026-12-24T00:00Z")


Duration = Annotated[
    timedelta,
    BeforeValidator(_duration, json_schema_input_type=str),
    PlainSerializer(_written, return_type=str, when_used="json"),
    Field(gt=timedelta(0), le=timedelta(days=90)),
]
Moment = Annotated[datetime, BeforeValidator(_moment, json_schema_input_type=str)]
