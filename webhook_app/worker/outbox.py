"""From decided to told: each step is sent in order, and again until it got through."""

import json
from dataclasses import dataclass
from datetime import timedelta

import structlog

from proposals.backoff import doubled
from proposals.flow import (
    Ports,
    as_shown,
    barred_by,
    hold,
    publish,
    put_back,
    told_by_others,
    write_end,
)
from proposals.lifecycle import State
from proposals.plan import Proposal
from proposals.ports import ForgeError, Lost, Refused, Unavailable
from proposals.store import Problem, Step
from webhook_app.render import unmerged

SOON = timedelta(seconds=3)
LATER = timedelta(minutes=5)
LONGEST = timedelta(hours=1)

_RECORD = frozenset({"end", "publish"})
"""The receipt, and the page of what was done without asking: what tells at all that it was done.

Sent without a page, for calls that ask nobody have none or get it by this, and again after any no.
"""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Outbox:
    """Sends steps to the forge; nothing here ever runs a tool."""

    ports: Ports

    async def send(self, step: Step) -> None:
        """Send one step, or put it off with the reason."""
        proposal = self.ports.store.proposal(step.proposal)
        if proposal is None or (proposal.place is None and step.step not in _RECORD):
            self.ports.store.sent(step.seq, "there is no page to tell it on")
            return
        if barred_by(self.ports, proposal.repository):
            self.ports.store.later(step.seq, self.ports.now() + LATER, "the repository is barred")
            return
        self.ports.store.trying(step.seq)
        try:
            await self._do(step, proposal)
        except ForgeError as error:
            self._failed(step, proposal, error)
            return
        self.ports.store.sent(step.seq)
        if step.tries and step.step in {*_RECORD, "settle"}:
            self.ports.store.solved(proposal.repository, proposal=proposal.id)

    async def _do(self, step: Step, proposal: Proposal) -> None:
        forge = self.ports.forge
        match step.step:
            case "end":
                await write_end(self.ports, proposal, step.key, json.loads(step.text))
            case "publish":
                await publish(self.ports, proposal)
            case "settle":
                await forge.settle(proposal)
            case "show":
                await forge.show(proposal, as_shown(self.ports, proposal))
            case "restore":
                await put_back(self.ports, proposal)
            case _:
                await self._say(step, proposal)

    async def _say(self, step: Step, proposal: Proposal) -> None:
        """What stands in the conversation: an answer, the outcome, a mark under a comment."""
        forge, again = self.ports.forge, step.tries > 0
        match step.step:
            case "react":
                await forge.react(proposal, int(step.key))
            case "reply":
                await forge.reply(proposal, step.key, step.text, again=again)
            case "reword":
                comment, _, _ = step.key.partition(":")
                said = self.ports.store.answer(proposal.id, step.text)
                await forge.reword(proposal, int(comment), step.text, said.text if said else "")
            case "tell":
                await forge.tell(proposal, again=again)

    def _failed(self, step: Step, proposal: Proposal, error: ForgeError) -> None:
        """Wait as told, look soon after a lost answer; a no is final unless people can lift it."""
        log.warning("outbox", proposal=step.proposal, step=step.step, problem=str(error))
        if step.step == "react":  # a courtesy, which must not hold up what comes after it
            self.ports.store.sent(step.seq, str(error))
            return
        now = self.ports.now()
        wait = LATER
        if isinstance(error, Refused):
            final = error.code == "refused" and step.step not in _RECORD
            if final or error.code == "not_ours":
                self._given_up(step, proposal, error)
                return
            hold(self.ports, proposal, error)
            wait = doubled(LATER, step.tries + 1, LONGEST)
        elif isinstance(error, Lost):
            wait = SOON
        elif isinstance(error, Unavailable):
            wait = timedelta(seconds=error.retry_after)
        self.ports.store.later(step.seq, now + wait, str(error))

    def _given_up(self, step: Step, proposal: Proposal, error: Refused) -> None:
        """A page that is not merged changes nothing that was done: the receipt stands."""
        if step.step == "end" and proposal.state is State.ENDED:
            told_by_others(self.ports, proposal)
        if step.step == "settle":
            why = f"{proposal.at.url} could not be merged or closed: {error}"
            found = Problem(proposal.repository, "merge_refused", why, proposal=proposal.id)
            self.ports.store.trouble(found, self.ports.now())
            said = Step("reply", key="settle", text=unmerged(proposal, str(error)))
            self.ports.store.post(proposal.id, [said], self.ports.now())
        self.ports.store.sent(step.seq, str(error))
