"""`placet.tool/v1`: what a tool's process is asked, one JSON object in and one out.

Its answers are read strictly. What cannot be read of a plan is no plan; what cannot be read of an
apply is a lost outcome, never a failure: the change may have happened.
"""

import re
from dataclasses import replace
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from proposals.canonical import JSON, NotCanonical, canonical, loads
from proposals.plan import Planned
from proposals.ports import Checked, Outcome, PlanFailed, Reading, Returned
from proposals.tools import Tool, printable
from proposals.upstreams import Heard, Unreached, Unreturned

from .process import MAX_OUTPUT, Ran

SCHEMA = "placet.tool/v1"
NOTHING_TO_READ = "nothing to read back"
UNCHECKED = "Nothing can be read back afterwards: whether it worked, only the tool itself will say."
_OPERATOR = "The tool's operator must look; the server's log has what it wrote on stderr."


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Effect(_Answer):
    what: str
    before: Any
    after: Any


class _Cost(_Answer):
    amount: int | float | str
    unit: str


class _Plan(_Answer):
    effects: list[_Effect] | None = None
    preview: Any = None
    preconditions: dict[str, Any] = Field(default_factory=dict)
    cost: _Cost | None = None
    warnings: list[str] = Field(default_factory=list)


class _Error(_Answer):
    code: str
    message: str
    hint: str = ""


class _Failure(_Answer):
    error: _Error


class _Applied(_Answer):
    ok: bool
    result: Any = None
    did_nothing: bool = False
    why: str = ""


class _Check(_Answer):
    what: str
    expected: Any
    found: Any
    ok: bool


class _Checked(_Answer):
    verdict: Literal["verified", "contradicted", "unverified"]
    checks: list[_Check] = Field(default_factory=list)
    why: str = ""


class _Read(_Answer):
    result: Any


class _Published(_Answer):
    schema_: dict[str, Any] = Field(alias="schema")
    undo: bool
    read: bool
    verify: bool


A = TypeVar("A", bound=_Answer)


class _Misread(ValueError):
    """An answer that this wire does not have, in words."""


def request(verb: str, tool: Tool, members: dict[str, JSON]) -> bytes:
    """One line that asks a tool's process for something."""
    return canonical({"schema": SCHEMA, "verb": verb, "tool": tool.name, **members}) + b"\n"


def planned(ran: Ran) -> Planned:
    """The plan in an answer; PlanFailed says who must act. Effects that are [] refuse: nothing."""
    if not ran.started:
        raise PlanFailed("tool_not_started", ran.problem, "The tool's operator must mend that.")
    try:
        said = None if ran.problem else _said(ran)
    except _Misread as error:
        raise _unreadable(ran, str(error)) from None
    if isinstance(said, dict) and "error" in said:
        raise _refusal(said)
    if ran.problem or ran.code:
        raise PlanFailed("tool_failed", _trouble(ran), _OPERATOR)
    try:
        plan = _fit(_Plan, said)
    except _Misread as error:
        raise PlanFailed("bad_plan", f"The tool's plan: {error}", _OPERATOR) from None
    return _worth_asking(plan)


def unchecked(plan: Planned) -> Planned:
    """The plan of a tool without a read-back, which says so to whoever is to approve it."""
    return replace(plan, warnings=[*plan.warnings, UNCHECKED])


def applied(ran: Ran) -> Returned:
    """What an apply came back with. Only an answer of the tool is certain."""
    if not ran.started:
        return Returned(Outcome.DID_NOTHING, why=ran.problem)
    if ran.problem:
        return Returned(Outcome.LOST, why=ran.problem)
    try:
        said = _fit(_Applied, _said(ran))
    except _Misread as error:
        trouble = _trouble(ran) if ran.code else f"The tool's answer cannot be read: {error}"
        return Returned(Outcome.LOST, why=trouble)
    why = printable(said.why, 300)
    if said.did_nothing and not said.ok:
        return Returned(Outcome.DID_NOTHING, why=why)
    if said.ok and not said.did_nothing and not ran.code:
        return Returned(Outcome.DONE, said.result)
    trouble = _trouble(ran) if ran.code else "The tool says neither done nor did_nothing, or both."
    return Returned(Outcome.LOST, why=why or trouble)


