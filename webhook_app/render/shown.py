"""The plan as people see it: what changes, with what arguments, and the exact JSON."""

import json
import unicodedata
from collections.abc import Iterator
from typing import Any

from checks.wording import code, hidden_count, plural, visible
from proposals.canonical import canonical
from proposals.plan import Proposal

from .hidden import hidden
from .links import Links, plan_path
from .markdown import cell, details, excerpt, fence, json_text, snippet, strings, table

LONGEST = 60_000  # characters of one text; GitHub refuses more than 65,535
ROOM = 8_000  # characters of one table
EXCERPT = 3_000
WARNINGS = 10
ABSENT = "*(not said)*"
_EFFECT = ("what", "before", "after")


def parts(proposal: Proposal) -> list[str]:
    """Everything about the plan but its exact text, in the order in which people need it."""
    drawn = (oddities, hidden, warnings, effects, arguments, preview, volatile)
    return [part for part in (draw(proposal) for draw in drawn) if part]


def effects(proposal: Proposal) -> str:
    """What would change, from what to what, as a table."""
    listed = proposal.plan.plan.get("effects")
    rows = listed if isinstance(listed, list) else []
    if not rows:
        return "**The tool does not say what would change.** Judge by the arguments below."
    drawn, taken = table(["what", "before", "after"], map(_row, rows), ROOM)
    return f"**What changes ({len(rows):,}):**\n\n{drawn}{_rest(len(rows) - taken)}"


def arguments(proposal: Proposal) -> str:
    """What the tool is called with, as a table; "" when with nothing."""
    given = proposal.plan.plan.get("arguments")
    if not given:
        return ""
    named = given.items() if isinstance(given, dict) else [("(all)", given)]
    rows = ([cell(name), cell(json_text(value))] for name, value in named)
    drawn, taken = table(["argument", "value"], rows, ROOM // 2)
    what = "The call that it takes back" if proposal.undoes else "Called with"
    called = f"**{what}** (tool {snippet(proposal.tool)}):"
    return f"{called}\n\n{drawn}{_rest(len(named) - taken)}"


def preview(proposal: Proposal) -> str:
    """What the dry run printed, where it printed text; everything else is in the exact plan."""
    said = proposal.plan.plan.get("preview")
    if not isinstance(said, str) or not said.strip():
        return ""
    return "**What the dry run said:**\n\n" + excerpt(said, EXCERPT)


def warnings(proposal: Proposal) -> str:
    """What the tool itself warns of."""
    listed = proposal.plan.plan.get("warnings")
    texts = listed if isinstance(listed, list) else []
    if not texts:
        return ""
    lines = [f"- {snippet(t if isinstance(t, str) else json_text(t))}" for t in texts[:WARNINGS]]
    return "\n".join(["**The tool warns:**", "", *lines]) + _rest(len(texts) - len(lines))


def volatile(proposal: Proposal) -> str:
    """What the dry run also said and nobody approves, because it may differ each time."""
    if not proposal.plan.volatile:
        return ""
    said = json.dumps(proposal.plan.volatile, ensure_ascii=False, indent=2)
    return "**May vary, not part of what is approved:**\n\n" + excerpt(said, EXCERPT, "json")


def oddities(proposal: Proposal) -> str:
    """A warning of characters that hide or deceive; "" when there are none."""
    whole = [proposal.plan.plan, proposal.plan.volatile, proposal.said, proposal.agent]
    texts = list(strings(whole))
    notes = []
    if count := sum(map(hidden_count, texts)):
        notes.append(
            f"{plural(count, 'hidden character')} (invisible, or changing the direction of the"
            " text) shown here as escapes such as `\\u202e`."
        )
    if any(not unicodedata.is_normalized("NFC", text) for text in texts):
        notes.append("Some letters are written in an unusual way and may only look like others.")
    return "**Look closely.** " + " ".join(notes) if notes else ""


def exact(proposal: Proposal, links: Links, room: int) -> tuple[str, bool]:
    """The plan to the last character if that takes no more than `room`, else where it is.

    Also says whether it is whole: what people could not read here, they cannot approve here.
    """
    plan = proposal.plan
    size = f"{len(canonical(plan.plan)):,} bytes"
    drawn = fence(json.dumps(plan.plan, ensure_ascii=False, indent=2), "json")
    whole = details(f"The exact plan ({digest(proposal)}…, {size})", drawn)
    if len(whole) <= room:
        return whole, True
    return (
        f"**The exact plan is too long to be shown here** ({size}, `{plan.digest}`)."
        f" Read it before you decide: [plan.json]({links.plan(proposal)}),"
        f" in {'the ledger' if proposal.target else 'this'} branch as `{plan_path(proposal)}`."
    ), False


def digest(proposal: Proposal) -> str:
    """The digest, short, as it can be named in a comment after `sha256:`."""
    return proposal.plan.digest[: len("sha256:") + 12]


def cost(proposal: Proposal) -> str:
    """What it spends, in the tool's words."""
    said = proposal.plan.plan.get("cost")
    if not isinstance(said, dict) or not said:
        return "nothing, as far as the tool says"
    if said.keys() == {"amount", "unit"} and all(isinstance(v, str | int) for v in said.values()):
        return code(f"{said['amount']} {said['unit']}")
    return snippet(json_text(said))


def _row(effect: Any) -> list[str]:
    if not isinstance(effect, dict):
        return [cell(json_text(effect)), ABSENT, ABSENT]
    what = effect.get("what", "")
    more = {key: value for key, value in effect.items() if key not in _EFFECT}
    texts = [what if isinstance(what, str) else json_text(what)] if "what" in effect else []
    texts += [json_text(more)] if more else []
    sides = (cell(json_text(effect[s])) if s in effect else ABSENT for s in _EFFECT[1:])
    return [" ".join(map(cell, texts)) or ABSENT, *sides]


def _rest(count: int) -> str:
    return f"\n\nAnd {count:,} more, in the exact plan." if count else ""


def names(proposal: Proposal) -> Iterator[str]:
    """The names of what changes, by place, for those who read a difference."""
    listed = proposal.plan.plan.get("effects")
    for effect in listed if isinstance(listed, list) else []:
        what = effect.get("what", "") if isinstance(effect, dict) else ""
        yield visible(what if isinstance(what, str) else json_text(what))
