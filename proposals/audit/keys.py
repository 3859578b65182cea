"""The line of keys along the chain: who was replaced signs nothing more."""

from collections.abc import Iterator, Sequence

from .report import Finding
from .signed import Keys, Said


def out_of_line(chain: Sequence[Said], keys: Keys) -> Iterator[Finding]:
    """Statements signed with a key that had a successor in use; `chain` is sorted by number."""
    line = keys.line
    for said in chain:
        if said.key in line.forked:
            why = "its key has signed two successors: whoever holds it goes two ways"
            yield said.finding("forked_rotation", why)
            break
    newest: Said | None = None
    for said in chain:
        place = line.place.get(said.key, 0)
        if newest and place < line.place.get(newest.key, 0):
            why = f"it is signed with a key that was replaced before {newest.file.path}"
            yield said.finding("retired_key", why)
        else:
            newest = said
