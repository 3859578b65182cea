"""How long to wait after one failure more: twice as long each time, up to a longest wait."""

from datetime import timedelta
from typing import TypeVar

Wait = TypeVar("Wait", float, timedelta)
_MOST = 30
"""Doubled more often it would be longer than anything, and in the end no number any more."""


def doubled(first: Wait, failures: int, longest: Wait) -> Wait:
    """The wait after so many failures: `first` after one, never more than `longest`."""
    return min(first * 2.0 ** min(max(failures - 1, 0), _MOST), longest)
