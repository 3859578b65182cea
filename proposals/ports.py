"""What the life of a proposal needs from outside: GitHub (the forge) and the tools.

The forge speaks in Placet's terms, never in single calls, so that each side can change alone. All
its errors are ForgeError: Unavailable and Refused are certain (nothing was written), Lost is not.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol

from checks.facts import Access, Person, Voice
from checks.verdict import Verdict

from .canonical import JSON
from .found import Aims, Knows, LedgerFile, Stray
from .plan import Aim, Place, Planned, Proposal, Target
from .tools import Tool
from .upstreams import Heard


class ForgeError(Exception):
    """GitHub did not do what was asked.

    ForgeError
    ├── Unavailable   it could not be asked or asks to wait (`retry_after` seconds): try again later
    ├── Refused       it said no (`status`): an operator or the repository's owner must act
    └── Lost          a write was sent and no answer came: look before doing anything else
    """


class Unavailable(ForgeError):
    """Nothing happened; trying again later is safe. `retry_after` is in seconds."""

    def __init__(self, message: str, retry_after: float = 5.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Refused(ForgeError):
    """GitHub said no and will say no again until somebody changes something.

    `code` is stable and says what is in the way: `suspended`, `not_installed`, `public`,
    `archived`, `permission_missing`, `ledger_not_writable`, `ledger_gone`, `not_ours` (another
    statement stands in the place of ours), else `refused`.
    """

    def __init__(self, message: str, status: int, code: str = "refused") -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class Lost(ForgeError):
    """A write was sent and its fate is not known."""


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """The policy on the default branch: its text and blob sha, or the problem in words.

    `guarded`: whether it cannot be changed without somebody's review; None when nobody can tell.
    `weakness`: where it can, or nobody can tell: why, and who must do what, in words.
    `skew`: our clock minus GitHub's when it was read, None when GitHub did not say.
    """

    text: str | None
    blob: str | None = None
    problem: str = ""
    guarded: bool | None = None
    weakness: str = ""
    skew: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Sight:
    """What GitHub shows of a proposal at one moment; `skew` is our clock minus GitHub's.

    `voices` are the given ones with their standing as of now, and blocking reviews that no delivery
    told of. `policy` is read only by `look`. `unreadable` says, for people, what could not be read.
    `edited`: when anybody last changed our words, whatever they say now; None when nobody ever did.
    """

    head: str
    base: str
    is_open: bool
    merged: bool
    draft: bool
    view_intact: bool
    voices: tuple[Voice, ...]
    access: Mapping[int, Access]
    policy: PolicyFile | None = None
    unreadable: tuple[str, ...] = ()
    skew: timedelta = timedelta(0)
    edited: datetime | None = None


class Fence(StrEnum):
    """What became of the start statement on the ledger branch."""

    OURS = "ours"  # written now by this claim: the tool may run
    ABSENT = "absent"  # definitely not written
    FOREIGN = "foreign"  # somebody else's start is there
    UNPROVEN = "unproven"  # nobody can tell
    TAMPERED = "tampered"  # ours is there, on a ledger that somebody else has changed


class Forge(Protocol):
    """GitHub, as a proposal sees it. Every method raises ForgeError and nothing else."""

    async def policy(self, repository: int) -> PolicyFile:
        """Read the policy from the default branch of the governing repository."""

    async def reach(self, repository: int) -> None:
        """Look afresh whether a repository can be used; Refused with the `code` of what bars it."""

    async def prepare(self, repository: int) -> None:
        """Make the ledger branch where there is none yet: what opens no page needs it as well."""

    async def resolve(self, repository: int, logins: Iterable[str]) -> Mapping[str, int | None]:
        """Read which account each login is now; None for one that no person has."""

    async def called(self, repository: int, ids: Iterable[int]) -> Mapping[str, int]:
        """Read what accounts are called now, to be shown: login -> id, where GitHub says it."""

    async def members(self, repository: int, teams: Iterable[str]) -> Mapping[str, int]:
        """Read who is in these teams, to be shown: login -> id, where GitHub says it."""

    async def aim(self, aim: Aim) -> Target:
        """Read the page that a call is tied to; Refused, in words for the agent, when it can't."""

    async def publish(self, proposal: Proposal, plan_file: bytes) -> Place:
        """Show the plan on a page of its own or on its target, or find what is there already."""

    async def people(self, proposal: Proposal, voices: Sequence[Voice]) -> Mapping[int, Access]:
        """Read what those who spoke may do, and no more: whether it can come to a yes at all."""

    async def glance(
        self, proposal: Proposal, voices: Sequence[Voice], known: Mapping[int, Access]
    ) -> Sight:
        """Read what one cheap look shows: the page, the reviews, what the people may do.

        Those of whom it is `known` since a moment ago are not asked about again.
        """

    async def look(
        self, proposal: Proposal, voices: Sequence[Voice], teams: frozenset[str]
    ) -> Sight:
        """Read all: `glance`, the policy, each granting comment, the delivery log of buttons."""

    async def access(self, proposal: Proposal, person: Person, teams: frozenset[str]) -> Access:
        """Read what one person may do on the governing repository."""

    async def start(self, proposal: Proposal, statement: bytes) -> Fence:
        """Create start.json on the ledger branch, never overwriting; look when no answer came."""

    async def restore(self, proposal: Proposal) -> datetime:
        """Put back our words on the page; GitHub's date of the restoring."""

    async def show(self, proposal: Proposal, verdict: Verdict | None) -> None:
        """Bring the check run up to date with the proposal's state and verdict."""

    async def react(self, proposal: Proposal, comment: int) -> None:
        """Mark a comment on the page as seen, by its id; doing it twice changes nothing."""

    async def reply(self, proposal: Proposal, key: str, text: str, *, again: bool) -> None:
        """Answer the fact `key` with one comment; `again`: an earlier try may have got through."""

    async def reword(self, proposal: Proposal, comment: int, key: str, text: str) -> None:
        """Put back what our comment said of the fact `key`; the outcome's words are made anew."""

    async def standing(self, proposal: Proposal, kind: str, statement: bytes) -> Fence:
        """Look whether this very statement (`start`, `end`) stands on the ledger; only reads."""

    async def newest(self, repository: int) -> bytes | None:
        """Read the newest statement on a ledger, whoever wrote it; None when there is none."""

    async def intact(self, repository: int) -> bool:
        """Look whether nobody else wrote statements since ours; otherwise the alarm is raised."""

    async def added(self, repository: int) -> Sequence[LedgerFile]:
        """Read the statements that others added to a ledger since it was last known as ours."""

    async def strays(self, repository: int, known: Knows, aims: Aims) -> Sequence[Stray]:
        """Read the pages of ours whose proposal is not `known`; `aims`: which page a plan names."""

    async def write_end(self, proposal: Proposal, kind: str, statement: bytes) -> None:
        """Create `end`, `end-2`, ... on the ledger branch; the same bytes there are fine."""

    async def settle(self, proposal: Proposal) -> None:
        """Merge our own page at the pinned head, or close it; somebody else's is never touched."""

    async def tell(self, proposal: Proposal, *, again: bool) -> None:
        """Say the outcome in one comment; `again` as in `reply`."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a tool is told to apply: only what stands in the pinned plan, and an idempotency key.

    `kept` are values that the plan names by their hash.
    """

    plan: Mapping[str, JSON]
    key: str
    kept: Mapping[str, JSON] = field(default_factory=dict)

    @property
    def verb(self) -> str:
        """What the plan is to: `apply`, or `undo` when it takes an earlier change back."""
        tool = self.plan.get("tool")
        return "undo" if isinstance(tool, dict) and tool.get("verb") == "undo" else "apply"


