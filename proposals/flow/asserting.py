"""People settle what the world could not: who may, and the outcome on their word.

Where nobody can comment, the operator does.
"""

from collections.abc import Mapping

from checks.counting import matched
from checks.facts import Person
from checks.reasons import Reason
from checks.voices import excluded, ineligible
from proposals.lifecycle import Event, State
from proposals.plan import Proposal

from .applying import finish, outcome_of
from .ground import Ports, Refusal, facts, pinned_sources, teams, unlooked
from .holding import barred_by

_WRITERS = frozenset({"write", "maintain", "admin"})


async def barred(ports: Ports, proposal: Proposal, person: Person) -> Reason | None:
    """Why this person may not decide about this proposal now; None when they may.

    About taking back what asked nobody, everybody may who may write, but for declared machines.
    Raises ForgeError when GitHub would not say.
    """
    if not proposal.asks:
        if person.id in ports.machines:
            return Reason.MACHINE_ACCOUNT
        access = await ports.forge.access(proposal, person, frozenset())
        writes = access.id == person.id and access.permission in _WRITERS
        return None if writes else Reason.PERMISSION_TOO_LOW
    sources = pinned_sources(ports, proposal)
    access = await ports.forge.access(proposal, person, teams(sources, proposal.tool))
    known = facts(ports, proposal, unlooked(proposal, (), {person.id: access}))
    rules = [rule for _, _, rule in matched(known, sources)]
    if not rules:
        return Reason.NO_RULE
    return next((r for rule in rules if (r := ineligible(person, known, rule))), None)


async def unheard(ports: Ports, proposal: Proposal, person: Person) -> Reason | None:
    """Why this person may not say what came of it: as `barred`, and nobody behind the request.

    The agent's own people, and who asked for an undo, never settle what it did, in any mode.
    """
    known = facts(ports, proposal, unlooked(proposal, (), {}))
    return excluded(person, known) or await barred(ports, proposal, person)


def settle(ports: Ports, proposal: Proposal, person: Person, applied: bool, why: str) -> Proposal:  # noqa: FBT001
    """Settle an unknown outcome on a person's word; the receipt says that it is only that.

    Raises lifecycle.IllegalMoveError when the outcome is known.
    """
    by = {"id": person.id, "login": person.login, "why": why[:300]}
    return _on_the_word(ports, proposal, applied, f"@{person.login} says so.", by)


def settle_by_operator(ports: Ports, proposal: Proposal, applied: bool, why: str) -> Proposal:  # noqa: FBT001
    """The same on the operator's word, where people have no page to say it on; else Refusal."""
    if proposal.state is not State.UNKNOWN:
        hint = "Only an unknown outcome can be settled."
        raise Refusal("not_unknown", f"It is {proposal.state}.", hint, 409)
    place = proposal.place
    if proposal.asks and place and place.number and not barred_by(ports, proposal.repository):
        hint = f"Somebody who may decide must comment /resolve on {place.url}."
        raise Refusal("has_a_page", "Its people can settle it themselves.", hint, 409)
    by: dict[str, object] = {"operator": True, "why": why[:300]}
    return _on_the_word(ports, proposal, applied, "The operator of Placet says so.", by)


def _on_the_word(
    ports: Ports,
    proposal: Proposal,
    applied: bool,  # noqa: FBT001
    words: str,
    asserted_by: Mapping[str, object],
) -> Proposal:
    outcome = outcome_of(
        ports,
        "applied" if applied else "failed",
        (proposal.outcome or {}).get("approved_by", []),
        basis="asserted",
        asserted_by=dict(asserted_by),
        why=words,
    )
    event = Event.ASSERTED_APPLIED if applied else Event.ASSERTED_FAILED
    return finish(ports, proposal, event, outcome)
