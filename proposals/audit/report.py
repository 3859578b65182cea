"""What an audit found, as data: one finding for each thing that is not as it must be."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

SCHEMA = "placet.audit/v1"

CUT_OFF = "Statements cut off at the end. Compare with the server's store: --store."
EDITED = (
    "A comment or review that was edited or deleted on GitHub afterwards: nobody is asked. Ask: "
    "--online."
)
PRESSED = "Presses of buttons: GitHub shows them to nobody later. Their deliveries are signed here."
CANNOT_SEE = (
    CUT_OFF,
    EDITED,
    "Proposals that are open, and those that ended before their pull request was opened.",
    "What the tool did outside: the statements say what reading it back showed.",
    "Who holds the signing key: whoever does can write a history that is true to itself.",
)


class Weight(StrEnum):
    """How much a finding says: only signed statements prove anything."""

    GRAVE = "grave"  # what was signed is missing, changed or contradicts itself
    LIGHT = "light"  # something beside it that is only for people is not as it should be


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong: a stable code, the file, the commit that brought it, and why."""

    code: str
    why: str
    path: str = ""
    commit: str = ""
    proposal: str = ""
    weight: Weight = Weight.GRAVE


@dataclass(frozen=True, slots=True)
class Row:
    """One proposal in the table: its numbers in the chain, who approved it, how it ended."""

    proposal: str
    tool: str
    outcome: str
    approved_by: tuple[str, ...]
    numbers: tuple[int, ...]
    findings: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """The whole audit; `last` is the number of the newest statement, `notes` what was left open."""

    tip: str
    repository: int | None
    keys: tuple[str, ...]
    statements: int
    last: int
    last_digest: str
    rows: tuple[Row, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    cannot_see: Sequence[str] = CANNOT_SEE

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def data(self) -> dict[str, Any]:
        """The report as JSON data."""
        return {"schema": SCHEMA, "clean": self.clean, **asdict(self)}
