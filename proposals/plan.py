"""A plan, pinned by its digest, and the proposal that carries it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from checks.facts import Form
from checks.policy import Rule
from checks.remembered import rule_in

from .canonical import JSON, canonical, check, digest, loads, pointer_split
from .changes import Change, changes
from .lifecycle import State

SCHEMA = "placet.plan/v1"
UNASKED_MODES = frozenset({"confirm", "announce"})
"""Modes in which a call starts without anybody's approval."""
_MAY_VARY = ("/preview", "/warnings")


@dataclass(frozen=True, slots=True)
class Planned:
    """What a tool's dry run said: what would change, from what to what, and what it relied on.

    `effects` are {what, before, after}; `preconditions` name -> value, etag, version or hash;
    `cost` {amount, unit} when it spends. `kept` is what an undo will need and no plan shows.
    """

    effects: list[dict[str, JSON]] = field(default_factory=list)
    preview: JSON = None
    preconditions: dict[str, JSON] = field(default_factory=dict)
    cost: dict[str, JSON] | None = None
    warnings: list[str] = field(default_factory=list)
    kept: dict[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pinned:
    """A plan as it is shown and approved; `volatile` is shown beside it but not digested.

    `kept` is shown nowhere: it stays in the store, for the tool. `real` is the plan with its
    secrets, where marks stand for them in `plan`; only the vault keeps it.
    """

    plan: dict[str, JSON]
    volatile: dict[str, JSON]
    digest: str
    kept: dict[str, JSON] = field(default_factory=dict)
    real: dict[str, JSON] | None = field(default=None, repr=False)


def pin(
    tool: Mapping[str, JSON], arguments: JSON, planned: Planned, volatile: Sequence[str] = ()
) -> Pinned:
    """The pinned plan of one dry run; the same world gives the same bytes (no clock, no ids).

    `tool` is {name, kind, effect, definition}, `volatile` the JSON Pointers left out of the digest,
    allowed only below /preview and /warnings. Raises canonical.NotCanonical, and ValueError
    for a volatile pointer elsewhere.
    """
    for pointer in volatile:
        if not any(pointer == p or pointer.startswith(p + "/") for p in _MAY_VARY):
            raise ValueError(f"{pointer} cannot be volatile: only /preview and /warnings may vary")
    whole: dict[str, JSON] = {
        "schema": SCHEMA,
        "tool": dict(tool),
        "arguments": arguments,
        "effects": list(planned.effects),
        "preview": planned.preview,
        "preconditions": dict(planned.preconditions),
        "cost": planned.cost,
        "warnings": list(planned.warnings),
    }
    rest, left_out = pointer_split(whole, list(volatile))
    check(left_out)
    check(planned.kept)
    plan = loads(canonical(rest))
    if not isinstance(plan, dict):
        raise TypeError("a plan is an object")
    return Pinned(plan, left_out, digest(plan), dict(planned.kept))


def drifted(pinned: Pinned, fresh: Pinned) -> bool:
    """Whether the world has changed since; digests are compared, never Python values."""
    return pinned.digest != fresh.digest


def difference(pinned: Pinned, fresh: Pinned) -> list[Change]:
    """What differs between two plans, in pointer order, for people and agents to read."""
    return changes(pinned.plan, fresh.plan)


@dataclass(frozen=True, slots=True)
class Aim:
    """Somebody's page that a call is tied to, as an agent names it.

    `repository` is `owner/name`; `number` a pull request's, or 0 and then `commit` is a full sha.
    """

    repository: str
    number: int = 0
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """Somebody's page that a proposal is tied to, as GitHub showed it when the agent asked.

    `repository` is a numeric id and `name` its `owner/name`; `number` is 0 for a bare commit.
    `head` is the commit that the check run stands on; `fork`: it lives in another repository.
    """

    repository: int
    name: str
    number: int
    head: str
    base: str = ""
    url: str = ""
    fork: bool = False

    @property
    def aim(self) -> Aim:
        """How an agent names the same page."""
        return Aim(self.name, self.number, "" if self.number else self.head)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a proposal stands on GitHub: numeric ids and full shas; `opened` is GitHub's date.

    In the check-run form `number` is that of somebody's pull request (0: a bare commit), `head` its
    head, `branch` empty, `announced` the id of our comment there and `home` the name of the
    governing repository, whose ledger branch holds the plan.
    """

    branch: str
    base: str
    head: str
    number: int
    url: str
    check_run: int
    opened: datetime
    announced: int | None = None
    home: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One asked-for tool call, from the asking to its end. Times are UTC.

    `identities`: numeric ids of those the agent works for; `said`: the agent's own words, a claim;
    `policy_guarded`: whether the policy could not be changed without a review then (None: unknown),
    and `policy_weakness`: else why, in words;
    `people`: the id that each login named by the pinned rule had when it opened (0: nobody had it);
    `behind`, `candidates`: login -> id of those the agent works for and of those the rule means, as
    they were called then: they are shown, and nothing is decided by them;
    `edits`: how often somebody else edited the words of its page;
    `reason` and `why`: code and words of an end; `outcome`: the receipt's content once it is over.
    `target`: the page of somebody's that it is tied to, None when it gets one of its own.
    `undoes`: the applied proposal that this one takes back, `undone_by`: the one that took this
    one back; `asked_by`: {id, login} of the person who asked, when it was not the agent.
    `last_undo`: the latest undo of it that began or found it taken back, and `last_undo_is` where
    that one stands, as `undo_standing` says; what did nothing is none.
    `unsettled`: {proposal, url} of an earlier start of the same call whose outcome nobody knew when
    it was shown to people.
    `sealed`: its secrets, encrypted (see `vault`), of a tool that has some: then marks stand for
    them in `arguments`, which compare between calls, in the plan and in the outcome.
    """

    id: str
    agent: str
    tool: str
    arguments: JSON
    state: State
    repository: int
    identities: frozenset[int]
    created: datetime
    expires: datetime
    salt: str
    mode: str = "approve"
    said: str = ""
    key: str | None = None
    pinned: Pinned | None = None
    summary: str = ""
    policy: str | None = None
    policy_blob: str | None = None
    policy_guarded: bool | None = None
    policy_weakness: str = ""
    place: Place | None = None
    valid_from: datetime | None = None
    moved: bool = False
    edits: int = 0
    contributors: frozenset[int] = frozenset()
    people: Mapping[str, int] = field(default_factory=dict)
    behind: Mapping[str, int] = field(default_factory=dict)
    candidates: Mapping[str, int] = field(default_factory=dict)
    evidence_rev: int = 0
    nonce: str | None = None
    reason: str | None = None
    why: str = ""
    verdict: dict[str, Any] | None = None
    outcome: dict[str, Any] | None = None
    parent: str | None = None
    undoes: str | None = None
    undone_by: str | None = None
    last_undo: str | None = None
    last_undo_is: str = ""
    unsettled: Mapping[str, Any] | None = None
    asked_by: Mapping[str, Any] | None = None
    target: Target | None = None
    sealed: str = field(default="", repr=False)

    @property
    def askers(self) -> frozenset[int]:
        """Numeric ids of those who asked for it in the agent's stead."""
        return frozenset({int(self.asked_by["id"])}) if self.asked_by else frozenset()

    @property
    def asks(self) -> bool:
        """Whether people must approve it before it starts: in mode `approve`, and only there."""
        return self.mode not in UNASKED_MODES

    @property
    def form(self) -> Form:
        """How it is shown."""
        return Form.CHECK_RUN if self.target else Form.PULL_REQUEST

    @property
    def page(self) -> int:
        """The id of the repository in which it is shown: the governing one, or the target's."""
        return self.target.repository if self.target else self.repository

    @property
    def plan(self) -> Pinned:
        """The pinned plan; asking before there is one is a mistake of ours."""
        if self.pinned is None:
            raise LookupError(f"{self.id} has no plan yet")
        return self.pinned

    @property
    def at(self) -> Place:
        """Where it is published; asking before that is a mistake of ours."""
        if self.place is None:
            raise LookupError(f"{self.id} is not published yet")
        return self.place

    @property
    def rule(self) -> Rule | None:
        """The rule that its policy had for the tool when it was asked; None: nobody can approve."""
        return rule_in(self.policy or "", self.tool)

    @property
    def box(self) -> str:
        """The box or upstream that its tool is of: there one name is one thing."""
        return self.tool.partition(".")[0]

    @property
    def contradicted(self) -> bool:
        """Whether the tool said that it was done, and reading back showed something else."""
        return self.state is State.FAILED and bool((self.outcome or {}).get("checks"))


_BEGUN = {State.STARTED: "running", State.UNKNOWN: "unknown", State.APPLIED: "undone"}


def undo_standing(undo: Proposal) -> str:
    """What an undo means for what it takes back; "" when nothing of that has changed.

    `running`, `unknown`, `undone`; `contradicted`: its tool said so and the world says otherwise;
    `back`: it was found as it was before, so that nothing was left to undo.
    """
    if undo.contradicted:
        return "contradicted"
    if undo.state is State.ENDED and undo.reason == "already_undone":
        return "back"
    return _BEGUN.get(undo.state, "")
