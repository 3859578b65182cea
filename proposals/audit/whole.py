"""The whole audit: open everything, then the chain, each proposal, the branch, and the store."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from proposals.receipt import PlanFile

from .chain import broken
from .keys import out_of_line
from .later import followed
from .ledger import File, Ledger
from .lives import Life, checked
from .online import Shown, against_github, recorded
from .report import CANNOT_SEE, CUT_OFF, EDITED, PRESSED, Finding, Report
from .signed import Keys, Said, claimed, read_plan, read_statement
from .tail import Kept, against_store
from .trail import in_order, only_added, strange, trailers
from .unasked import unrestored, used_twice


@dataclass(slots=True)
class _Opened:
    """What opened, by proposal; the numbers that files claim which did not open."""

    lives: dict[str, Life] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    claimed: set[int] = field(default_factory=set)

    def of(self, proposal: str) -> Life:
        return self.lives.setdefault(proposal, Life(proposal))

    def chain(self) -> list[Said]:
        """Every statement by its number."""
        return sorted((s for life in self.lives.values() for s in life.said), key=lambda s: s.seq)


def audit(
    ledger: Ledger,
    keys: Keys,
    kept: Sequence[Kept] | None = None,
    shown: Mapping[str, Shown] | None = None,
) -> Report:
    """Audit a ledger by trusted keys.

    `kept` is what the server's store has of this repository, `shown` what GitHub shows today of
    the recorded approvals, by their keys; None: nobody looked.
    """
    opened = _open(ledger, keys)
    chain = opened.chain()
    newest = chain[-1] if chain else None
    repositories = Counter(_repository(said) for said in chain)
    repository = repositories.most_common(1)[0][0] if repositories else None
    findings = [*opened.findings, *broken(chain, opened.claimed)]
    findings += out_of_line(chain, keys)
    for life in opened.lives.values():
        findings += checked(life, ledger, keys, newest)
        findings += followed(life, opened.lives)
    findings += _one_repository(chain, repository)
    starts = {life.id: life.starts for life in opened.lives.values()}
    findings += [*used_twice(s for each in starts.values() for s in each), *unrestored(starts)]
    findings += [*only_added(ledger), *in_order(ledger, chain)]
    findings += [*strange(ledger), *trailers(ledger, opened.lives)]
    findings += against_store(chain, kept) if kept is not None else []
    online = [*against_github(recorded(chain), shown)] if shown is not None else []
    findings += [found for found in online if isinstance(found, Finding)]
    counts = Counter(f.proposal for f in findings)
    lives = sorted(opened.lives.values(), key=lambda x: (x.said[0].seq if x.said else 0, x.id))
    return Report(
        tip=ledger.tip,
        repository=repository,
        keys=tuple(sorted(keys.found)),
        statements=len(chain),
        last=newest.seq if newest else 0,
        last_digest=newest.digest if newest else "",
        rows=tuple(life.row(counts[life.id]) for life in lives),
        findings=tuple(dict.fromkeys(findings)),
        notes=tuple(
            dict.fromkeys(
                [
                    *(note for life in lives for note in life.notes),
                    *(note for note in online if isinstance(note, str)),
                ]
            )
        ),
        cannot_see=_unseen(store=kept is not None, online=shown is not None),
    )


def _unseen(*, store: bool, online: bool) -> tuple[str, ...]:
    """What even this audit could not see."""
    seen = {CUT_OFF: store, EDITED: online}
    left = [words for words in CANNOT_SEE if not seen.get(words)]
    return (*left, PRESSED) if online else tuple(left)


def proven(files: Iterable[File], keys: Keys) -> list[Said]:
    """The statements among these files that trusted keys signed, by their numbers."""
    return _open(Ledger("", tuple(files)), keys).chain()


def _open(ledger: Ledger, keys: Keys) -> _Opened:
    opened = _Opened()
    for file in ledger.files:
        if (spot := file.spot) is None:
            continue
        life = opened.of(spot.proposal)
        if spot.kind == "plan":
            life.plan_at = file
            plan = read_plan(file, spot, keys)
            if isinstance(plan, PlanFile):
                life.plan = plan
            else:
                opened.findings.append(plan)
            continue
        said = read_statement(file, spot, keys)
        if isinstance(said, Said):
            (life.starts if spot.kind == "start" else life.ends).append(said)
        else:
            opened.findings.append(said)
            number = claimed(file).get("seq")
            opened.claimed |= {number} if isinstance(number, int) else set()
    return opened


def _repository(said: Said) -> int | None:
    found = said.predicate.get("repository")
    return found if isinstance(found, int) else None


def _one_repository(chain: Sequence[Said], repository: int | None) -> Iterator[Finding]:
    for said in chain:
        if _repository(said) != repository:
            why = f"it was written for another repository ({_repository(said)})"
            yield said.finding("other_repository", why)
