"""Holding: what stops proposals from outside, by an operator's word or because GitHub bars us.

A barred repository is left in peace until a survey finds it usable again; nothing of it is lost,
and no other repository waits for it.
"""

import asyncio
from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta

from pydantic import TypeAdapter

from checks.reasons import Finding, Reason
from checks.verdict import Decision, Verdict, decision
from proposals.lifecycle import ALIVE, Event
from proposals.plan import Proposal
from proposals.ports import ForgeError, Refused
from proposals.store import Problem, Step

from .ending import end
from .ground import Ports

VERDICT = TypeAdapter(Verdict)
BARS = frozenset({"suspended", "not_installed", "public", "archived", "ledger_not_writable"})
GRACE = timedelta(minutes=10)
"""How long a repository must be out of reach before its proposals end without a delivery's word."""


def freeze(ports: Ports, why: str) -> list[Proposal]:
    """Let nothing start anywhere until `unfreeze`, and show it; the proposals that wait."""
    ports.store.halt(f"the operator froze everything: {why}", ports.now())
    return show_all(ports)


def unfreeze(ports: Ports) -> tuple[bool, list[Proposal]]:
    """Lift the freeze; whether there was one, and the proposals to look at again."""
    return ports.store.resume(), show_all(ports)


def resume(ports: Ports, repository: int) -> tuple[bool, list[Proposal]]:
    """Lift a repository's halt, after an audit; what it knew of the ledger's tip is forgotten."""
    with ports.store.tx():
        lifted = ports.store.resume(repository)
        if lifted:
            ports.store.forget_tip(repository)
    ports.store.hurry(repository, ports.now())
    return lifted, show_all(ports, repository)


def alarm(ports: Ports, repository: int, why: str) -> None:
    """Halt a repository until an operator has looked, and show it on its pages."""
    ports.store.halt(why, ports.now(), repository)
    show_all(ports, repository)


def show_all(ports: Ports, repository: int | None = None) -> list[Proposal]:
    """Queue a fresh look of the check run for every proposal that waits for people."""
    waiting = [
        p for p in ports.store.alive() if p.state in ALIVE and repository in (None, p.repository)
    ]
    for proposal in waiting:
        if proposal.place is not None:
            ports.store.post(proposal.id, [Step("show")], ports.now())
    return waiting


def as_shown(ports: Ports, proposal: Proposal) -> Verdict | None:
    """The last verdict for the page, with the stop that is in force right now, or without one."""
    known = VERDICT.validate_python(proposal.verdict) if proposal.verdict else None
    why = ports.store.halted(proposal.repository) if proposal.state in ALIVE else None
    others = [f for f in known.findings if f.reason is not Reason.HALTED] if known else []
    findings = (*([Finding(Reason.HALTED, why)] if why else ()), *others)
    if known is None:
        waiting = Verdict(Decision.WAITING, findings, (), proposal.expires)
        return waiting if why else None
    return replace(known, findings=findings, decision=decision(findings))


def barred_by(ports: Ports, repository: int) -> Problem | None:
    """What bars a repository as far as is known."""
    return next((p for p in ports.store.problems(repository) if p.code in BARS), None)


def hold(ports: Ports, proposal: Proposal, error: Refused) -> None:
    """Keep for the agent and the operator what GitHub's no means."""
    if proposal.target:  # perhaps about the page's repository, and that bars nobody else
        error = Refused(str(error), error.status)
    whole = error.code in BARS or error.code == "permission_missing"
    words = str(error) if error.code != "refused" else f"GitHub: {error}"
    about = "" if whole else proposal.id
    ports.store.trouble(
        Problem(proposal.repository, error.code, words, proposal=about), ports.now()
    )
    tell_held(ports, proposal, error.code, words)


def tell_held(ports: Ports, proposal: Proposal, code: str, words: str) -> None:
    """Let the agent be told why its proposal waits."""
    now = ports.store.proposal(proposal.id)
    if now and now.state in ALIVE and (now.reason, now.why) != (code, words[:300]):
        ports.store.note(now.id, reason=code, why=words[:300])


def freed(ports: Ports, proposal: Proposal) -> None:
    """Forget what held a proposal up: GitHub has just answered as hoped.

    Why it ended, while GitHub was asked, is not forgotten.
    """
    now = ports.store.proposal(proposal.id)
    if now and now.state in ALIVE and (now.reason or now.why):
        ports.store.note(proposal.id, reason=None, why="")
        ports.store.solved(proposal.repository, proposal=proposal.id)
        ports.store.solved(proposal.repository, "permission_missing")


async def survey(ports: Ports, gone: Collection[int] = ()) -> list[Proposal]:
    """Look at every governing repository; the proposals to look at because theirs is free again.

    `gone`: repositories that a delivery said the App was taken from. Never raises ForgeError.
    """
    alive = [p for p in ports.store.alive() if p.state in ALIVE]
    known = {p.repository for p in alive} | set(ports.repositories.values())
    known |= {p.repository for p in ports.store.problems() if p.code in BARS}
    looked = await asyncio.gather(*(_look(ports, r, r in gone) for r in sorted(known)))
    free = {repository for repository in looked if repository is not None}
    return [p for p in alive if p.repository in free]


async def _look(ports: Ports, repository: int, gone: bool) -> int | None:  # noqa: FBT001
    try:
        await ports.forge.reach(repository)
    except Refused as refused:
        _bar(ports, repository, refused, gone=gone)
        return None
    except ForgeError:
        return None
    if not sum(ports.store.solved(repository, code) for code in sorted(BARS)):
        return None
    ports.store.hurry(repository, ports.now())
    return repository


def _bar(ports: Ports, repository: int, refused: Refused, *, gone: bool) -> None:
    """Hold the proposals of a repository; end them when the App has certainly left it."""
    now = ports.now()
    for old in ports.store.problems(repository):
        if old.code in BARS and old.code != refused.code:
            ports.store.solved(repository, old.code)
    ports.store.trouble(Problem(repository, refused.code, str(refused)), now)
    found = next(p for p in ports.store.problems(repository) if p.code == refused.code)
    since = now - (found.at or now)
    over = refused.code == "not_installed" and (gone or since >= GRACE)
    for proposal in ports.store.alive():
        if proposal.repository != repository or proposal.state not in ALIVE:
            continue
        if over:
            end(ports, proposal, Event.VOIDED, refused.code, str(refused)[:300])
        else:
            tell_held(ports, proposal, refused.code, str(refused))
