"""Trailers of commit messages: for people and searches; an audit trusts statements alone."""

import re
from collections.abc import Sequence


class UnsafeTrailer(ValueError):
    """A trailer value that is not one line of printable ASCII."""


def trailers(
    *, proposal: str, plan: str, outcome: str | None = None, approved_by: Sequence[str] = ()
) -> str:
    """Write the trailers of a commit message, one a line, for people (audit trusts statements).

    Values are one line of printable ASCII, 1 to 200 characters, else UnsafeTrailer.
    """
    lines = [("Placet-Proposal", proposal), ("Placet-Plan", plan)]
    lines += [("Placet-Approved-By", person) for person in approved_by]
    lines += [] if outcome is None else [("Placet-Outcome", outcome)]
    for name, value in lines:
        if not re.fullmatch(r"[!-~](?:[ -~]{0,198}[!-~])?", value):
            raise UnsafeTrailer(f"{name} must be one line of ASCII, at most 200 characters.")
    return "".join(f"{name}: {value}\n" for name, value in lines)
