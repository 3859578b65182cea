"""The operators' socket: agents, status, tools, keys. It is a file that only its owner can use."""

import re
import secrets
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Query
from pydantic import BaseModel, ConfigDict, Field

from checks.simulate import as_data
from proposals import flow
from proposals.answer import answer, details
from proposals.flow.ground import source
from proposals.plan import Proposal
from proposals.ports import ForgeError
from proposals.store import Agent, NameTaken
from proposals.succession import claims
from proposals.tools import Tool
from webhook_app.github import GitHubForge, lacking

from . import halting, previewing, resolving
from .hall import Hall, Here, token_hash
from .halting import standing
from .http import described
from .problem import Problem, answer_problems

router = APIRouter()
TOKEN = "placet_"  # noqa: S105 (how tokens begin, so that scanners find them)
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class NewAgent(BaseModel):
    """An agent to add; `identities` are the numeric ids of the people and accounts it works for."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str
    identities: Annotated[list[Annotated[int, Field(gt=0, lt=2**53)]], Field(min_length=1)]


class GoneAgent(BaseModel):
    """An agent to shut out."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str


def operators_app(main: FastAPI) -> FastAPI:
    """The application for the socket, over the hall that the main application has made."""
    app = FastAPI(title="Placet, for its operator", openapi_url=None)
    app.include_router(router)
    app.include_router(halting.router)
    app.include_router(resolving.router)
    app.include_router(previewing.router)
    app.state.trials = previewing.Trials()
    app.state.hall = main.state.hall
    answer_problems(app)
    return app


@router.get("/agents")
def agents(here: Here) -> dict[str, Any]:
    """List the agents, revoked ones too."""
    return {"agents": [_shown(a) for a in here.store.agents()]}


@router.post("/agents")
def add(new: NewAgent, here: Here) -> dict[str, Any]:
    """Add an agent; its token is told this once, and only its hash is kept."""
    if not _NAME.fullmatch(new.name):
        hint = "Use small letters, digits, dots, - and _, at most 64, such as cleanup-bot."
        raise Problem(422, "bad_name", "That is no name for an agent.", hint)
    token = TOKEN + secrets.token_urlsafe(32)
    identities = frozenset(new.identities)
    try:
        added = here.store.add_agent(new.name, token_hash(token), identities, here.now())
    except NameTaken:
        detail = f"An agent named {new.name} exists, or did once."
        raise Problem(409, "name_taken", detail, "Choose another name.") from None
    return _shown(added) | {"token": token}


@router.post("/agents/revoke")
def revoke(gone: GoneAgent, here: Here) -> dict[str, Any]:
    """Shut an agent out at once and withdraw what it has open."""
    if gone.name not in {a.name for a in here.store.agents()}:
        raise Problem(404, "not_found", "There is no such agent.", "placet agents list names all.")
    ended = flow.revoke(here.ports, gone.name)
    here.worker.wake()
    return {"name": gone.name, "revoked": True, "withdrawn": [p.id for p in ended]}


@router.get("/status")
def status(here: Here, proposal: str | None = None) -> dict[str, Any]:
    """Tell everything about one proposal, or in short how the whole server stands."""
    if proposal is not None:
        return _one(here, proposal)
    checks = {name: check() for name, check in here.ready.items()}
    latest = [answer(p) for p in here.store.proposals(limit=20)]
    stands = {"counts": here.store.counts(), "ready": checks, "latest": latest}
    stands["upstreams"] = dict(here.upstreams())
    return stands | standing(here)


@router.get("/explanation")
async def explanation(here: Here, proposal: str) -> dict[str, Any]:
    """Tell why a proposal is or is not approved, rule by rule; nothing is changed."""
    return await flow.explanation(here.ports, _found(here, proposal))