@dataclass(frozen=True, slots=True)
class Done:
    """What an undo starts from: the plan that was applied, the tool's result and the receipt.

    `kept` is what planning kept for this.
    """

    plan: Mapping[str, JSON]
    result: JSON
    receipt: Mapping[str, Any]
    kept: Mapping[str, JSON] = field(default_factory=dict)


class Outcome(StrEnum):
    """What an apply came back with."""

    DONE = "done"
    DID_NOTHING = "did_nothing"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Returned:
    """The answer of an apply: DONE with its result, DID_NOTHING with a reason, or LOST."""

    outcome: Outcome
    result: JSON = None
    why: str = ""


class Reading(StrEnum):
    """What reading the world back shows of an apply."""

    VERIFIED = "verified"
    CONTRADICTED = "contradicted"
    UNVERIFIED = "unverified"


@dataclass(frozen=True, slots=True)
class Checked:
    """A read-back: its verdict, each thing looked at {what, expected, found, ok}, and why.

    `after` is what the plan's preconditions are by now, pinned as they are: an undo compares it.
    """

    reading: Reading
    checks: list[dict[str, JSON]] = field(default_factory=list)
    why: str = ""
    after: dict[str, JSON] = field(default_factory=dict)


class PlanFailed(Exception):
    """The tool's dry run gave no plan; `code` is stable, `hint` says what the agent should do."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint


class Toolkit(Protocol):
    """One way of running tools: as a command, as Python, later over MCP or HTTP."""

    async def plan(self, tool: Tool, arguments: JSON) -> Planned:
        """Run the dry run; PlanFailed when it gives no plan."""

    async def undo_plan(self, tool: Tool, done: Done) -> Planned:
        """Run the dry run of taking back what was done; PlanFailed as in `plan`.

        Of the tool's codes three are known: already_undone, undo_conflict, irreversible.
        """

    async def apply(self, tool: Tool, order: Order) -> Returned:
        """Run the change or its undo once; anything but an answer in time is LOST. Never raises."""

    async def verify(self, tool: Tool, order: Order, result: JSON) -> Checked:
        """Read the world back; UNVERIFIED when there is nothing to look at. Never raises."""

    async def read(self, tool: Tool, arguments: JSON) -> Heard:
        """Call a tool that only reads; upstreams.Unreached and Unreturned."""

    async def close(self) -> None:
        """Stop what is kept warm."""
