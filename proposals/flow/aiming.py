"""Aiming: the page of somebody's that a call is tied to, inside what the operator allows."""

from proposals.plan import Aim, Proposal, Target
from proposals.ports import ForgeError, Refused
from proposals.tools import Tool

from .ground import Ports, Refusal

CODE = "target_not_allowed"


async def aimed(ports: Ports, tool: Tool, aim: Aim | None) -> Target | None:
    """The page a call is tied to, as GitHub shows it now; None for one that gets its own.

    Raises Refusal when the tool may not be tied to it, or GitHub does not say.
    """
    if aim is None:
        return None
    if not allows(tool, aim.repository):
        allowed = ", ".join(tool.targets)
        hint = (
            f"It can be tied to pull requests and commits of: {allowed}."
            if allowed
            else "Leave target out: the proposal gets a pull request of its own."
        )
        detail = f"{tool.name} cannot be tied to {aim.repository[:140]}."
        raise Refusal(CODE, detail, f"{hint} An operator can list it in the tool's `targets`.")
    target = await _found(ports, aim)
    if ports.store.shown_on(target.repository, target.head):
        detail = "That commit shows a plan of Placet's own."
        hint = "Two plans with buttons on one commit could be mistaken for each other."
        raise Refusal(CODE, detail, hint)
    if target.fork and not tool.forks:
        detail = "The pull request comes from a fork, and anyone can push to a fork."
        raise Refusal(CODE, detail, "An operator can allow that with `forks = true` at the tool.")
    return target


def allows(tool: Tool, repository: str) -> bool:
    """Whether the operator listed this `owner/name`, whose letters' case does not matter."""
    return repository.lower() in {listed.lower() for listed in tool.targets}


def same_page(kept: Proposal, aim: Aim | None) -> bool:
    """Whether a proposal is tied to what an agent names now, or both to nothing."""
    if kept.target is None or aim is None:
        return kept.target is None and aim is None
    had = kept.target.aim
    named = (aim.repository.lower(), aim.number, aim.commit)
    return (had.repository.lower(), had.number, had.commit) == named


async def gone(ports: Ports, proposal: Proposal) -> tuple[str, str] | None:
    """Why a target can no longer be used for what was planned: code and words; None when it can.

    Looked at right before the opening: while a tool was planning, nobody listened to the page.
    Raises ForgeError when GitHub does not say.
    """
    was = proposal.target
    if was is None:
        return None
    try:
        now = await ports.forge.aim(was.aim)
    except Refused as refused:
        return "closed", str(refused)
    if (now.repository, now.head, now.base) != (was.repository, was.head, was.base):
        return "head_moved", "the pull request moved while this was planned"
    return None


async def _found(ports: Ports, aim: Aim) -> Target:
    try:
        return await ports.forge.aim(aim)
    except Refused as refused:
        hint = "Name an open pull request or an existing commit that the App can see."
        raise Refusal(CODE, str(refused), hint) from None
    except ForgeError as error:
        detail = f"GitHub did not say what the target is: {error}"[:300]
        raise Refusal(
            "github_silent", detail, "Send the same call again in a minute.", 503
        ) from None
