"""What an agent is told when Placet did not take its call, or could not be heard. Pure."""

from typing import Any

from proposals.agent_ports import Facts
from proposals.answer import denied
from proposals.turn import RULE, SCHEMA
from webhook_app.client import PlacetError

_LOOK = "Look with placet_list before you call it again."


def unheard(tool: str, error: PlacetError) -> dict[str, Any]:
    """Tell of a call that failed; one that may have arrived all the same is `unknown`."""
    said = denied(tool, error.code, error.message, error.hint)
    if 400 <= error.status < 500:  # noqa: PLR2004 (a refusal: Placet has decided)
        return said
    wrong = {"code": error.code, "message": error.message, "hint": f"{error.hint} {_LOOK}".strip()}
    told = f"Nobody can say what came of it: {error.message} Nothing is confirmed."
    return said | {"status": "unknown", "executed": None, "error": wrong, "say_to_user": told}


def unknown_facts(words: str) -> Facts:
    """Facts of the usual shape that claim nothing, not even that nothing was done."""
    entry = {"tool": "placet", "proposal": None, "status": "unknown", "why": words}
    report = {
        "schema": SCHEMA,
        "turn": None,
        "scope": "session",
        "since": None,
        "changes_this_turn": None,
        "entries": [entry],
        "ended_since_last": [],
        "pending_drafts": [],
        "rule": RULE,
    }
    return Facts(report, f"{words}\n{RULE}", "<pending>\nunknown\n</pending>")
