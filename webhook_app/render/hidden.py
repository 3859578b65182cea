"""What of a plan nobody may see, told to those who decide: which values, and what binds them."""

from checks.wording import code, plural
from proposals.canonical import JSON, MISSING, pointer_get
from proposals.plan import Proposal

from .markdown import strings

SHOWN = 20
_MARK = "hmac:"


def hidden(proposal: Proposal) -> str:
    """The declared secrets that this plan has, and how often their text stood elsewhere in it."""
    plan = proposal.plan
    whole: dict[str, JSON] = {**plan.plan, "volatile": plan.volatile}
    places = {at: mark for at in _declared(plan.plan) if (mark := _mark(whole, at))}
    if not places:
        return ""
    kid = next(iter(places.values())).split(":")[1]
    named = ", ".join(code(at) for at in list(places)[:SHOWN])
    more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
    said = (
        f"**Hidden: {named}{more}**, bound by {code(_MARK + kid)}. The tool gets the real values; "
        "any other value would be another plan."
    )
    others = sum(f"{_MARK}{kid}:" in text for text in strings([whole])) - len(places)
    if others > 0:
        times = plural(others, "other place")
        said += f" The same text is hidden in {times}: approve only if what is left tells enough."
    return said


def _declared(plan: dict[str, JSON]) -> list[str]:
    tool = plan.get("tool")
    declared = tool.get("secrets") if isinstance(tool, dict) else None
    return [at for at in declared if isinstance(at, str)] if isinstance(declared, list) else []


def _mark(whole: dict[str, JSON], at: str) -> str:
    """The mark that stands there, also in what may vary."""
    volatile = whole["volatile"]
    listed = volatile.items() if isinstance(volatile, dict) else ()
    inside = [pointer_get(v, at[len(p) :]) for p, v in listed if f"{at}/".startswith(f"{p}/")]
    found = [pointer_get(whole, at), *inside]
    marks = (v for v in found if v is not MISSING and isinstance(v, str) and v.startswith(_MARK))
    return next((mark for mark in marks if mark.count(":") == 2), "")  # noqa: PLR2004
