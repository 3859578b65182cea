"""What people ask for beside yes and no: another plan, taking it back, settling an unknown."""

from checks.commands import Command, Verb, names
from checks.reasons import Reason
from proposals.flow import (
    Ports,
    Refusal,
    barred,
    replan,
    settle,
    take_back,
    undo,
    unheard,
    withdraw,
)
from proposals.lifecycle import ALIVE, IllegalMoveError, State
from proposals.plan import Proposal
from proposals.ports import ForgeError
from proposals.store import Step
from webhook_app.deliveries import Asked
from webhook_app.render import reply, taken_reply, undo_reply, unheard_reply

EXPIRING = "expiring"


async def answer(ports: Ports, proposal: Proposal, asked: Asked) -> set[str]:
    """Do what a person asked for, or say why not; the ids of the proposals to look at."""
    if asked.via_app or asked.person.kind != "User":
        return set()
    try:
        return await _answer(ports, proposal, asked)
    except IllegalMoveError:
        words = "It is decided by now; look at the check."
        return _say(ports, proposal, asked, words)
    except ForgeError:
        words = "GitHub did not say what you may do here just now. Please ask again in a minute."
        return _say(ports, proposal, asked, words)


def give_up(ports: Ports, proposal: Proposal, asked: Asked) -> set[str]:
    """Tell a person that what they asked for could not be done, by a fault of ours."""
    words = "Placet failed at this again and again; its operator finds why in its log."
    return _say(ports, proposal, asked, words)


async def _answer(ports: Ports, proposal: Proposal, asked: Asked) -> set[str]:
    command = Command(asked.verb, asked.digest, asked.word, asked.text)
    if not names(proposal.plan.digest, command):
        return _code(ports, proposal, asked, Reason.OTHER_DIGEST)
    match asked.verb:
        case Verb.REPLAN:
            return await _replan(ports, proposal, asked)
        case Verb.WITHDRAW:
            return _withdraw(ports, proposal, asked)
        case Verb.RESOLVE:
            return await _resolve(ports, proposal, asked)
        case Verb.UNDO:
            return await _undo(ports, proposal, asked)
        case _:
            return set()


async def _replan(ports: Ports, proposal: Proposal, asked: Asked) -> set[str]:
    """Open a new proposal, for the agent's people and for those who may decide."""
    ours = asked.person.id in proposal.identities
    if not ours and (reason := await barred(ports, proposal, asked.person)):
        return _code(ports, proposal, asked, reason)
    if proposal.state in (State.CLAIMED, State.STARTED):
        return _say(ports, proposal, asked, "It is being decided right now; look at the check.")
    try:
        fresh = await replan(ports, proposal)
    except Refusal as error:
        return _say(ports, proposal, asked, f"{error} {error.hint}")
    return {proposal.id, fresh.id}


async def _undo(ports: Ports, proposal: Proposal, asked: Asked) -> set[str]:
    """Ask for an undo, for the agent's people and those who may decide; asking approves nothing.

    Where the undo is decided is said on this page once it is open. What nobody was asked about is
    taken back at once, by anybody who may write.
    """
    reason = await barred(ports, proposal, asked.person)
    if proposal.mode == "announce" and reason is None:
        return await _take_back(ports, proposal, asked)
    if reason and asked.person.id not in proposal.identities:
        return _code(ports, proposal, asked, reason)
    try:
        fresh = await undo(ports, proposal, asked_by=asked.person)
    except Refusal as error:
        return _refused(ports, proposal, asked, error)
    if words := undo_reply(fresh):
        _say(ports, proposal, asked, words)
    return {fresh.id}


async def _take_back(ports: Ports, proposal: Proposal, asked: Asked) -> set[str]:
    try:
        taken = await take_back(ports, proposal, asked.person)
    except Refusal as error:
        return _refused(ports, proposal, asked, error)
    words = taken_reply(taken.undo) if taken.at_once else undo_reply(taken.undo)
    if words:
        _say(ports, proposal, asked, words)
    return {taken.undo.id}


def _refused(ports: Ports, proposal: Proposal, asked: Asked, error: Refusal) -> set[str]:
    if error.code == "nothing_to_undo":
        return _code(ports, proposal, asked, error.code)
    return _say(ports, proposal, asked, f"{error} {error.hint}")


def _withdraw(ports: Ports, proposal: Proposal, asked: Asked) -> set[str]:
    asker = (proposal.asked_by or {}).get("id")
    if asked.person.id not in {*proposal.identities, asker}:
        words = "Only the people behind the request can withdraw it. To say no, comment `/reject`."
        return _say(ports, proposal, asked, words)
    if proposal.state not in ALIVE:
        return _code(ports, proposal, asked, "late")
    why = f"@{asked.person.login} took it back."
    with ports.store.tx():
        withdraw(ports, proposal.id, proposal.agent, why, by_person=True)
        ports.store.answered(proposal.id, asked.key)
    return {proposal.id}


async def _resolve(ports: Ports, proposal: Proposal, asked: Asked) -> set[str]:
    if proposal.state is not State.UNKNOWN:
        return _code(ports, proposal, asked, "not_unknown")
    if reason := await unheard(ports, proposal, asked.person):
        words = unheard_reply(proposal, reason, asked.person.login)
        return _say(ports, proposal, asked, words)
    with ports.store.tx():
        settle(ports, proposal, asked.person, asked.word == "applied", asked.text)
        ports.store.answered(proposal.id, asked.key)
    return set()


def _code(ports: Ports, proposal: Proposal, asked: Asked, code: str) -> set[str]:
    words = reply(proposal, code, who=asked.person.login, named=asked.digest or "")
    return _say(ports, proposal, asked, words)


def _say(ports: Ports, proposal: Proposal, asked: Asked, words: str) -> set[str]:
    """Answer once, to the one comment or press that asked."""
    ports.store.post(proposal.id, [Step("reply", key=asked.key, text=words)], ports.now())
    return set()


def warn(ports: Ports, proposal: Proposal) -> None:
    """Say once, in a comment, that a proposal is about to end: a comment reaches people."""
    step = Step("reply", key=EXPIRING, text=reply(proposal, EXPIRING))
    if not ports.store.posted(proposal.id, step):
        ports.store.post(proposal.id, [step], ports.now())
