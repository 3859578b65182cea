"""People settle what the world could not: who may, and the outcome on their word."""

from checks.counting import matched
from checks.facts import Access, Person
from checks.reasons import Reason
from checks.voices import ineligible
from proposals.lifecycle import Event
from proposals.plan import Proposal
from proposals.ports import Sight

from .applying import finish, outcome_of
from .ground import Ports, facts, pinned_sources, teams


async def barred(ports: Ports, proposal: Proposal, person: Person) -> Reason | None:
    """Why this person may not decide about this proposal now; None when they may.

    Raises ForgeError when GitHub would not say.
    """
    sources = pinned_sources(ports, proposal)
    access = await ports.forge.access(proposal, person, teams(sources, proposal.tool))
    known = facts(ports, proposal, _as_pinned(proposal, person, access))
    rules = [rule for _, _, rule in matched(known, sources)]
    if not rules:
        return Reason.NO_RULE
    return next((r for rule in rules if (r := ineligible(person, known, rule))), None)


def settle(ports: Ports, proposal: Proposal, person: Person, applied: bool, why: str) -> Proposal:  # noqa: FBT001
    """Settle an unknown outcome on a person's word; the receipt says that it is only that.

    Raises lifecycle.IllegalMoveError when the outcome is known.
    """
    by = (proposal.outcome or {}).get("approved_by", [])
    asserted = {"id": person.id, "login": person.login, "why": why[:300]}
    outcome = outcome_of(
        ports,
        "applied" if applied else "failed",
        by,
        basis="asserted",
        asserted_by=asserted,
        why=f"@{person.login} says so.",
    )
    event = Event.ASSERTED_APPLIED if applied else Event.ASSERTED_FAILED
    return finish(ports, proposal, event, outcome)


def _as_pinned(proposal: Proposal, person: Person, access: Access) -> Sight:
    place = proposal.at
    return Sight(
        head=place.head,
        base=place.base,
        is_open=True,
        merged=False,
        draft=False,
        view_intact=True,
        voices=(),
        access={person.id: access},
    )
