"""From decided to told: each step is sent in order, and again until it got through."""

import json
from dataclasses import dataclass
from datetime import timedelta

import structlog
from pydantic import TypeAdapter

from checks.verdict import Verdict
from proposals.flow import Ports, write_end
from proposals.plan import Proposal
from proposals.ports import ForgeError, Lost, Refused, Unavailable
from proposals.store import Step

VERDICT = TypeAdapter(Verdict)
SOON = timedelta(seconds=3)
LATER = timedelta(minutes=5)

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Outbox:
    """Sends steps to the forge; nothing here ever runs a tool."""

    ports: Ports

    async def send(self, step: Step) -> None:
        """Send one step, or put it off with the reason."""
        proposal = self.ports.store.proposal(step.proposal)
        if proposal is None or proposal.place is None:
            self.ports.store.sent(step.seq, "there is no page to tell it on")
            return
        try:
            await self._do(step, proposal)
        except ForgeError as error:
            self._failed(step, error)
            return
        self.ports.store.sent(step.seq)

    async def _do(self, step: Step, proposal: Proposal) -> None:
        forge, again = self.ports.forge, step.tries > 0
        match step.step:
            case "end":
                await write_end(self.ports, proposal, json.loads(step.text))
            case "settle":
                await forge.settle(proposal)
            case "show":
                verdict = VERDICT.validate_python(proposal.verdict) if proposal.verdict else None
                await forge.show(proposal, verdict)
            case "reply":
                await forge.reply(proposal, step.key, step.text, again=again)
            case "tell":
                await forge.tell(proposal, again=again)

    def _failed(self, step: Step, error: ForgeError) -> None:
        """Wait as told, look soon after a lost answer; a no is final except for the receipt."""
        log.warning("outbox", proposal=step.proposal, step=step.step, problem=str(error))
        now = self.ports.now()
        if isinstance(error, Refused) and step.step != "end":
            self.ports.store.sent(step.seq, str(error))
            return
        wait = LATER
        if isinstance(error, Lost):
            wait = SOON
        elif isinstance(error, Unavailable):
            wait = timedelta(seconds=error.retry_after)
        self.ports.store.later(step.seq, now + wait, str(error))
