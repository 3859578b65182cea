"""Check runs, for REST and for webhooks."""

from sandbox.github.clock import iso
from sandbox.github.lookup import Lookup, node_id
from sandbox.github.model import CheckRun, Repository
from sandbox.github.schema import Known

from .accounts import app
from .pulls import minimal
from .repositories import api_url, repository, web_url


def check_run(look: Lookup, repo: Repository, run: CheckRun) -> Known:
    """Show a check run; its buttons are never in the answer, as on GitHub."""
    api, owner = f"{api_url(look, repo)}/check-runs/{run.id}", look.state.apps[run.app_id]
    html = f"{web_url(look, repo)}/runs/{run.id}"
    pulls = [p for p in repo.open_pulls() if p.head_sha == run.head_sha]
    return Known(
        id=run.id,
        node_id=node_id("CR", run.id),
        head_sha=run.head_sha,
        external_id=run.external_id,
        url=api,
        html_url=html,
        details_url=run.details_url or html,
        status=run.status,
        conclusion=run.conclusion,
        started_at=iso(run.started_at),
        completed_at=iso(run.completed_at) if run.completed_at else None,
        output=Known(
            title=run.output.get("title"),
            summary=run.output.get("summary"),
            text=run.output.get("text"),
            annotations_count=len(run.annotations),
            annotations_url=f"{api}/annotations",
        ),
        name=run.name,
        check_suite=suite(look, repo, run),
        app=app(look, owner),
        pull_requests=[minimal(look, repo, pull) for pull in pulls],
    )


def suite(look: Lookup, repo: Repository, run: CheckRun) -> Known:
    """Show the suite a check run belongs to."""
    branches = [p.head_ref for p in repo.open_pulls() if p.head_sha == run.head_sha]
    return Known(
        id=run.suite_id,
        node_id=node_id("CS", run.suite_id),
        head_sha=run.head_sha,
        head_branch=branches[0] if branches else None,
        status=run.status,
        conclusion=run.conclusion,
        url=f"{api_url(look, repo)}/check-suites/{run.suite_id}",
        before=None,
        after=run.head_sha,
        pull_requests=[],
        app=app(look, look.state.apps[run.app_id]),
        created_at=iso(run.started_at),
        updated_at=iso(run.started_at),
        repository=repository(look, repo),
    )
