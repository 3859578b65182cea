"""Check runs."""

from sandbox.github.actions import checks
from sandbox.github.model import CheckRun
from sandbox.github.schema import Known
from sandbox.github.views.checks import check_run as shown

from .call import Call, R, Reply, route
from .data import found_or

RUN = f"{R}/check-runs/{{check_run_id}}"
READ, WRITE = "checks:read", "checks:write"


@route("POST", f"{R}/check-runs", WRITE)
def create(call: Call) -> Reply:
    """Create a check run."""
    made = checks.create(call.world, call.repo, call.caller, call.body)
    return Reply(shown(call.world, call.repo, made), 201)


def _run(call: Call) -> CheckRun:
    return checks.find(call.repo, call.number("check_run_id"))


@route("PATCH", RUN, WRITE)
def update(call: Call) -> Reply:
    """Change a check run."""
    found = checks.update(call.world, call.repo, call.caller, _run(call), call.body)
    return Reply(shown(call.world, call.repo, found))


@route("GET", RUN, READ)
def get(call: Call) -> Reply:
    """Show a check run."""
    return Reply(shown(call.world, call.repo, _run(call)))


@route("POST", f"{RUN}/rerequest", WRITE)
def rerequest(call: Call) -> Reply:
    """Ask for a check to run again."""
    checks.rerequest(call.world, call.repo, call.caller, _run(call))
    return Reply({}, 201)


@route("GET", f"{RUN}/annotations", READ)
def list_annotations(call: Call) -> Reply:
    """List the annotations of a check run."""
    return Reply([Known(one) for one in call.page(_run(call).annotations)])


@route("GET", f"{R}/commits/{{ref}}/check-runs", READ)
def list_for_ref(call: Call) -> Reply:
    """List the check runs of a commit; `latest` (the default) keeps one of each App and name."""
    sha, query = found_or(422, call, call.path["ref"]), call.query
    found = [run for run in call.repo.checks.values() if run.head_sha == sha]
    if name := query.get("check_name"):
        found = [run for run in found if run.name == name]
    if status := query.get("status"):
        found = [run for run in found if run.status == status]
    if app_id := query.get("app_id"):
        found = [run for run in found if str(run.app_id) == app_id]
    if query.get("filter", "latest") == "latest":
        found = list({(run.app_id, run.name): run for run in found}.values())
    runs = [shown(call.world, call.repo, run) for run in call.page(found)]
    return Reply(Known(total_count=len(found), check_runs=runs))
