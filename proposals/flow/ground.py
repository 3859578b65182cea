"""What every step of the flow stands on: the ports, and the facts of a proposal for the judge."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from checks.facts import Access, Facts, Voice
from checks.policy import Policy, PolicyError, Source
from checks.remembered import policy_of
from proposals.lifecycle import State
from proposals.plan import Proposal
from proposals.ports import Forge, PolicyFile, Sight
from proposals.receipt import Signer
from proposals.runner import Runner
from proposals.store import Store
from proposals.tools import Catalog
from proposals.vault import Vault

from .lines import Lines

DEFAULT_WAIT = timedelta(hours=24)
SECOND = timedelta(seconds=1)
"""GitHub's dates have whole seconds: what was said in the second of an edit is void too."""
WAITING = frozenset({State.PINNED, State.OPEN})
"""States of a call that asks nobody, and of an undo, that waits to be started."""


class Refusal(Exception):
    """A request that is not taken: `code` is stable, `hint` says what to do, `status` is HTTP's."""

    def __init__(self, code: str, message: str, hint: str, status: int = 422) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint
        self.status = status


@dataclass(frozen=True, slots=True)
class Caps:
    """What one agent may have waiting: so many proposals, and so much cost of each unit."""

    waiting: int | None = None
    cost: Mapping[str, Decimal] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ports:
    """Everything the flow may use. `floors` holds the server's own policy per effect."""

    store: Store
    forge: Forge
    runner: Runner
    catalog: Catalog
    signer: Signer
    now: Callable[[], datetime]
    repositories: Mapping[str, int]
    floors: Mapping[str, Policy] = field(default_factory=dict)
    machines: frozenset[int] = frozenset()
    caps: Caps = Caps()
    lines: Lines = field(default_factory=Lines)
    vault: Vault = field(default_factory=Vault)


def facts(ports: Ports, proposal: Proposal, sight: Sight) -> Facts:
    """Put together what the judge may look at: what we hold and what GitHub shows now."""
    agent = ports.store.agent(proposal.agent)
    place = proposal.at
    return Facts(
        tool=proposal.tool,
        effect=str(dict_of(proposal)["effect"]),
        digest=proposal.plan.digest,
        identities=proposal.identities | (agent.identities if agent else frozenset()),
        valid_from=_valid_from(proposal, sight),
        expires=proposal.expires,
        pinned_head=place.head,
        head=sight.head,
        pinned_base=place.base,
        base=sight.base,
        is_open=sight.is_open,
        merged=sight.merged,
        draft=sight.draft,
        moved=proposal.moved,
        view_intact=sight.view_intact,
        edits=proposal.edits,
        askers=proposal.askers,
        machines=ports.machines,
        contributors=proposal.contributors,
        people=proposal.people,
        voices=sight.voices,
        access=sight.access,
        unreadable=sight.unreadable,
        skew=sight.skew,
        halted=ports.store.halted(proposal.repository),
        form=proposal.form,
        announced=place.announced,
        agent=proposal.agent,
    )


def _valid_from(proposal: Proposal, sight: Sight) -> datetime:
    """From when on what was said counts: after the last edit, though the words be back."""
    known = proposal.valid_from or proposal.at.opened
    return max(known, sight.edited + SECOND) if sight.edited else known


def unlooked(proposal: Proposal, voices: Iterable[Voice], people: Mapping[int, Access]) -> Sight:
    """The page as it was when it opened, for what can be judged before anybody looks at it."""
    place = proposal.at
    return Sight(
        head=place.head,
        base=place.base,
        is_open=True,
        merged=False,
        draft=False,
        view_intact=True,
        voices=tuple(voices),
        access=people,
    )


def dict_of(proposal: Proposal) -> dict[str, object]:
    """The identity of the tool as it stands in the pinned plan."""
    tool = proposal.plan.plan["tool"]
    if not isinstance(tool, dict):
        raise TypeError("a plan names its tool")
    return dict(tool)


def source(name: str, file: PolicyFile) -> Source:
    """A policy file as a source for the judge; what cannot be read is a problem, never a yes."""
    if file.text is None:
        return Source(name, None, file.problem or "the policy file is missing", file.blob)
    try:
        return Source(name, policy_of(file.text), blob=file.blob)
    except PolicyError as error:
        return Source(name, None, f"the policy file cannot be used: {error}", file.blob)


def pinned_sources(ports: Ports, proposal: Proposal) -> list[Source]:
    """The server's floor, when it has one for this effect, and the policy as it was at propose."""
    floor = ports.floors.get(str(dict_of(proposal)["effect"]))
    at_propose = source("propose", PolicyFile(proposal.policy, proposal.policy_blob))
    return [*([Source("floor", floor)] if floor else []), at_propose]


def teams(sources: list[Source], tool: str) -> frozenset[str]:
    """Every team that one of the policies asks about for this tool."""
    hits = (s.policy.rule_for(tool) for s in sources if s.policy)
    return frozenset().union(*(rule.teams() for _, rule in filter(None, hits)))
