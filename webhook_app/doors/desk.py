"""Where gated calls wait: the gate's way to the store, which alone knows what people said."""

from dataclasses import dataclass

from proposals.calls import Call, ConfirmationRequired, Denied
from proposals.flow import Ask, Refusal
from proposals.lifecycle import State
from proposals.plan import Proposal
from proposals.upstreams import Heard, Unreturned

from .hall import Hall
from .planned import planned


@dataclass(frozen=True, slots=True)
class Desk:
    """Proposes what the gate holds, and tells what came of it."""

    here: Hall

    async def hold(self, call: Call) -> str:
        """Propose a call, or find the proposal that it has; Refusal says why not."""
        agent = self.here.store.agent(call.agent)
        if agent is None or agent.revoked:
            raise Refusal("agent_revoked", "The agent may not ask.", "Ask the operator.", 403)
        ask = Ask(
            agent,
            call.tool,
            call.arguments,
            said=call.said,
            key=call.key,
            aim=call.aim,
            token=call.token,
        )
        return (await planned(self.here, ask)).id

    async def result(self, proposal: str) -> Heard:
        """What the tool returned; ConfirmationRequired while it waits, Denied when it ended.

        Unreturned: it was started and its outcome is unknown.
        """
        found = self.here.store.proposal(proposal)
        if found is None:
            raise Denied("not_found", "There is no such proposal.")
        if found.state is State.APPLIED:
            return Heard((found.outcome or {}).get("result"))
        if found.state in {State.FAILED, State.ENDED}:
            raise Denied(found.reason or found.state.value, found.why)
        if found.state is State.UNKNOWN:
            raise Unreturned(found.why)
        raise _paused(found)


def _paused(found: Proposal) -> ConfirmationRequired:
    return ConfirmationRequired(found.tool, found.arguments, found.id)
