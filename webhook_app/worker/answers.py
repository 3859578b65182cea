"""From commanded to answered: what a person asked for is kept until it was done or refused.

A restart or a fault in between loses none: it is taken up again, and doing it twice comes to the
same.
"""

from dataclasses import dataclass, field

import structlog
from pydantic import TypeAdapter

from checks.commands import Verb
from proposals.flow import Ports
from proposals.plan import Proposal
from proposals.store import Unanswered
from webhook_app.deliveries import Asked

from .asked import answer, give_up

MOST = 5
"""How often a command is taken up before its author is told that nothing came of it."""
_ASKED = TypeAdapter(Asked)

log = structlog.get_logger()


def keep(ports: Ports, proposal: Proposal, asked: Asked) -> None:
    """Keep a command; in the transaction in which its delivery is handled."""
    text = _ASKED.dump_json(asked).decode()
    ports.store.keep_command(Unanswered(proposal.id, asked.key, text, ports.now()))


@dataclass(frozen=True, slots=True)
class Answers:
    """The commands that wait for their answers; each is being answered once at a time."""

    ports: Ports
    taken: dict[tuple[str, str], bool] = field(default_factory=dict)
    """Those taken up, and whether they are being answered right now."""

    def due(self) -> list[Unanswered]:
        """The commands that nobody answers yet; they are taken up by this."""
        found = [c for c in self.ports.store.commands() if (c.proposal, c.key) not in self.taken]
        self.taken.update({(c.proposal, c.key): True for c in found})
        return found

    def again(self) -> None:
        """Let everything that broke off be taken up once more."""
        for key in [key for key, busy in self.taken.items() if not busy]:
            del self.taken[key]

    async def give(self, command: Unanswered) -> set[str]:
        """Do what was commanded and answer it; the ids of the proposals to look at."""
        key = (command.proposal, command.key)
        try:
            touched = await self._given(command)
        except BaseException:
            self.taken[key] = False
            raise
        del self.taken[key]
        return touched

    async def _given(self, command: Unanswered) -> set[str]:
        store = self.ports.store
        proposal = store.proposal(command.proposal)
        store.trying_command(command.proposal, command.key)
        touched = await self._done(command, proposal) if proposal else set()
        store.answered(command.proposal, command.key)
        return touched

    async def _done(self, command: Unanswered, proposal: Proposal) -> set[str]:
        """Do it, unless it was done before it broke off, or broke off too often."""
        asked, broke_off = _ASKED.validate_json(command.text), command.tries > 0
        if command.tries >= MOST:
            log.error("command given up", proposal=proposal.id, key=command.key)
            return give_up(self.ports, proposal, asked)
        if broke_off and asked.verb is Verb.REPLAN:
            fresh = self.ports.store.followed(proposal.id, command.at)
            if fresh is not None:
                return {proposal.id, fresh.id}
        return await answer(self.ports, proposal, asked)
