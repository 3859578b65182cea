"""What a person does, by hand or in the browser: the same actions that the routes call."""

from collections.abc import Mapping
from typing import Any

from .actions import checks, comments, commits, merging, pulls, refs, reviews
from .caller import Caller
from .core import Core
from .model import Account, App, Comment, Pull, Review


class Person:
    """One person at work. Every method raises Refused when GitHub would refuse it."""

    def __init__(self, world: Core, account: Account, via: App | None = None) -> None:
        self.world = world
        self.account = account
        self.caller = Caller("user", account, via)

    async def review(
        self, repo: str, number: int, event: str, body: str = "", commit_id: str | None = None
    ) -> Review:
        """Submit a review: APPROVE, REQUEST_CHANGES or COMMENT."""
        found = self.world.repository(repo)
        return reviews.submit(self.world, found, self.caller, number, event, body, commit_id)

    async def edit_review(self, repo: str, review_id: int, body: str) -> Review:
        """Change the words of a review."""
        found = self.world.repository(repo)
        return reviews.edit(self.world, found, self.caller, found.reviews[review_id], body)

    async def dismiss(self, repo: str, review_id: int, message: str = "No longer valid") -> Review:
        """Dismiss somebody's review."""
        found = self.world.repository(repo)
        return reviews.dismiss(self.world, found, self.caller, found.reviews[review_id], message)

    async def comment(self, repo: str, number: int, body: str) -> Comment:
        """Comment on a pull request."""
        found = self.world.repository(repo)
        return comments.create(self.world, found, self.caller, number, body)

    async def edit_comment(self, repo: str, comment_id: int, body: str) -> Comment:
        """Edit a comment, one's own or (with write access) anybody's."""
        found = self.world.repository(repo)
        comment = comments.find(found, comment_id)
        return comments.edit(self.world, found, self.caller, comment, body)

    async def delete_comment(self, repo: str, comment_id: int) -> None:
        """Delete a comment."""
        found = self.world.repository(repo)
        comments.delete(self.world, found, self.caller, comments.find(found, comment_id))

    async def press(self, check_run_id: int, identifier: str) -> None:
        """Press a button of a check run."""
        found = self.world.repository_of_check(check_run_id)
        run = checks.find(found, check_run_id)
        checks.press(self.world, found, self.caller, run, identifier)

    async def rerequest(self, check_run_id: int) -> None:
        """Press Re-run on a check run."""
        found = self.world.repository_of_check(check_run_id)
        checks.rerequest(self.world, found, self.caller, checks.find(found, check_run_id))

    async def push(
        self, repo: str, branch: str, files: Mapping[str, str | None], *, force: bool = False,
        message: str = "Update files",
    ) -> str:  # fmt: skip
        """Push one commit (None deletes a file) and give its sha; `force` replaces the head."""
        found = self.world.repository(repo)
        return commits.push_files(self.world, found, self.caller, branch, dict(files), message,
                                  force=force)  # fmt: skip

    async def delete_branch(self, repo: str, branch: str) -> None:
        """Delete a branch; its pull requests close."""
        found = self.world.repository(repo)
        refs.delete_ref(self.world, found, self.caller, f"{refs.BRANCH}{branch}")

    async def open_pull(
        self, repo: str, *, title: str, head: str, base: str = "main", body: str | None = None
    ) -> Pull:
        """Open a pull request between two branches."""
        found = self.world.repository(repo)
        return pulls.open_pull(self.world, found, self.caller, title=title, head=head, base=base,
                               body=body)  # fmt: skip

    async def edit_pull(self, repo: str, number: int, **wanted: Any) -> Pull:
        """Change title, body or base of a pull request."""
        found = self.world.repository(repo)
        return pulls.edit_pull(self.world, found, self.caller, number, wanted)

    async def close(self, repo: str, number: int) -> Pull:
        """Close a pull request unmerged."""
        return await self.edit_pull(repo, number, state="closed")

    async def reopen(self, repo: str, number: int) -> Pull:
        """Open a closed pull request again."""
        return await self.edit_pull(repo, number, state="open")

    async def merge(
        self, repo: str, number: int, *, method: merging.Method = "merge", sha: str | None = None
    ) -> str:
        """Press Merge and give the new commit."""
        found = self.world.repository(repo)
        return merging.merge(self.world, found, self.caller, number, sha=sha, method=method)
