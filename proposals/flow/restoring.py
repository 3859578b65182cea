"""Restoring: what a lost or older store must know comes back from signed statements alone.

What had started keeps its outcome, or has an unknown one; what was only open ends. So nothing can
start a second time, and nobody's yes from before counts for anything.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from proposals.audit import Said
from proposals.canonical import JSON, canonical
from proposals.evidence import moment
from proposals.lifecycle import ALIVE, Event, State
from proposals.plan import Pinned, Place, Proposal, Target
from proposals.store import Numbered, Store

from .ending import ended
from .statements import ABOUT

LOST = (
    "Placet's store was lost or is older than its ledger, so nobody can tell what was approved. "
    "Nothing was run."
)
_STATES = {
    "applied": State.APPLIED,
    "failed": State.FAILED,
    "unknown": State.UNKNOWN,
    "ended": State.ENDED,
}
_LATE = {State.APPLIED: Event.LATE_SUCCESS, State.FAILED: Event.LATE_FAILURE}


def take_in(store: Store, found: Iterable[Said], now: datetime) -> list[str]:
    """Let the store know what these proven statements say; the proposals of which it learned."""
    learned: dict[str, list[Said]] = defaultdict(list)
    for said in sorted(found, key=lambda s: s.seq):
        if store.take_in(_numbered(said)):
            learned[said.spot.proposal].append(said)
    for id_, new in learned.items():
        with store.tx():
            _keep(store, id_, new, now)
    return list(learned)


def superseded(store: Store, now: datetime, repository: int) -> list[Proposal]:
    """End everything of a repository that was open, for its store was lost.

    What this process was asked for and has shown to nobody yet knows no other store.
    """
    return [
        lost(store, proposal, now)
        for proposal in store.alive()
        if proposal.state in ALIVE
        and proposal.repository == repository
        and (proposal.place is not None or proposal.id in store.inherited)
    ]


def lost(store: Store, proposal: Proposal, now: datetime) -> Proposal:
    """End one proposal that a lost store had open."""
    event = Event.CRASH if proposal.state is State.PLANNING else Event.STORE_LOST
    return ended(store, proposal, event, "superseded", LOST, now, cause="store_lost")


def proposal_of(predicate: Mapping[str, JSON], outcome: dict[str, Any] | None) -> Proposal | None:
    """The proposal that a signed predicate tells of; None when it does not tell it whole."""
    try:
        kept = _Kept.model_validate_json(canonical(dict(predicate)))
    except ValidationError:
        return None
    said = outcome or {"outcome": "unknown", "approved_by": predicate.get("approvals") or []}
    tool = kept.plan.get("tool")
    return Proposal(
        **{n: getattr(kept, n) for n in _SAME},
        id=kept.proposal,
        tool=str(tool["name"]) if isinstance(tool, dict) else "",
        arguments=kept.plan.get("arguments"),
        state=_STATES.get(str(said["outcome"]), State.UNKNOWN),
        identities=frozenset(kept.identities),
        pinned=Pinned(kept.plan, {}, kept.digest),
        place=kept.place(),
        outcome=said,
        reason=said.get("reason"),
        why=str(said.get("why", ""))[:300],
        target=kept.target.target(kept.page.url if kept.page else "") if kept.target else None,
    )


def target_of(predicate: Mapping[str, JSON]) -> Target | None:
    """The page that a signed predicate says a proposal is tied to; None for one of its own."""
    try:
        return _Target.model_validate(predicate.get("target")).target("")
    except ValidationError:
        return None


def _keep(store: Store, id_: str, new: Sequence[Said], now: datetime) -> None:
    outcome = _outcome(new)
    known = store.proposal(id_)
    if known:
        _bring_up(store, known, new, outcome, now)
    elif made := proposal_of(new[-1].predicate, outcome):
        at = moment(str((outcome or {}).get("at"))) or now
        store.adopt(made, now, None if made.state is State.UNKNOWN else at)
        if made.undoes and made.state is State.APPLIED:
            store.took_back(made.undoes, id_)
    for said in new:
        by = said.predicate.get("undone_by")
        if isinstance(by, dict) and isinstance(by.get("proposal"), str):
            store.took_back(id_, str(by["proposal"]))


def _outcome(new: Sequence[Said]) -> dict[str, Any] | None:
    """The last outcome that these statements say."""
    about = [s.predicate for s in new if s.text("fact") == "outcome"]
    return {n: v for n, v in about[-1].items() if n not in ABOUT} if about else None


def _bring_up(
    store: Store,
    known: Proposal,
    new: Sequence[Said],
    outcome: dict[str, Any] | None,
    now: datetime,
) -> None:
    """Move a proposal to where the ledger says it is; one whose outcome is known stays there.

    Of two accounts of one outcome the signed one is kept: people read it, and audits hold to it.
    """
    target = _STATES.get(str((outcome or {"outcome": "unknown"})["outcome"]), State.UNKNOWN)
    changes: dict[str, Any] = {"why": str((outcome or {}).get("why", ""))[:300]}
    changes |= {"outcome": outcome} if outcome else {}
    changes["reason"] = (outcome or {}).get("reason")
    changes |= {"nonce": nonce} if (nonce := new[-1].text("nonce")) else {}
    if known.state is State.ENDED and target is not State.ENDED:
        store.correct(known.id, now, target, **changes)
    if outcome and known.state is target and target in (State.APPLIED, State.FAILED):
        store.note(known.id, **changes)
    for event in _way(known.state, target):
        store.move(known.id, event, now, **changes)


def _way(source: State, target: State) -> list[Event]:
    """The moves from where a store has a proposal to where its ledger has it."""
    late = [_LATE[target]] if target in _LATE else []
    if source is State.UNKNOWN:
        return late
    if source not in ALIVE or source is State.PLANNING:
        return []
    if target is State.ENDED:
        return [Event.STORE_LOST]
    claim = [] if source is State.CLAIMED else [Event.GRANTED]
    return [*claim, Event.START, Event.LOST, *late]


def _numbered(said: Said) -> Numbered:
    text = (said.file.data or b"").decode()
    repository = said.predicate.get("repository")
    kind = said.spot.kind if said.spot.part == 1 else f"{said.spot.kind}-{said.spot.part}"
    number = repository if isinstance(repository, int) else 0
    return Numbered(number, said.seq, said.spot.proposal, kind, text, said.digest, written=True)


_SAME = (
    *("agent", "repository", "policy_blob", "mode", "created", "expires", "salt", "parent"),
    *("undoes", "asked_by", "nonce", "summary"),
)


class _Read(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Page(_Read):
    pull_request: int | None
    url: str
    check_run: int
    opened: AwareDatetime
    base: str
    announced: int | None
    home: str


class _Target(_Read):
    repository: int
    pull_request: int | None
    commit: str
    name: str

    def target(self, url: str) -> Target:
        """The page it is tied to, as far as statements say."""
        return Target(self.repository, self.name, self.pull_request or 0, self.commit, url=url)


class _Kept(_Read):
    proposal: str
    digest: str
    agent: str
    identities: list[int]
    repository: int
    policy_blob: str | None
    mode: str
    created: AwareDatetime
    expires: AwareDatetime
    salt: str
    parent: str | None
    undoes: str | None
    asked_by: dict[str, Any] | None
    summary: str
    nonce: str | None
    head: str | None
    plan: dict[str, Any]
    page: _Page | None
    target: _Target | None = None

    def place(self) -> Place | None:
        """Where it stands; None for what no page shows."""
        if self.head is None or self.page is None:
            return None
        page, branch = self.page, "" if self.target else f"placet/p/{self.proposal}"
        return Place(
            branch,
            page.base,
            self.head,
            page.pull_request or 0,
            page.url,
            page.check_run,
            page.opened,
            page.announced,
            page.home,
        )
