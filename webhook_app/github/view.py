"""What people see of a proposal on GitHub, as the forge asks `webhook_app.render` for it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from checks.verdict import Verdict
from proposals.plan import Proposal


class CheckView(Protocol):
    """A check run: `actions` are its buttons as (label, description, identifier), at most three."""

    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def summary(self) -> str: ...  # noqa: D102
    @property
    def text(self) -> str | None: ...  # noqa: D102
    @property
    def conclusion(self) -> str: ...  # noqa: D102
    @property
    def actions(self) -> Sequence[tuple[str, str, str]]: ...  # noqa: D102


class Render(Protocol):
    """Turns a proposal into the words on its page.

    `title` and `body` are written before there is a place and never change afterwards, so they must
    come out the same with and without `place` and in every state.
    """

    def title(self, proposal: Proposal, /) -> str:
        """The title of the pull request."""

    def body(self, proposal: Proposal, /) -> str:
        """The text of the pull request."""

    def check_name(self, proposal: Proposal, /) -> str:
        """The name of the check run in the check-run form, its own for each proposal."""

    def announcement(self, proposal: Proposal, /) -> str:
        """The comment on somebody's page that announces a plan; it never changes."""

    def check(self, proposal: Proposal, verdict: Verdict | None, now: datetime, /) -> CheckView:
        """The check run as of now."""

    def outcome_comment(self, proposal: Proposal, /) -> str:
        """The one comment that tells how it ended."""

    def merge_message(self, proposal: Proposal, /) -> tuple[str, str]:
        """Title and message of the merge commit, trailers included."""

    def plan_path(self, proposal: Proposal, /) -> str:
        """Where plan.json stands on the branch: `proposals/<yyyy>/<mm>/<id>/plan.json`."""

    def statement_path(self, proposal: Proposal, kind: str, /) -> str:
        """Where the statement `start` or `end` stands on the ledger branch."""
