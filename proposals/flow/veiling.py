"""Veiling: a tool is given its secrets, and everything that is kept, shown or told goes without.

What is secret of a proposal is opened here, and only for a tool. Of a tool that declares no secret,
everything is as it stands.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from proposals.canonical import JSON, same
from proposals.plan import Pinned, Proposal
from proposals.ports import Checked, Done, Order, PlanFailed, Returned
from proposals.tools import BadArguments, Tool, UnknownTool
from proposals.vault import SecretsLost, kid_of
from proposals.veil import EVERY_CALL, Veil, World

from .ground import Ports, Refusal
from .lines import Thing


@dataclass(frozen=True, slots=True)
class Known:
    """A proposal as its tool knows it: `content` has its secrets, and `veil` hides them again."""

    content: Mapping[str, Any]
    veil: Veil | None = None

    @property
    def arguments(self) -> JSON:
        """The arguments as the agent sent them."""
        found: JSON = (self.content.get("plan") or self.content)["arguments"]
        return found

    @property
    def plan(self) -> dict[str, JSON]:
        """The plan as the tool made it."""
        return dict(self.content["plan"])

    @property
    def world(self) -> World:
        """All of it, as pointers of secrets speak of it."""
        plan = self.content.get("plan") or {"arguments": self.content["arguments"]}
        return {**plan, "result": self.content.get("result")}

    def order(self, key: str) -> Order:
        """What the tool is told to apply."""
        return Order(self.plan, key, self.content["kept"])

    def text(self, text: str) -> str:
        """A text of the tool, without what is secret."""
        return self.veil.text(text) if self.veil else text

    @contextmanager
    def covering(self) -> Iterator[None]:
        """Take what is secret out of the words in which planning fails."""
        try:
            yield
        except PlanFailed as error:
            raise PlanFailed(error.code, self.text(str(error)), self.text(error.hint)) from None
        except BadArguments as error:
            words = self.text(str(error)), self.text(error.hint)
            raise BadArguments(error.code, *words, pointer=error.pointer) from None


def known(ports: Ports, proposal: Proposal) -> Known:
    """Open what is secret of a proposal; SecretsLost.

    The secrets of what an undo takes back are hidden in the undo as well.
    """
    declared = _declared(ports, proposal)
    if proposal.sealed:
        content = _opened(ports, proposal)
        declared |= set(content["pointers"])
    else:
        _refuse_marks(proposal)
        content = _plain(proposal)
    opened = Known(content)
    if not declared:
        return opened
    original = ports.store.proposal(proposal.undoes) if proposal.undoes else None
    before = known(ports, original) if original else None
    worlds = (opened.world, before.world) if before else (opened.world,)
    key = ports.vault.key(kid_of(proposal.sealed))
    return replace(opened, veil=Veil(key, proposal.salt, tuple(sorted(declared)), worlds))


def asked(ports: Ports, fresh: Proposal, tool: Tool, family: Proposal | None) -> Proposal:
    """A new proposal as it is kept, without its secrets. SecretsLost.

    `family`: what it follows or takes back; the same secrets have the same marks there.
    """
    salt = family.salt if family else fresh.salt
    if not tool.secrets:
        return replace(fresh, salt=salt)
    key = ports.vault.key(kid_of(family.sealed) if family else "")
    content = {"pointers": tool.secrets, "arguments": fresh.arguments, "kept": {}}
    veil = Veil(key, salt, tool.secrets, ({"arguments": fresh.arguments},))
    return replace(
        fresh,
        arguments=alike(ports, tool, fresh.arguments),
        salt=salt,
        said=veil.text(fresh.said),
        sealed=ports.vault.seal(key, fresh.id, content),
    )


def alike(ports: Ports, tool: Tool, arguments: JSON) -> JSON:
    """Arguments in the form in which calls are compared; SecretsLost."""
    if not tool.secrets:
        return arguments
    veil = Veil(ports.vault.key(), EVERY_CALL, tool.secrets)
    return veil.hide({"arguments": arguments})["arguments"]


def same_arguments(ports: Ports, kept: Proposal, arguments: JSON) -> bool:
    """Whether a proposal was asked for with these arguments."""
    try:
        tool = ports.catalog.find(kept.tool)
        return same(kept.arguments, alike(ports, tool, arguments))
    except (UnknownTool, SecretsLost):
        return False


def pinned(ports: Ports, proposal: Proposal, plan: Pinned) -> dict[str, Any]:
    """A plan as it is kept: `pinned`, and `sealed` when something is hidden in it."""
    if plan.real is None:
        return {"pinned": plan}
    more = {"plan": plan.real, "kept": plan.kept, "digest": plan.digest}
    sealed = _sealed(ports, proposal, more)
    return {"pinned": replace(plan, kept={}, real=None), "sealed": sealed}


def done(ports: Ports, original: Proposal) -> Done:
    """What an undo starts from, as the tool knows it; SecretsLost."""
    opened = known(ports, original)
    outcome, content = original.outcome or {}, opened.content
    real = {n: content[n] for n in ("result", "after") if n in outcome and n in content}
    receipt = outcome | real
    return Done(opened.plan, receipt.get("result"), receipt, content["kept"])


def veiled(ports: Ports, started: Proposal, answer: Returned) -> Returned:
    """What a tool answered, as it is kept; its real result is sealed first. SecretsLost."""
    veil = known(ports, started).veil if started.sealed else None
    if veil is None:
        return answer
    _keep(ports, started, result=answer.result)
    world: dict[str, JSON] = {"result": answer.result}
    told = replace(veil, known=(world, *veil.known))
    return replace(answer, result=veil.hide(world)["result"], why=told.text(answer.why))


def seen(ports: Ports, proposal: Proposal, found: Checked) -> Checked:
    """What reading back showed, as it is kept; SecretsLost."""
    now = ports.store.proposal(proposal.id) or proposal
    veil = known(ports, now).veil if now.sealed else None
    if veil is None:
        return found
    _keep(ports, proposal, after=found.after)
    world: dict[str, JSON] = {"preconditions": found.after}
    told = replace(veil, known=(world, *veil.known))
    said: dict[str, Any] = {"after": veil.hide(world)["preconditions"]}
    said |= {"checks": told.lines([*found.checks]), "why": told.text(found.why)}
    return replace(found, **said)


def things(ports: Ports, proposal: Proposal) -> frozenset[Thing]:
    """What a plan changes, by the real names of its effects within the tool's box or upstream.

    Names whose secrets are lost stay hidden: what has lost its secrets runs nothing.
    """
    try:
        plan = known(ports, proposal).plan
    except SecretsLost:
        plan = proposal.plan.plan
    listed = plan.get("effects")
    effects = listed if isinstance(listed, list) else []
    return frozenset((proposal.box, str(e.get("what"))) for e in effects if isinstance(e, dict))


def lost(error: SecretsLost) -> Refusal:
    """The refusal of a call whose secrets nobody can open."""
    return Refusal(error.code, str(error), error.hint, 409)


def _declared(ports: Ports, proposal: Proposal) -> set[str]:
    try:
        return set(ports.catalog.find(proposal.tool).secrets)
    except UnknownTool:
        return set()


def _refuse_marks(proposal: Proposal) -> None:
    """Refuse to give a tool marks for its secrets: this store never had them, or lost them."""
    plan = proposal.pinned.plan if proposal.pinned else {}
    identity = plan.get("tool")
    if isinstance(identity, dict) and identity.get("secrets"):
        raise SecretsLost(f"The secrets of {proposal.id} are not in this store.")


def _plain(proposal: Proposal) -> dict[str, Any]:
    outcome = proposal.outcome or {}
    said = {"arguments": proposal.arguments, "kept": {}, "result": outcome.get("result")}
    plan = proposal.pinned
    return said | ({"plan": plan.plan, "kept": plan.kept} if plan else {})


def _opened(ports: Ports, proposal: Proposal) -> dict[str, Any]:
    """What was sealed, if it belongs to the very plan that people see."""
    content = ports.vault.open(proposal.id, proposal.sealed)
    if proposal.pinned and content.get("digest") != proposal.pinned.digest:
        raise SecretsLost(f"The secrets of {proposal.id} belong to another plan.")
    return content


def _sealed(ports: Ports, proposal: Proposal, more: Mapping[str, Any]) -> str:
    key = ports.vault.key(kid_of(proposal.sealed))
    content = ports.vault.open(proposal.id, proposal.sealed) if proposal.sealed else {}
    return ports.vault.seal(key, proposal.id, {"pointers": [], **content, **more})


def _keep(ports: Ports, proposal: Proposal, **more: Any) -> None:
    """Seal more of a proposal, on top of what is sealed by now."""
    with ports.store.tx():
        now = ports.store.proposal(proposal.id) or proposal
        ports.store.note(proposal.id, sealed=_sealed(ports, now, more))
