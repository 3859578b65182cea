"""Drafts: calls that failed for want of input, kept in sight until written or let go. Pure.

The guard at the end of a turn asks about them, once each. It reads facts, never anybody's words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .canonical import JSON, canonical, digest
from .words import line

ACCEPTED = frozenset({"pinned", "awaiting_approval", "applied"})
"""What clears the draft of a section; `pinned` is the moment before people are asked."""
MISSING_INPUT = frozenset({"missing_argument"})
"""The codes of a call that failed for want of input."""
_SHOWN = 300
_KEPT = 10_000
_WAYS = (
    "There are three ways on. Write it: call the tool with what is missing. Ask: tell the user that"
    " it is not done, and what you need to know. Discard: call placet_discard_draft."
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A call that lacks input: one per section, the newest. `why` says what is missing.

    `confronted`: the guard has asked about exactly this one already.
    """

    id: str
    section: str
    tool: str
    arguments: JSON
    why: str
    at: datetime
    confronted: bool = False

    def told(self) -> dict[str, Any]:
        """The draft as a turn report lists it."""
        return {
            "draft": self.id,
            "section": self.section,
            "tool": self.tool,
            "why": line(self.why),
        }


def named(owner: Sequence[str], section: str, tool: str, arguments: JSON) -> str:
    """The id of a draft: the same failed call has the same one, so it is asked about once."""
    said = {"owner": list(owner), "section": section, "tool": tool, "arguments": arguments}
    return "d_" + digest(said).removeprefix("sha256:")[:16]


def kept(arguments: JSON) -> JSON:
    """What is kept of a failed call's arguments: all of them, or of very long ones the beginning.

    They are shown to whoever sent them and never called with.
    """
    return arguments if len(canonical(arguments)) <= _KEPT else _begun(arguments)


def pending(drafts: Sequence[Draft]) -> str:
    """The `<pending>` block of every model call; of the same shape when nothing is pending.

    Nothing in it can close the block: what the agent sent stands in JSON without < and >.
    """
    if not drafts:
        return "<pending>\nnone\n</pending>"
    return "\n".join(
        ("<pending>", "Not done, because input is missing:", *map(_of, drafts), _WAYS, "</pending>")
    )


@dataclass(frozen=True, slots=True)
class Correction:
    """What the guard says at the end of a turn, and which drafts it has now asked about."""

    drafts: tuple[str, ...]
    words: str


def guard(drafts: Sequence[Draft], entries: Sequence[Mapping[str, Any]]) -> Correction | None:
    """Accept the end of a turn, or name the drafts that nobody did anything about.

    `entries` are those of the turn's report: any of them is a try. Each draft is asked about once,
    and a new one comes with a try of its own, so there is at most one correction a turn.
    """
    open_ones = [d for d in drafts if not d.confronted]
    if entries or not open_ones:
        return None
    said = "Nothing was written in this turn, and this is still not done:"
    words = "\n".join((said, *map(_of, open_ones), _WAYS))
    return Correction(tuple(d.id for d in open_ones), words)


def _of(draft: Draft) -> str:
    given = _begun(draft.arguments)
    what = f"{draft.id}: {_plain(draft.tool)} in {_plain(draft.section)}"
    return f"- {what}: {_plain(draft.why)} Given: {_plain(given, _SHOWN + 40)}"


def _begun(arguments: JSON) -> str:
    """Arguments as text, which ends where it gets long; what `kept` cut is that text already."""
    given = arguments if isinstance(arguments, str) else canonical(arguments).decode()
    if isinstance(arguments, str) or len(given) <= _SHOWN:
        return given
    return given[:_SHOWN] + f"… ({len(given)} characters)"


def _plain(text: str, limit: int = 200) -> str:
    """Others' text in one line that opens and closes no block."""
    return line(text, limit).replace("<", "\\u003c").replace(">", "\\u003e")
