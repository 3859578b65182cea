"""How a proposal came out: the one final comment, and its title in the check run."""

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from checks.facts import Surface
from checks.wording import code, mention, plural, stamp
from proposals.lifecycle import State
from proposals.plan import Proposal

from . import shown
from .endings import ENDINGS, REPLAN, ended_by, ending, explained
from .links import Links, statement_path
from .markdown import cell, details, excerpt, json_text, snippet, table
from .tied import named

Name = Callable[[str], str]


_DONE = {
    "verified": ("Done: {n}, checked by reading back", "Done, and read back", ""),
    "unverified": (
        "Done as reported by the tool; nothing read back",
        "Done, as the tool reports",
        "There was nothing that Placet could read back to check it.",
    ),
    "asserted": (
        "Done, as a person stated",
        "Done, as a person stated",
        "The tool itself never answered.",
    ),
}
_BASELESS = ("Done: {n}", "Done", "")
_RELIED_ON = "/preconditions/"
_TO_UNDO = "To undo it, comment `/undo`: that opens a new proposal."
_TO_TAKE_BACK = (
    "To undo it, comment `/undo` or press *Undo*: anyone with write access can. It is done at once "
    "if it puts back exactly what was there before; if not, people are asked first."
)
_NOBODY_ASKED = "Nobody was asked first."
_FAILED = "Failed: not done as planned"
_UNKNOWN = "Outcome unknown: Placet will not run it again"
_UNDONE = "Done, and undone since"
# By what `undo_standing` says: the title, and what people are told beside what was done.
_DOUBTFUL = {
    "running": (
        "Done, and being undone right now",
        "**An undo of it has been started,** proposal {by}; what came of that is not known yet.",
    ),
    "unknown": (
        "Done; nobody knows whether it was undone",
        "**An undo of it was started, and nobody knows what came of that:** proposal {by}.",
    ),
    "contradicted": (
        "Done; its undo went otherwise than planned",
        "**Its undo went otherwise than planned,** proposal {by}: nobody knows how things are now.",
    ),
    "back": (
        "Done, and as it was before since",
        "**It is as it was before:** proposal {by}, which was to undo it, found nothing to do.",
    ),
}


def over_title(proposal: Proposal) -> str:
    """The title of the check run once nothing more is to be decided."""
    outcome = proposal.outcome or {}
    if proposal.state is State.APPLIED:
        if proposal.undone_by:
            return _UNDONE
        if proposal.last_undo_is in _DOUBTFUL:
            return _DOUBTFUL[proposal.last_undo_is][0]
        number = plural(len(list(shown.names(proposal))), "change")
        return _done(outcome)[0].format(n=number)
    if proposal.state is State.FAILED:
        return ending(proposal).title if _unstarted(proposal) else _FAILED
    if proposal.state is State.UNKNOWN:
        return _UNKNOWN
    return ending(proposal).title


def undoable(proposal: Proposal) -> bool:
    """Whether people can be offered to undo it: applied, not undone yet, and the tool can."""
    tool = proposal.plan.plan.get("tool")
    can = isinstance(tool, dict) and tool.get("undo") is True
    begun = proposal.last_undo_is in {"running", "unknown", "undone"}
    return can and proposal.state is State.APPLIED and proposal.undone_by is None and not begun


def quietly(login: str) -> str:
    """A login that notifies nobody."""
    return code("@" + login)


def outcome_comment(proposal: Proposal, links: Links, *, name: Name = mention) -> str:
    """The one comment that tells how it came out; the first words are the answer."""
    writers = {
        State.APPLIED: _applied,
        State.FAILED: _failed,
        State.UNKNOWN: _unknown,
    }
    lines = writers.get(proposal.state, _ended)(proposal, proposal.outcome or {}, name)
    parts = [part for part in lines if part]
    if proposal.state in {State.APPLIED, State.FAILED}:
        parts.append(_receipt(proposal, links))
    return "\n\n".join(parts) + "\n"


def differences(proposal: Proposal) -> str:
    """What came out differently, as a table; "" when nobody kept it."""
    listed = [d for d in _list((proposal.outcome or {}).get("differences")) if isinstance(d, dict)]
    if not listed:
        return ""
    names = list(shown.names(proposal))
    rows = (
        [_place(str(d.get("pointer", "")), names), *(_side(d, s) for s in ("before", "after"))]
        for d in listed
    )
    drawn, taken = table(["where", "approved", "now"], rows, shown.ROOM)
    left = len(listed) - taken
    return drawn + (f"\n\nAnd {plural(left, 'more difference')}." if left else "")


def readings(outcome: dict[str, Any]) -> str:
    """What reading back showed, as a table; "" when nothing was read."""
    listed = [c for c in _list(outcome.get("checks")) if isinstance(c, dict)]
    if not listed:
        return ""
    rows = ([*(_side(c, s) for s in ("what", "expected", "found")), _fits(c)] for c in listed)
    drawn, taken = table(["read back", "expected", "found", "ok"], rows, shown.ROOM)
    left = len(listed) - taken
    return drawn + (f"\n\nAnd {plural(left, 'more reading')}." if left else "")


