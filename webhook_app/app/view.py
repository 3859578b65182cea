"""The words of webhook_app.render as the forge asks for them, with the addresses filled in."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from checks.verdict import Verdict
from proposals.plan import Proposal
from webhook_app import render
from webhook_app.github import CheckView


@dataclass(frozen=True, slots=True)
class Check:
    """A check run as it is drawn; its link is GitHub's own page of it."""

    drawn: render.CheckView
    details_url: str | None = None

    @property
    def title(self) -> str:
        """The call to action."""
        return self.drawn.title

    @property
    def summary(self) -> str:
        """The live state."""
        return self.drawn.summary

    @property
    def text(self) -> str | None:
        """The plan."""
        return self.drawn.text or None

    @property
    def conclusion(self) -> str:
        """As GitHub names it."""
        return self.drawn.conclusion

    @property
    def actions(self) -> Sequence[tuple[str, str, str]]:
        """The buttons."""
        return self.drawn.actions


@dataclass(slots=True)
class View:
    """Draws pages for one GitHub; `html` as in `https://github.com`.

    `names` (repository id -> `owner/name`) must know a repository before its page is opened. An
    opened page keeps the name it was opened under: its text never changes.
    """

    html: str
    names: dict[int, str] = field(default_factory=dict)

    def title(self, proposal: Proposal) -> str:
        """The title of the pull request."""
        return render.title(proposal)

    def body(self, proposal: Proposal) -> str:
        """The text of the pull request."""
        return render.body(proposal, self._links(proposal))

    def check_name(self, proposal: Proposal) -> str:
        """The name of the check run on somebody's page."""
        return render.check_name(proposal)

    def announcement(self, proposal: Proposal) -> str:
        """The comment that announces a plan on somebody's page."""
        return render.announcement(proposal, self._links(proposal))

    def check(self, proposal: Proposal, verdict: Verdict | None, now: datetime) -> CheckView:
        """The check run as of now."""
        return Check(render.check(proposal, self._links(proposal), verdict, now))

    def outcome_comment(self, proposal: Proposal) -> str:
        """The one comment that tells how it ended."""
        return render.outcome_comment(proposal, self._links(proposal))

    def merge_message(self, proposal: Proposal) -> tuple[str, str]:
        """Title and message of the merge commit."""
        return render.merge_message(proposal)

    def plan_path(self, proposal: Proposal) -> str:
        """Where plan.json stands on the branch."""
        return render.plan_path(proposal)

    def statement_path(self, proposal: Proposal, kind: str) -> str:
        """Where the statement `start` or `end` stands on the ledger branch."""
        return render.statement_path(proposal, f"{kind}.json")

    def _links(self, proposal: Proposal) -> render.Links:
        branch = "placet/ledger" if proposal.target else f"placet/p/{proposal.id}"
        return render.Links(self.html, self._name(proposal), branch)

    def _name(self, proposal: Proposal) -> str:
        if proposal.place is None:
            return self.names[proposal.repository]
        if proposal.target:
            return proposal.place.home
        parts = proposal.place.url.removeprefix(self.html.rstrip("/") + "/").split("/")
        return "/".join(parts[:2])
