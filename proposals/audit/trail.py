"""The branch itself: files are only ever added, and trailers say what the statements say."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from .ledger import PLAIN, Ledger
from .lives import Life
from .report import Finding, Weight
from .signed import Said

_TRAILER = re.compile(r"^(Placet-(?:Proposal|Plan|Approved-By|Outcome)): (.*)$", re.MULTILINE)
_STATUS = {"D": "deleted", "M": "changed", "T": "turned into something else"}


def only_added(ledger: Ledger) -> Iterator[Finding]:
    """A change or deletion of a file in the branch's own history, with the commit that did it."""
    for change in ledger.changes:
        if change.status != "A" and change.path.startswith("proposals/"):
            how = _STATUS.get(change.status, "changed")
            why = f"the file was {how} after it was written; files here are only ever added"
            code = "file_deleted" if change.status == "D" else "file_changed"
            yield Finding(code, why, change.path, change.commit)


def in_order(ledger: Ledger, chain: Sequence[Said]) -> Iterator[Finding]:
    """Placet writes one statement a commit, in the order of their numbers."""
    place = {commit.sha: n for n, commit in enumerate(reversed(ledger.commits))}
    placed = [(place[s.file.commit], s) for s in chain if s.file.commit in place]
    for (before, _), (here, said) in pairwise(placed):
        if here == before:
            why = "this commit brought several statements at once: the history was rewritten"
            yield said.finding("rewritten", why)
        elif here < before:
            why = "it came to the branch before the statement it follows: the history was rewritten"
            yield said.finding("rewritten", why)


def strange(ledger: Ledger) -> Iterator[Finding]:
    """Files that Placet does not write: nothing relies on them, and nobody should."""
    for file in ledger.files:
        if file.mode != PLAIN:
            why = "it is no plain file (a link, a module or a program)"
            yield Finding("not_a_file", why, file.path, file.commit)
        elif file.spot is None and file.path != "README.md":
            why = "Placet did not write this file; no statement relies on it"
            yield Finding("strange_file", why, file.path, file.commit, weight=Weight.LIGHT)


def trailers(ledger: Ledger, lives: Mapping[str, Life]) -> Iterator[Finding]:
    """Trailers of commit messages that say something else than the statements."""
    for commit in ledger.commits:
        said: dict[str, set[str]] = {}
        for name, value in _TRAILER.findall(commit.message):
            said.setdefault(name, set()).add(value.strip())
        if not said:
            continue
        id_ = next(iter(said.get("Placet-Proposal", {""})))
        life = lives.get(id_)
        wrong = [n for n, v in said.items() if v != _expected(life, n)] if life else ["all of it"]
        if wrong:
            why = (
                f"the commit message says something else than the statements ({', '.join(wrong)}); "
                "trailers are for people and prove nothing"
            )
            yield Finding("forged_trailer", why, "", commit.sha, id_[:60], Weight.LIGHT)


def _expected(life: Life | None, name: str) -> set[str]:
    end = life.settled if life else None
    if life is None or end is None:
        return set()
    basis = f" ({end.text('basis')})" if end.text("basis") else ""
    by = end.predicate.get("approved_by")
    people = [a for a in by if isinstance(a, dict)] if isinstance(by, list) else []
    return {
        "Placet-Proposal": {life.id},
        "Placet-Plan": {end.text("digest")},
        "Placet-Outcome": {end.text("outcome") + basis},
        "Placet-Approved-By": {
            f"{a.get('login')} ({a.get('id')}, {a.get('surface')})" for a in people
        },
    }[name]