@router.get("/facts")
async def facts(
    here: Here,
    proposal: str,
    login: Annotated[tuple[str, ...], Query(max_length=20)] = (),
) -> dict[str, Any]:
    """Tell what a verdict on an open proposal is computed from, as data, for `placet simulate`.

    `login` names people who have said nothing yet; GitHub is asked what they may do.
    """
    found = _found(here, proposal)
    if found.place is None or not found.asks:
        hint = "Try again when its pull request is open."
        raise Problem(409, "not_open", "Nobody has been asked yet.", hint)
    looked = await flow.look(here.ports, found)
    scene, people = await flow.meet(here.ports, found, looked.scene, login)
    said = {n: {"id": p.id, "login": p.login, "kind": p.kind} for n, p in people.items()}
    about = {"basis": looked.basis, "note": looked.note}
    return as_data(scene) | about | {"people": said, "state": found.state.value}


@router.get("/tools")
def tools(here: Here) -> dict[str, Any]:
    """List the declared tools, with the repository that governs each.

    `preview` says whether it was seen to change nothing; null for a tool without one.
    """
    return {"tools": [described(t) | _standing(here, t) for t in here.catalog.list()]}


def _standing(here: Hall, tool: Tool) -> dict[str, Any]:
    proven = "proven" if tool.isolated else "not proven"
    return {
        "repository": here.ports.repositories.get(tool.repository),
        "preview": proven if tool.recipe.preview else None,
    }


@router.get("/policies")
async def policies(here: Here) -> dict[str, Any]:
    """Tell of each governing repository how its policy stands, read from GitHub just now.

    `guarded`: whether changing it needs a review, null when nobody can tell; `weakness`: why not.
    """
    repositories = sorted(here.ports.repositories.items())
    return {"policies": [await _policy(here, name, id_) for name, id_ in repositories]}


async def _policy(here: Hall, name: str, repository: int) -> dict[str, Any]:
    try:
        file = await here.ports.forge.policy(repository)
    except ForgeError as error:
        problem = f"GitHub did not show it: {error}"
        unknown = {"rules": 0, "guarded": None, "weakness": ""}
        return {"name": name, "id": repository, "problem": problem, **unknown}
    found = source("current", file)
    rules = len(found.policy.rules) if found.policy else 0
    guard = {"guarded": file.guarded, "weakness": file.weakness}
    said = {"problem": found.problem or None, "rules": rules, **guard}
    return {"name": name, "id": repository, **said}


@router.get("/app")
async def app(here: Here) -> dict[str, Any]:
    """Tell what the App lacks on GitHub, in words; `problem`: GitHub did not say, just now."""
    forge = here.ports.forge
    try:
        found = await lacking(forge.places) if isinstance(forge, GitHubForge) else []
    except ForgeError as error:
        return {"problem": f"GitHub did not say what the App may do: {error}.", "lacking": []}
    return {"problem": None, "lacking": found}


@router.get("/keys")
def keys(here: Here) -> dict[str, Any]:
    """Tell the key that signs statements, the first one, which auditors pin, and what lies between.

    Only public halves and fingerprints.
    """
    signer = here.ports.signer
    line = [claims(envelope) for envelope in signer.before]
    return {
        "fingerprint": signer.keyid,
        "public_pem": signer.public_pem().decode(),
        "first": line[0]["from"] if line else signer.keyid,
        "successions": [{n: said[n] for n in ("from", "to", "signed")} for said in line],
    }


def _one(here: Hall, proposal: str) -> dict[str, Any]:
    """One proposal, whoever asked for it."""
    found = _found(here, proposal)
    return details(found, here.settings.url) | {"agent": found.agent}


def _found(here: Hall, proposal: str) -> Proposal:
    found = here.store.proposal(proposal)
    if found is None:
        hint = "placet status lists the latest."
        raise Problem(404, "not_found", "There is no such proposal.", hint)
    return found


def _shown(agent: Agent) -> dict[str, Any]:
    return {
        "name": agent.name,
        "identities": sorted(agent.identities),
        "created": agent.created.isoformat(),
        "revoked": agent.revoked.isoformat() if agent.revoked else None,
    }
