"""Cases for a policy: who said what, and what must come of it; for a repository's own CI.

The file is as strict as the policy itself: a case with a mistake in it is an error, never a pass.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from .facts import NOBODY, Access, Facts, Form, Person
from .policy import Policy, PolicyError, Rule, Source, Version, document, folded
from .reasons import Reason
from .simulate import BadChange, add_comment, add_review, dismiss, move_head, press
from .times import Duration, Moment
from .verdict import Decision, Verdict, judge

Login = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,38}$")]
Agent = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]
Team = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,38}/[a-z0-9][a-z0-9_-]{0,99}$")
]
DIGITS = "c0ffeec0ffee"
"""How a comment of a case names its plan."""
_DIGEST = "sha256:" + "c0ffee" * 10 + "c0ff"
_HEAD, _BASE = "c0ffee" * 6 + "c0ff", "placet/ledger"
_OPENED = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
_WAIT = timedelta(hours=24)
_BEFORE = 1  # the announcement's number, before any that a case makes up
_SOMEBODY_ELSE = 2**40


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _short(value: Any) -> Any:
    """`lee: write` is short for `lee: {permission: write}`."""
    return {"permission": value} if isinstance(value, str) else value


class Somebody(_Strict):
    """What GitHub says of one account: its access, its teams, and what kind it is."""

    permission: Literal["none", "read", "triage", "write", "maintain", "admin"]
    teams: Annotated[tuple[Team, ...], Field(strict=False)] = ()
    kind: Literal["User", "Bot"] = "User"


class Said(_Strict):
    """One thing that one account says; exactly one of `review`, `comment` and `press`."""

    who: Login
    review: Literal["approve", "request-changes"] | None = None
    comment: Annotated[str, Field(min_length=1, max_length=1000)] | None = None
    press: Literal["approve", "reject"] | None = None
    after: Duration = timedelta(minutes=1)
    dismissed_by: Login | None = None

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        if sum(w is not None for w in (self.review, self.comment, self.press)) != 1:
            raise ValueError("say one of review, comment and press")
        if self.dismissed_by and self.review is None:
            raise ValueError("only a review can be dismissed")
        return self


class Case(_Strict):
    """One case: the proposal, the people, what they say, and what must come of it.

    `works_for`, `asked_by`, `machines` and `pushed` are logins; times count from the opening.
    `taken_over` are logins that another account had when the proposal opened, `nobody` those that
    no account had. `form: check_run`: tied to somebody's pull request, where a comment names the
    plan by `DIGITS`. `reasons` are all the codes that the verdict must give, those about stances
    included; left out, any may be given.
    """

    case: Annotated[str, Field(min_length=1, max_length=200)]
    tool: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$")]
    agent: Agent = "agent"
    works_for: Annotated[tuple[Login, ...], Field(strict=False)] = ()
    asked_by: Login | None = None
    machines: Annotated[tuple[Login, ...], Field(strict=False)] = ()
    pushed: Annotated[tuple[Login, ...], Field(strict=False)] = ()
    taken_over: Annotated[tuple[Login, ...], Field(strict=False)] = ()
    nobody: Annotated[tuple[Login, ...], Field(strict=False)] = ()
    form: Annotated[Form, Field(strict=False)] = Form.PULL_REQUEST
    people: dict[Login, Annotated[Somebody, BeforeValidator(_short)]] = Field(default_factory=dict)
    said: Annotated[tuple[Said, ...], Field(strict=False)] = ()
    opened: Moment = _OPENED
    judged_after: Duration = timedelta(hours=1)
    head_moved: bool = False
    expect: Annotated[Decision, Field(strict=False)]
    reasons: Annotated[
        tuple[Annotated[Reason, Field(strict=False)], ...] | None, Field(strict=False)
    ] = None

    @model_validator(mode="after")
    def _everyone_is_known(self) -> Self:
        known = [folded(login) for login in self.people]
        if len(set(known)) < len(known):
            raise ValueError("people: a login stands there twice")
        speak = [s.who for s in self.said] + [s.dismissed_by for s in self.said if s.dismissed_by]
        for login in speak:
            if folded(login) not in known:
                raise ValueError(f"people: say what {login} may do, because they say something")
        return self


class _File(_Strict):
    version: Version
    cases: Annotated[list[Any], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one case; `lacking` was expected and not given, `surplus` the other way."""

    case: Case
    verdict: Verdict
    lacking: tuple[str, ...] = ()
    surplus: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether everything came as expected."""
        same = self.verdict.decision is self.case.expect
        return same and not self.lacking and not self.surplus

    def lines(self) -> Iterator[str]:
        """The difference, for people; nothing when it passed."""
        if self.passed:
            return
        if self.verdict.decision is not self.case.expect:
            yield f"expected {self.case.expect.value}, but it is {self.verdict.decision.value}"
        yield from (f"- {code}: expected, but not given" for code in self.lacking)
        because = {f.reason.value: f.because for f in reversed(self.verdict.findings)}
        for code in self.surplus:
            yield f"+ {code}: given, but not expected ({because.get(code, 'of a stance')})"


def load_cases(text: str) -> list[Case]:
    """The cases in this text; PolicyError names the case and the fault."""
    data = document(text)
    try:
        listed = _File.model_validate(data).cases
    except ValidationError as error:
        raise PolicyError(_fault(error, "")) from None
    cases = [_case(place, one) for place, one in enumerate(listed, 1)]
    names = [case.case for case in cases]
    for name in names:
        if names.count(name) > 1:
            raise PolicyError(f"case {name!a:.80}: two cases have this name")
    return cases


def run(case: Case, policy: Policy) -> Result:
    """Judge one case by a policy; PolicyError when something is said that cannot be said."""
    facts = _facts(case, policy)
    verdict = judge(facts, [Source("current", policy)], case.opened + case.judged_after)
    if case.reasons is None:
        return Result(case, verdict)
    given = {f.reason.value for f in verdict.findings}
    given |= {h.reason.value for h in verdict.heard if h.reason}
    wanted = {reason.value for reason in case.reasons}
    return Result(case, verdict, tuple(sorted(wanted - given)), tuple(sorted(given - wanted)))


def _case(place: int, data: Any) -> Case:
    name = data.get("case") if isinstance(data, dict) else None
    where = f"case {name!a:.80}" if isinstance(name, str) else f"case {place}"
    try:
        return Case.model_validate(data)
    except ValidationError as error:
        raise PolicyError(_fault(error, where)) from None


def _fault(error: ValidationError, where: str) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    at = ".".join(str(part) for part in first["loc"])
    said = first["msg"].removeprefix("Value error, ")
    return ": ".join(part for part in (where, f"{at:.100}", said) if part) or "the file"


def _facts(case: Case, policy: Policy) -> Facts:
    hit = policy.rule_for(case.tool)
    ids = _ids(case)
    people = {
        folded(n): Person(ids[folded(n)], n, somebody.kind) for n, somebody in case.people.items()
    }
    facts = Facts(
        tool=case.tool,
        effect="write",
        digest=_DIGEST,
        identities=frozenset(ids[folded(n)] for n in case.works_for),
        valid_from=case.opened,
        expires=case.opened + (hit[1].expires if hit else _WAIT),
        pinned_head=_HEAD,
        head=_HEAD,
        pinned_base=_BASE,
        base=_BASE,
        agent=case.agent,
        askers=frozenset({ids[folded(case.asked_by)]} if case.asked_by else ()),
        form=case.form,
        announced=_BEFORE if case.form is Form.CHECK_RUN else None,
        people=_meant(case, hit[1], ids) if hit else {},
        machines=frozenset(ids[folded(n)] for n in case.machines),
        contributors=frozenset(ids[folded(n)] for n in case.pushed),
        access={
            ids[folded(n)]: Access(ids[folded(n)], s.permission, frozenset(s.teams))
            for n, s in case.people.items()
        },
    )
    for said in case.said:
        facts = _hear(facts, said, people, case)
    return move_head(facts) if case.head_moved else facts


def _hear(facts: Facts, said: Said, people: dict[str, Person], case: Case) -> Facts:
    person, at = people[folded(said.who)], case.opened + said.after
    if said.review:
        facts = add_review(facts, person, said.review, at)
        by = people[folded(said.dismissed_by)] if said.dismissed_by else None
        return dismiss(facts, facts.voices[-1].key, by) if by else facts
    if said.press:
        return press(facts, person, said.press, at)
    try:
        return add_comment(facts, person, said.comment or "", at)
    except BadChange as error:
        raise PolicyError(f"case {case.case!a:.80}: {error}") from None


def _ids(case: Case) -> dict[str, int]:
    """A number for every login of a case, the same one however it is written."""
    logins = [*case.people, *case.works_for, *case.machines, *case.pushed]
    logins += [case.asked_by] if case.asked_by else []
    return {login: n for n, login in enumerate(dict.fromkeys(map(folded, logins)), 1)}


def _meant(case: Case, rule: Rule, ids: dict[str, int]) -> dict[str, int]:
    """Which account each login in the rule meant when the proposal opened, as the case has it."""
    meant = {login: ids[login] for login in rule.logins() if login in ids}
    return (
        meant
        | {folded(login): _SOMEBODY_ELSE for login in case.taken_over}
        | {folded(login): NOBODY for login in case.nobody}
    )
