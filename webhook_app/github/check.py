"""The check run of a proposal: the live, authoritative view with the buttons."""

from typing import Any

from .pages import pages
from .repository import Repository
from .shapes import CheckRun, CheckRuns
from .view import CheckView

CHECK = "placet"


def check_body(view: CheckView) -> dict[str, Any]:
    """What GitHub is sent; completed, because buttons show only on completed check runs."""
    output = {"title": view.title, "summary": view.summary}
    if view.text is not None:
        output["text"] = view.text
    return {
        "status": "completed",
        "conclusion": view.conclusion,
        "output": output,
        "actions": [
            {"label": label, "description": description, "identifier": identifier}
            for label, description, identifier in view.actions
        ],
    }


async def find_check(
    repo: Repository, head: str, proposal: str, name: str | None = CHECK
) -> CheckRun | None:
    """Our own check run of a proposal on a commit, the oldest if there were two.

    `name`: None when it is not known what it is called.
    """
    query = {"filter": "all"} | ({"check_name": name} if name else {})
    found: list[CheckRun] = []
    parts = ("commits", head, "check-runs")
    async for page in pages(lambda step: repo.ask("GET", *parts, query=step), query):
        found += page.read(CheckRuns).check_runs
    ours = [
        run
        for run in found
        if run.external_id == proposal and run.app and run.app.id == repo.client.settings.app_id
    ]
    return min(ours, key=lambda run: run.id, default=None)