def _applied(proposal: Proposal, outcome: dict[str, Any], name: Name) -> Iterator[str]:
    _, begin, end = _done(outcome)
    yield f"**{begin}:** {snippet(proposal.summary or proposal.tool)}{_at(outcome)}."
    by = _approved(outcome, name) if proposal.asks else _NOBODY_ASKED
    yield f"{end} {by}".strip()
    yield _why(outcome)
    yield readings(outcome)
    if outcome.get("result") is not None:
        answer = json.dumps(outcome["result"], ensure_ascii=False, indent=2)
        yield details("What the tool answered", excerpt(answer, shown.EXCERPT, "json"))
    if undoable(proposal):
        yield named(_TO_UNDO if proposal.asks else _TO_TAKE_BACK, proposal)
    if proposal.undone_by:
        yield f"**It has been undone since**, by proposal {code(proposal.undone_by)}."
    elif proposal.last_undo_is in _DOUBTFUL:
        yield _DOUBTFUL[proposal.last_undo_is][1].format(by=code(proposal.last_undo or ""))
    if proposal.undoes:
        yield f"This took back what proposal {code(proposal.undoes)} did."


def _failed(proposal: Proposal, outcome: dict[str, Any], name: Name) -> Iterator[str]:
    if _unstarted(proposal):
        yield from _ended(proposal, outcome, name)
        return
    told = snippet(proposal.summary or proposal.tool)
    yield f"**Failed, not done as planned:** {told}{_at(outcome)}."
    yield _why(outcome)
    yield _approved(outcome, name)
    yield readings(outcome)
    yield named(f"Placet does not try again by itself. {REPLAN}", proposal)


def _unknown(proposal: Proposal, outcome: dict[str, Any], name: Name) -> Iterator[str]:
    told = snippet(proposal.summary or proposal.tool)
    yield f"**Outcome unknown.** {told} was started, and nobody can say yet what came of it."
    yield _why(outcome) or (f"Why: {snippet(proposal.why)}" if proposal.why else "")
    yield readings(outcome) or "Nothing could be read back."
    digest = shown.digest(proposal).removeprefix("sha256:")
    yield (
        f"Placet will not run it again. {_asked(proposal, name)} look at the real thing;"
        f" when you know, comment `/resolve {digest} applied <why>`"
        f" or `/resolve {digest} failed <why>`."
    )


def _ended(proposal: Proposal, outcome: dict[str, Any], _: Name) -> Iterator[str]:
    end = ending(proposal)
    yield f"**Not done: nothing was changed.** {end.says}"
    yield differences(proposal)
    why = outcome.get("why") or proposal.why
    reason = ended_by(proposal)
    if isinstance(why, str) and why and not explained(reason, why):
        yield f"Why: {snippet(why)}" + (f" ({code(reason)})" if reason not in ENDINGS else "")
    yield end.then


def _unstarted(proposal: Proposal) -> bool:
    """Whether it failed before the tool was run."""
    said = {proposal.reason, str((proposal.outcome or {}).get("reason"))}
    return not said.isdisjoint({"start_unproven", "ledger_changed"})


def _done(outcome: dict[str, Any]) -> tuple[str, str, str]:
    return _DONE.get(str(outcome.get("basis")), _BASELESS)


def _at(outcome: dict[str, Any]) -> str:
    try:
        moment = datetime.fromisoformat(str(outcome.get("at")))
    except ValueError:
        return ""
    return f", {stamp(moment)}"


def _why(outcome: dict[str, Any]) -> str:
    why = outcome.get("why")
    return f"Why: {snippet(why, 600)}" if isinstance(why, str) and why else ""


def _approved(outcome: dict[str, Any], name: Name) -> str:
    said = [f"{name(login)} ({surface})" for login, surface in _approvers(outcome)]
    return f"Approved by {' and '.join(said)}." if said else ""


def _asked(proposal: Proposal, name: Name) -> str:
    if not proposal.asks:
        return "Anyone with write access, for whom the agent does not work:"
    who = " or ".join(name(login) for login, _ in _approvers(proposal.outcome or {}))
    return f"{who}, or anyone else who may decide here:" if who else "Anyone who may decide here:"


def _approvers(outcome: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for person in _list(outcome.get("approved_by")):
        if isinstance(person, dict):
            surface = str(person.get("surface"))
            yield str(person.get("login", "?")), surface if surface in set(Surface) else "?"


def _receipt(proposal: Proposal, links: Links) -> str:
    name = f"{(proposal.outcome or {}).get('receipt', 'end')}.json"
    return f"Receipt: [`{statement_path(proposal, name)}`]({links.statement(proposal, name)})"


def _place(pointer: str, names: list[str]) -> str:
    """A JSON Pointer, and in front of it what it leads into: an effect, or what was relied on."""
    if pointer.startswith(_RELIED_ON):
        return f"relied on {cell(pointer.removeprefix(_RELIED_ON))}"
    _, _, rest = pointer.partition("/effects/")
    place, _, inside = rest.partition("/")
    if pointer.startswith("/effects/") and place.isdecimal() and int(place[:9]) < len(names):
        return (
            f"{cell(names[int(place[:9])])} {cell(inside)}" if inside else cell(names[int(place)])
        )
    return cell(pointer)


def _side(said: dict[str, Any], side: str) -> str:
    value = said.get(side)
    if isinstance(value, dict) and value.keys() == {"what", "before", "after"}:
        return " → ".join(cell(json_text(value[key])) for key in ("before", "after"))
    if value is None and side != "found":
        return "*(none)*"
    return cell(value if side == "what" and isinstance(value, str) else json_text(value))


def _fits(reading: dict[str, Any]) -> str:
    ok = reading.get("ok")
    return "yes" if ok is True else "**no**" if ok is False else "?"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
