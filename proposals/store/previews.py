"""Which tools' previews were seen to change nothing, each for the definition it had then."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from proposals.canonical import canonical, loads

from .file import File
from .rows import ms, sure


@dataclass(frozen=True, slots=True)
class Proof:
    """A preview that changed nothing: of which definition, what was read, and for how long."""

    tool: str
    definition: str
    reads: tuple[str, ...]
    waited: timedelta
    at: datetime


class Previews(File):
    """The previews' part of the store."""

    def proofs(self) -> list[Proof]:
        """What is proven, by the names of the tools."""
        return [
            Proof(
                row["tool"],
                row["definition"],
                _names(row["reads"]),
                timedelta(milliseconds=row["waited"]),
                sure(row["at"]),
            )
            for row in self.rows("SELECT * FROM proven ORDER BY tool")
        ]

    def prove(self, proof: Proof) -> None:
        """Keep that a preview changed nothing, instead of what was known of its tool before."""
        with self.tx():
            self.change(
                """INSERT OR REPLACE INTO proven(tool, definition, reads, waited, at)
                VALUES (:tool, :definition, :reads, :waited, :at)""",
                {
                    "tool": proof.tool,
                    "definition": proof.definition,
                    "reads": canonical([*proof.reads]).decode(),
                    "waited": proof.waited // timedelta(milliseconds=1),
                    "at": ms(proof.at),
                },
            )

    def disprove(self, tool: str) -> bool:
        """Forget that a tool's preview changes nothing; whether that was known."""
        with self.tx():
            return self.change("DELETE FROM proven WHERE tool = :t", {"t": tool}) > 0


def _names(text: str) -> tuple[str, ...]:
    said = loads(text)
    return tuple(map(str, said)) if isinstance(said, list) else ()