def checked(ran: Ran) -> Checked:
    """What a read-back shows. `verified` that rests on nothing, or on a failed check, is not."""
    try:
        if ran.problem or ran.code:
            return Checked(Reading.UNVERIFIED, why=_trouble(ran))
        said = _fit(_Checked, _said(ran))
    except _Misread as error:
        return Checked(Reading.UNVERIFIED, why=f"What reading back said cannot be read: {error}")
    reading, why = Reading(said.verdict), printable(said.why, 300)
    if reading is Reading.VERIFIED and not (said.checks and all(c.ok for c in said.checks)):
        reading = Reading.UNVERIFIED
        why = "The tool says verified, but its checks do not show it."
    return Checked(reading, [check.model_dump() for check in said.checks], why)


def heard(ran: Ran) -> Heard:
    """What a read found, or the tool's own error `code: message`. Unreached and Unreturned."""
    if not ran.started:
        raise Unreached("tool_not_started", ran.problem)
    try:
        said = None if ran.problem else _said(ran)
        if isinstance(said, dict) and "error" in said:
            error = _refusal(said)
            return Heard(None, f"{error.code}: {error}")
        if ran.problem or ran.code:
            raise Unreturned(_trouble(ran))
        return Heard(_fit(_Read, said).result)
    except _Misread as error:
        words = f"The tool's answer cannot be read: {error}"
        raise Unreturned(_trouble(ran) if ran.code else words) from None


def published(ran: Ran) -> _Published:
    """What a module says of itself: schema, undo, read; ValueError says in words why not."""
    if ran.problem or ran.code:
        raise ValueError(_trouble(ran))
    said = _said(ran)
    if isinstance(said, dict) and "error" in said:
        raise ValueError(str(_refusal(said)))
    return _fit(_Published, said)


def _said(ran: Ran) -> JSON:
    try:
        return loads(ran.answer, limit=MAX_OUTPUT)
    except NotCanonical as error:
        raise _Misread(str(error)) from None


def _fit(model: type[A], said: JSON) -> A:
    try:
        return model.model_validate(said)
    except ValidationError as error:
        first = error.errors()[0]
        where = printable(".".join(str(step) for step in first["loc"]), 80) or "the answer"
        raise _Misread(f"{where}: {first['msg']}.") from None


def _unreadable(ran: Ran, error: str) -> PlanFailed:
    if ran.code:
        return PlanFailed("tool_failed", _trouble(ran), _OPERATOR)
    return PlanFailed("bad_plan", f"The tool's plan: {error}", _OPERATOR)


def _refusal(said: JSON) -> PlanFailed:
    """The tool's own error, in its words, which are hostile until they are escaped."""
    try:
        error = _fit(_Failure, said).error
    except _Misread as misread:
        return PlanFailed("bad_plan", f"The tool's error: {misread}", _OPERATOR)
    code = error.code if re.fullmatch(r"[a-z][a-z0-9_]{0,39}", error.code) else "tool_failed"
    return PlanFailed(code, printable(error.message, 300), printable(error.hint, 300))


def _worth_asking(plan: _Plan) -> Planned:
    if plan.effects == []:
        hint = "Nobody is asked to approve nothing. If you expected a change, check the arguments."
        raise PlanFailed("nothing_to_do", "The tool would change nothing.", hint)
    if plan.effects is None and plan.preview is None:
        raise PlanFailed("bad_plan", "The plan shows neither effects nor a preview.", _OPERATOR)
    return Planned(
        effects=[effect.model_dump() for effect in plan.effects or ()],
        preview=plan.preview,
        preconditions=plan.preconditions,
        cost=plan.cost.model_dump() if plan.cost else None,
        warnings=plan.warnings,
    )


def _trouble(ran: Ran) -> str:
    if ran.problem:
        return ran.problem
    if ran.code < 0:
        return f"The tool was killed by signal {-ran.code}."
    return f"The tool exited with {ran.code}."
