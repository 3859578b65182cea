"""Where the files of a proposal stand, as paths and as addresses that we alone compose."""

from dataclasses import dataclass
from datetime import UTC
from urllib.parse import quote

from proposals.plan import Proposal


@dataclass(frozen=True, slots=True)
class Links:
    """What addresses are made of: `html` as in `https://github.com`, `repository` as `owner/name`.

    `branch` holds plan.json while the proposal waits, `ledger` every statement afterwards.
    """

    html: str
    repository: str
    branch: str
    ledger: str = "placet/ledger"

    def plan(self, proposal: Proposal) -> str:
        """The address of plan.json on the proposal's own branch."""
        return self._blob(self.branch, plan_path(proposal))

    def run(self, proposal: Proposal) -> str:
        """The address of the check run on somebody's page."""
        name = proposal.target.name if proposal.target else self.repository
        return f"{self.html.rstrip('/')}/{quote(name)}/runs/{proposal.at.check_run}"

    def statement(self, proposal: Proposal, name: str) -> str:
        """The address of a statement on the ledger branch."""
        return self._blob(self.ledger, statement_path(proposal, name))

    def _blob(self, branch: str, path: str) -> str:
        return f"{self.html.rstrip('/')}/{quote(f'{self.repository}/blob/{branch}/{path}')}"


def plan_path(proposal: Proposal) -> str:
    """The path of plan.json: `proposals/<yyyy>/<mm>/<id>/plan.json`."""
    return statement_path(proposal, "plan.json")


def statement_path(proposal: Proposal, name: str) -> str:
    """The path of one file of a proposal (`start.json`, `end.json`), by its month of creation."""
    return f"proposals/{proposal.created.astimezone(UTC):%Y/%m}/{proposal.id}/{name}"
