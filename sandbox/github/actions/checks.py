"""Check runs: Apps write them, people press their buttons."""

from datetime import datetime
from typing import Any

from sandbox.github.caller import Caller
from sandbox.github.clock import moment_of
from sandbox.github.core import Core
from sandbox.github.git import GitError
from sandbox.github.model import CheckRun, Repository
from sandbox.github.refusal import Refused, invalid, not_accessible, not_found
from sandbox.github.schema import Known
from sandbox.github.views import checks
from sandbox.github.webhooks import emit


def find(repo: Repository, run_id: int) -> CheckRun:
    """Find a check run."""
    if run_id not in repo.checks:
        raise not_found()
    return repo.checks[run_id]


def create(world: Core, repo: Repository, by: Caller, wanted: dict[str, Any]) -> CheckRun:
    """Create a check run on a commit (REST's members); only Apps can.

    GitHub's description holds the limits of its buttons and texts, and the door has asked it.
    """
    if by.kind != "installation" or not by.app:
        raise Refused(403, "You must authenticate via a GitHub App.")
    try:
        sha = str(repo.git.commit(wanted["head_sha"]).id)
    except GitError as missing:
        raise Refused(422, f"No commit found for SHA: {wanted['head_sha']}") from missing
    _check(wanted)
    key = (by.app.id, sha)
    if key not in repo.suites:
        repo.suites[key] = world.new_id("suite")
    run = CheckRun(
        world.new_id("check_run"), by.app.id, wanted["name"], sha, repo.suites[key],
        world.clock.now(),
    )  # fmt: skip
    _write(world, run, wanted)
    repo.checks[run.id] = run
    _tell(world, repo, by, run, "created")
    if run.status == "completed":
        _tell(world, repo, by, run, "completed")
    return run


def update(
    world: Core, repo: Repository, by: Caller, run: CheckRun, wanted: dict[str, Any]
) -> CheckRun:
    """Change a check run; only the App that made it can."""
    if by.kind != "installation" or not by.app or by.app.id != run.app_id:
        raise not_accessible()
    _check(wanted)
    was = run.status
    _write(world, run, wanted)
    if run.status == "completed" and was != "completed":
        _tell(world, repo, by, run, "completed")
    return run


def _check(wanted: dict[str, Any]) -> None:
    if wanted.get("status") == "completed" and not wanted.get("conclusion"):
        raise Refused(422, "Invalid request.\n\nMissing conclusion for a completed check run.")
    output = wanted.get("output")
    if output is not None and not output.get("summary"):
        raise invalid("CheckRun", "output", "missing_field", "output needs a title and a summary")


def _moment(wanted: dict[str, Any], name: str, default: datetime) -> datetime:
    try:
        return moment_of(wanted[name]) if wanted.get(name) else default
    except ValueError as bad:
        raise invalid("CheckRun", name) from bad


def _write(world: Core, run: CheckRun, wanted: dict[str, Any]) -> None:
    now = world.clock.now()
    run.started_at = _moment(wanted, "started_at", run.started_at)
    ended = _moment(wanted, "completed_at", now)
    for name in ("name", "external_id", "details_url", "actions"):
        setattr(run, name, wanted.get(name, getattr(run, name)))
    run.status = wanted.get("status", run.status)
    if wanted.get("conclusion"):
        run.status, run.conclusion = "completed", wanted["conclusion"]
    if run.status == "completed":
        run.completed_at = ended
    else:
        run.conclusion = run.completed_at = None
    if output := wanted.get("output"):
        run.output = run.output | {k: v for k, v in output.items() if k != "annotations"}
        run.annotations += output.get("annotations", [])


def press(world: Core, repo: Repository, by: Caller, run: CheckRun, identifier: str) -> None:
    """Press a button of a completed check run. There is no REST route for it: a person must.

    GitHub does not document who may; the sandbox lets every reader, which is the harder case.
    """
    by.allow(world, repo, "read")
    if run.status != "completed":
        raise Refused(422, "The check run has no buttons before it is completed.")
    if identifier not in [button["identifier"] for button in run.actions]:
        raise not_found()
    action = {"requested_action": Known(identifier=identifier)}
    _tell(world, repo, by, run, "requested_action", **action)


def rerequest(world: Core, repo: Repository, by: Caller, run: CheckRun) -> None:
    """Ask the App to run a completed check again."""
    by.allow(world, repo, "write")
    if run.status != "completed":
        raise Refused(422, "This check run is not rerequestable")
    _tell(world, repo, by, run, "rerequested")


def _tell(
    world: Core, repo: Repository, by: Caller, run: CheckRun, action: str, **members: Any
) -> None:
    shown = checks.check_run(world, repo, run)
    emit(world, repo, by.who(), "check_run", action, owner_id=run.app_id,
         check_run=shown, **members)  # fmt: skip
