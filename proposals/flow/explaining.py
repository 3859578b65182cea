"""Explaining: the verdict on a proposal laid open. It only reads, and never moves anything."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter

from checks.explain import explain, stamp
from checks.facts import Facts, Person
from checks.policy import folded
from checks.simulate import Scene, named_in
from checks.verdict import Verdict, judge
from proposals.lifecycle import State
from proposals.plan import Proposal
from proposals.ports import ForgeError, PolicyFile

from .ground import Ports, Refusal, facts, pinned_sources, source, teams, unlooked

SCHEMA = "placet.explanation/v1"
PATIENCE = 5.0  # seconds that GitHub gets to answer
_VERDICT = TypeAdapter(Verdict)
_UNDECIDED = frozenset({State.OPEN, State.CLAIMED})
_LOOKED = "Read from GitHub just now."
_UNOPENED = "Nobody has been asked yet: its page is not open."
_UNASKED = "Nobody is asked about it: the tool's operator declared another mode than approve."
_OVER = "It is {state}; this is what it was last judged by."
_SILENT = "GitHub did not answer ({why}); this is the last verdict that Placet gave."
_HELD = "GitHub did not answer ({why}); this is only what Placet holds itself."


@dataclass(frozen=True, slots=True)
class Looked:
    """A scene and how it was come by: `basis` is `fresh`, `stored` or `held`; `note` says why."""

    scene: Scene
    verdict: Verdict
    basis: str
    note: str


async def explanation(
    ports: Ports, proposal: Proposal, patience: float = PATIENCE
) -> dict[str, Any]:
    """The verdict on a proposal as a rule tree, from a fresh look where GitHub answers in time.

    `basis` and `as_of` say which it is: `fresh`, the verdict `stored` last, or what is `held`.
    """
    head = {
        "schema": SCHEMA,
        "proposal": proposal.id,
        "tool": proposal.tool,
        "digest": proposal.pinned.digest if proposal.pinned else None,
        "state": proposal.state.value,
        "reason": proposal.reason,
        "why": proposal.why or None,
    }
    if proposal.pinned is None or proposal.place is None or not proposal.asks:
        note = _UNOPENED if proposal.asks else _UNASKED
        return head | {"basis": "none", "as_of": stamp(ports.now()), "note": note, "verdict": None}
    looked = await look(ports, proposal, patience)
    scene = looked.scene
    said = explain(scene.facts, scene.sources, looked.verdict, scene.now)
    about = {"basis": looked.basis, "as_of": stamp(scene.now), "note": looked.note}
    return head | about | {"verdict": said}


async def look(ports: Ports, proposal: Proposal, patience: float = PATIENCE) -> Looked:
    """Everything that a verdict on an opened proposal is computed from, as fresh as can be had."""
    if proposal.state not in _UNDECIDED:
        return _stored(ports, proposal, _OVER.format(state=proposal.state.value), "")
    try:
        async with asyncio.timeout(patience):
            scene = await _fresh(ports, proposal)
    except ForgeError as error:
        return _stored(ports, proposal, _SILENT, str(error)[:200])
    except TimeoutError:
        return _stored(ports, proposal, _SILENT, f"within {patience:g} s")
    return Looked(scene, scene.verdict(), "fresh", _LOOKED)


async def meet(
    ports: Ports, proposal: Proposal, scene: Scene, logins: Iterable[str]
) -> tuple[Scene, dict[str, Person]]:
    """The scene with the access of more people, and who they are; Refusal when it cannot be had."""
    known = named_in(scene.facts)
    wanted = {folded(login): login for login in logins}
    strangers = [login for name, login in wanted.items() if name not in known]
    try:
        async with asyncio.timeout(PATIENCE):
            found = await _people(ports, proposal, strangers)
            people = known | found
            asked = {n: people[n] for n in wanted if people[n].id not in scene.facts.access}
            about = teams(list(scene.sources), proposal.tool)
            answers = [await ports.forge.access(proposal, p, about) for p in asked.values()]
    except (ForgeError, TimeoutError) as error:
        detail = f"GitHub did not say who they are: {str(error)[:200] or 'no answer in time'}."
        raise Refusal("github_silent", detail, "Try again later.", 503) from None
    access = dict(zip((p.id for p in asked.values()), answers, strict=True))
    met = replace(scene.facts, access={**scene.facts.access, **access})
    return replace(scene, facts=met), {n: people[n] for n in wanted}


async def _people(ports: Ports, proposal: Proposal, logins: list[str]) -> dict[str, Person]:
    ids = await ports.forge.resolve(proposal.repository, logins) if logins else {}
    nobody = [login for login in logins if ids.get(login) is None]
    if nobody:
        detail = f"GitHub knows no person @{nobody[0][:60]}."
        raise Refusal("no_such_user", detail, "Write the login as on GitHub.", 422)
    return {folded(login): Person(ids[login] or 0, login) for login in logins}


async def _fresh(ports: Ports, proposal: Proposal) -> Scene:
    sources = pinned_sources(ports, proposal)
    voices = ports.store.voices(proposal.id)
    sight = await ports.forge.look(proposal, voices, teams(sources, proposal.tool))
    unread = PolicyFile(None, problem="the policy was not read")
    current = source("current", sight.policy or unread)
    return Scene(facts(ports, proposal, sight), (*sources, current), ports.now())


def _stored(ports: Ports, proposal: Proposal, note: str, why: str) -> Looked:
    """What was judged last; where nothing was, what we hold, which GitHub has not confirmed."""
    sources = tuple(pinned_sources(ports, proposal))
    if proposal.verdict is None:
        scene = Scene(_held(ports, proposal), sources, ports.now())
        held = note if note != _SILENT else _HELD
        verdict = judge(scene.facts, scene.sources, scene.now)
        return Looked(scene, verdict, "held", held.format(why=why))
    verdict = _VERDICT.validate_python(proposal.verdict)
    said = datetime.fromisoformat(proposal.verdict.get("at") or proposal.created.isoformat())
    told = replace(_held(ports, proposal), voices=tuple(h.voice for h in verdict.heard))
    return Looked(Scene(told, sources, said), verdict, "stored", note.format(why=why))


def _held(ports: Ports, proposal: Proposal) -> Facts:
    """The facts as the store has them; nobody's access is known."""
    sight = unlooked(proposal, ports.store.voices(proposal.id), {})
    return facts(ports, proposal, sight)
