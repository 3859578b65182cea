"""Merging a pull request, three ways."""

from typing import Literal

from sandbox.github.caller import Caller
from sandbox.github.core import Core
from sandbox.github.git import Conflict
from sandbox.github.model import Pull, Repository
from sandbox.github.refusal import Refused

from .commits import signer
from .refs import BRANCH, merged, pushed
from .rules import obey_merge

Method = Literal["merge", "squash", "rebase"]
NOT_MERGEABLE = "Pull Request is not mergeable"


def merge(
    world: Core, repo: Repository, by: Caller, number: int, *, sha: str | None = None,
    method: Method = "merge", title: str | None = None, message: str | None = None,
) -> str:  # fmt: skip
    """Merge and give the new commit; 409 when `sha` is not the head, 405 when it cannot be merged.

    `sha` pins the head only: nothing pins the base.
    """
    who, pull = by.allow(world, repo, "write"), world.pull(repo, number)
    if pull.state == "closed" or pull.draft:
        raise Refused(405, NOT_MERGEABLE)
    if sha and sha != pull.head_sha:
        raise Refused(409, "Head branch was modified. Review and try the merge again.")
    base = repo.git.branch(pull.base_ref)
    if base is None:
        raise Refused(405, NOT_MERGEABLE)
    obey_merge(world, repo, by, pull)
    try:
        commit = _MAKERS[method](world, repo, by, pull, base, title, message)
    except Conflict as conflict:
        raise Refused(405, NOT_MERGEABLE) from conflict
    repo.git.update_ref(BRANCH + pull.base_ref, commit)
    merged(world, repo, pull, who, commit)
    pushed(world, repo, who, BRANCH + pull.base_ref, base, commit)
    if repo.delete_branch_on_merge and repo.git.branch(pull.head_ref):
        pushed(world, repo, who, BRANCH + pull.head_ref,
               repo.git.delete_ref(BRANCH + pull.head_ref), "0" * 40)  # fmt: skip
    return commit


def _words(title: str, message: str | None) -> str:
    return f"{title}\n\n{message}" if message else title


def _merged(
    world: Core, repo: Repository, by: Caller, pull: Pull, base: str,
    title: str | None, message: str | None,
) -> str:  # fmt: skip
    head = f"{world.owner(repo).login}/{pull.head_ref}"
    title = title or f"Merge pull request #{pull.number} from {head}"
    tree, who = repo.git.merge_tree(base, pull.head_sha), signer(world, by.who())
    words = _words(title, pull.title if message is None else message)
    return repo.git.write_commit(words, tree, [base, pull.head_sha], who, who)


def _squashed(
    world: Core, repo: Repository, by: Caller, pull: Pull, base: str,
    title: str | None, message: str | None,
) -> str:  # fmt: skip
    words = _words(title or f"{pull.title} (#{pull.number})", message)
    tree, who = repo.git.merge_tree(base, pull.head_sha), signer(world, by.who())
    return repo.git.write_commit(words, tree, [base], who, who)


def _rebased(
    world: Core, repo: Repository, by: Caller, pull: Pull, base: str,
    _title: str | None, _message: str | None,
) -> str:  # fmt: skip
    onto, who = base, signer(world, by.who())
    for commit in repo.git.between(repo.git.merge_base(base, pull.head_sha), pull.head_sha):
        tree = repo.git.pick_tree(onto, str(commit.id))
        onto = repo.git.write_commit(commit.message, tree, [onto], who, who)
    return onto


_MAKERS = {"merge": _merged, "squash": _squashed, "rebase": _rebased}
