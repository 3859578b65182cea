"""What the forge must not forget, kept in the store: how far each ledger was known, and alarms."""

from dataclasses import dataclass

from proposals.flow import Ports, alarm
from proposals.ports import Refused
from proposals.store import Problem
from webhook_app.github import blob_sha


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """The memory of a forge that serves these ports."""

    ports: Ports

    def tip(self, repository: int) -> str | None:
        """The last commit of the ledger that was seen after a write of ours."""
        return self.ports.store.ledger_tip(repository)

    def moved(self, repository: int, tip: str) -> None:
        """Remember it."""
        self.ports.store.ledger_moved(repository, tip)

    def wrote(self, repository: int) -> frozenset[tuple[str, str]]:
        """Every statement of ours: `proposal/kind.json`, and git's name of its bytes."""
        found = self.ports.store.statements(repository)
        return frozenset((f"{s.proposal}/{s.kind}.json", blob_sha(s.text.encode())) for s in found)

    def alarm(self, repository: int, why: str) -> None:
        """Halt the repository, and show it on every page."""
        alarm(self.ports, repository, why)

    def trouble(self, repository: int, refused: Refused) -> None:
        """Keep for the operator what GitHub refused."""
        found = Problem(repository, refused.code, str(refused))
        self.ports.store.trouble(found, self.ports.now())
