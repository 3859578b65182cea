"""Rulesets: what they forbid, and who may pass them."""

from sandbox.github.caller import Caller
from sandbox.github.core import Core
from sandbox.github.model import Pull, Repository, Ruleset
from sandbox.github.refusal import Refused

VIOLATION = "Repository rule violations found\n\n"


def _binding(world: Core, repo: Repository, by: Caller, branch: str) -> list[Ruleset]:
    passes = by.app.id if by.kind == "installation" and by.app else None
    return [r for r in world.rulesets_for(repo, branch) if passes not in r.bypass_app_ids]


def obey(world: Core, repo: Repository, by: Caller, branch: str, kind: str) -> None:
    """Refuse a creation, update, deletion or non_fast_forward that a ruleset forbids.

    A `pull_request` rule forbids direct updates as well.
    """
    forbids = {kind, "pull_request"} if kind == "update" else {kind}
    for ruleset in _binding(world, repo, by, branch):
        for rule in ruleset.rules:
            if rule["type"] in forbids:
                raise Refused(422, f"{VIOLATION}Cannot {kind} of {branch}: rule {ruleset.name}.")


def obey_merge(world: Core, repo: Repository, by: Caller, pull: Pull) -> None:
    """Refuse a merge whose required checks or approvals are missing."""
    for ruleset in _binding(world, repo, by, pull.base_ref):
        for rule in ruleset.rules:
            parameters = rule.get("parameters", {})
            if rule["type"] == "update":
                raise Refused(405, f"{VIOLATION}Cannot update {pull.base_ref}.")
            for check in parameters.get("required_status_checks", ()):
                if not _passed(repo, pull, check["context"], check.get("integration_id")):
                    raise Refused(405, f'Required status check "{check["context"]}" is expected.')
            needed = parameters.get("required_approving_review_count", 0)
            if len(_approvers(repo, pull)) < needed:
                raise Refused(405, f"At least {needed} approving review is required by reviewers.")


def _passed(repo: Repository, pull: Pull, name: str, app_id: int | None) -> bool:
    runs = [
        run for run in repo.checks.values()
        if run.head_sha == pull.head_sha and run.name == name and app_id in (None, run.app_id)
    ]  # fmt: skip
    return bool(runs) and runs[-1].conclusion in ("success", "neutral", "skipped")


def _approvers(repo: Repository, pull: Pull) -> set[int]:
    stances = {
        review.author_id: review.state
        for review in repo.reviews.values()
        if review.number == pull.number and review.state != "COMMENTED"
    }
    return {who for who, state in stances.items() if state == "APPROVED"}
