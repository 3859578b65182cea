"""Everything a decision may look at, as values: who said what, who they are, what GitHub shows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

NOBODY = 0  # an id that no account has


class Form(StrEnum):
    """How a proposal is shown: in a pull request of its own, or in a check run on somebody's."""

    PULL_REQUEST = "pull_request"
    CHECK_RUN = "check_run"


class Surface(StrEnum):
    """Where a person can say yes or no."""

    REVIEW = "review"
    COMMENT = "comment"
    BUTTON = "button"


class Stance(StrEnum):
    """What a person said; a review that only comments says nothing."""

    APPROVE = "approve"
    BLOCK = "block"
    REJECT = "reject"


class Standing(StrEnum):
    """What a fresh look at GitHub says of something that was delivered earlier."""

    STANDS = "stands"
    GONE = "gone"
    DISMISSED = "dismissed"
    UNDELIVERED = "undelivered"
    UNREAD = "unread"


@dataclass(frozen=True, slots=True)
class Person:
    """A GitHub account: `kind` is GitHub's user type, of which only "User" is a person."""

    id: int
    login: str
    kind: str = "User"


@dataclass(frozen=True, slots=True)
class Voice:
    """One thing that one person said on one surface, as delivered and as it stands now.

    `key` names the fact (`review:81`), `order` is GitHub's id of it, `head` the commit reviewed,
    `digest` the hex prefix that a comment named, `text` the comment as delivered, `dismisser` who
    dismissed the review. `delivery` is the guid of what brought it, `proof` how that was known to
    be GitHub's (`hmac`, or `log`: read from the App's delivery log), `link` GitHub's page of it.
    """

    key: str
    person: Person
    surface: Surface
    stance: Stance
    at: datetime
    order: int
    head: str | None = None
    digest: str | None = None
    text: str | None = None
    via_app: bool = False
    standing: Standing = Standing.STANDS
    dismisser: Person | None = None
    delivery: str | None = None
    proof: str | None = None
    link: str | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """What one person may do on the governing repository; `permission` None: GitHub didn't say.

    `id` is the account that GitHub answered about, which must be the one that spoke. `teams`
    holds `org/slug` of the asked-for teams they are an active member of, `unread` those of which
    nobody could tell.
    """

    id: int
    permission: str | None
    teams: frozenset[str] = frozenset()
    unread: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Unasked:
    """What only a call that asks nobody is judged by; all of it is empty for any other.

    `mode`: as it was planned; `declared`: as its tool's operator has it now. `cost`: what its plan
    says that it costs. `unsettled`: the start of the same call whose outcome nobody knows;
    `undone`: the undo by which a person took the same call back a while ago.
    """

    mode: str = ""
    declared: str = ""
    cost: str = ""
    unsettled: str = ""
    undone: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """One proposal as it stands right now. Times are UTC; `skew` is ours minus GitHub's clock.

    `valid_from`: nothing said before counts (the opening, or the last time the page was restored).
    `agent`: its name. `identities`: numeric ids of its people and machine accounts, at propose and
    now.
    `edits`: how often somebody else was delivered to have edited the page's words.
    `askers`: who asked for it in the agent's stead, which an undo can have; not the agent's people.
    `people`: the id that each login (in small letters) meant when the policy was pinned, or NOBODY.
    `announced`: in the check-run form, GitHub's id of our comment that announces the plan; None
    where there is none, on a bare commit.
    `ahead`: another proposal that changes the same thing just now and must be done first.
    `touches`: what the tool's operator says that it touches; only calls that ask nobody are judged
    by it, and by `unasked`.
    """

    tool: str
    effect: str
    digest: str
    identities: frozenset[int]
    valid_from: datetime
    expires: datetime
    pinned_head: str
    head: str
    pinned_base: str
    base: str
    is_open: bool = True
    merged: bool = False
    draft: bool = False
    moved: bool = False
    view_intact: bool = True
    edits: int = 0
    askers: frozenset[int] = frozenset()
    machines: frozenset[int] = frozenset()
    contributors: frozenset[int] = frozenset()
    people: Mapping[str, int] = field(default_factory=dict)
    voices: tuple[Voice, ...] = ()
    access: Mapping[int, Access] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()
    skew: timedelta = timedelta(0)
    halted: str | None = None
    ahead: str | None = None
    form: Form = Form.PULL_REQUEST
    announced: int | None = None
    agent: str = ""
    touches: frozenset[str] = frozenset()
    unasked: Unasked = Unasked()
