"""The facts of a turn as an agent is told them, and what it is told when nobody can be asked."""

from collections.abc import Mapping
from typing import Any

from .requests import PlacetError

NOT_CONFIRMED = (
    "Placet could not be asked ({code}): nothing is confirmed. Say of nothing that it was done,"
    " and tell the user that Placet must be looked at."
)
_TOLD = frozenset({"report", "text", "pending", "correction"})


def read_facts(told: Mapping[str, Any]) -> Mapping[str, Any]:
    """Hold the answer to a `turn` to its shape; PlacetError when it is none of Placet's."""
    if not told.keys() >= _TOLD:
        raise PlacetError("not_placet", "The answer is not Placet's.")
    return told


def not_confirmed(error: PlacetError) -> str:
    """Say that no facts can be had."""
    return NOT_CONFIRMED.format(code=error.code)
