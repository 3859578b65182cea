"""One proposal's life on the ledger: its files agree, and its approvals bear judging anew."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha1

from proposals.canonical import JSON, NotCanonical, digest
from proposals.evidence import BadEvidence, same_rule
from proposals.receipt import PlanFile

from .judging import refusals
from .ledger import File, Ledger
from .report import Finding, Row
from .signed import Keys, Said, read_plan
from .unasked import asks_nobody, who_said_yes

OUTCOME, UNDONE, CONTRADICTION = "outcome", "undone", "contradiction"
_PENDING = "started, not ended"
_NOTHING_RAN = ("start_unproven", "ledger_changed")


@dataclass(slots=True)
class Life:
    """What opened of one proposal; `notes` gathers what could not be looked at."""

    id: str
    starts: list[Said] = field(default_factory=list)
    ends: list[Said] = field(default_factory=list)
    plan: PlanFile | None = None
    plan_at: File | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def said(self) -> list[Said]:
        """Its statements in the order of the chain."""
        return sorted([*self.starts, *self.ends], key=lambda s: s.seq)

    @property
    def settled(self) -> Said | None:
        """The statement that says how it ended, as far as is known: the last one about that."""
        about = [end for end in self.ends if fact_of(end) == OUTCOME]
        return max(about, key=lambda s: s.seq, default=None)

    def row(self, findings: int) -> Row:
        """Its line in the table."""
        start = self.starts[0] if self.starts else None
        undone = any(fact_of(end) == UNDONE for end in self.ends)
        plan = (self.said[0].predicate if self.said else {}).get("plan")
        last = self.settled
        outcome = _outcome(last) if last else _PENDING if start else "nothing recorded"
        outcome += ", undone" if undone else ""
        people = _yes(start) if start else ()
        numbers = tuple(s.seq for s in self.said)
        tool = plan or (self.plan.plan if self.plan else {})
        return Row(self.id, _tool(tool), outcome, tuple(people), numbers, findings)


def checked(life: Life, ledger: Ledger, keys: Keys, newest: Said | None) -> Iterator[Finding]:
    """Everything that is wrong with one proposal."""
    for said in life.said:
        yield from _own_place(said)
        yield from _same_plan(said, life)
    yield from _plan_at_head(life, ledger, keys)
    yield from _whole(life, newest)
    for start in life.starts:
        yield from refusals(start, life.plan)
        yield from _policies(start, life, ledger)
        for end in life.ends:
            yield from _ended_as_started(start, end)


def fact_of(end: Said) -> str:
    """What a statement after the start is about; those of the first version are outcomes."""
    return end.text("fact") or OUTCOME


def _own_place(said: Said) -> Iterator[Finding]:
    """A statement speaks of the proposal in whose folder it lies, and of nothing else."""
    spot, owner = said.spot, said.text("proposal")
    if owner != spot.proposal:
        yield said.finding("moved", f"it was moved: it is the statement of proposal {owner:.60}")
    elif said.text("created")[:7].replace("-", "/") != spot.month:
        yield said.finding("moved", "it lies in the folder of another month than its proposal's")
    hex_ = said.text("digest").removeprefix("sha256:")
    subjects: list[JSON] = [{"name": owner, "digest": {"sha256": hex_}}]
    if not _pageless(said):
        subjects.append({"name": "head", "digest": {"gitCommit": said.text("head")}})
    if said.statement["subject"] != subjects:
        yield said.finding("wrong_subject", "it is signed for another plan than it names")


def _same_plan(said: Said, life: Life) -> Iterator[Finding]:
    """The plan inside, the digest named and plan.json are one plan."""
    try:
        inside = digest(said.predicate.get("plan"))
    except NotCanonical:
        inside = ""
    named = said.text("digest")
    if inside != named:
        yield said.finding("other_plan", "the plan in it has another digest than it names")
    if life.plan and digest(life.plan.plan) != named:
        yield said.finding("other_plan", "plan.json beside it holds another plan")


def _plan_at_head(life: Life, ledger: Ledger, keys: Keys) -> Iterator[Finding]:
    """The commit that people approved holds the plan, and a merged one is still in the history."""
    for head in sorted({s.text("head") for s in life.said if not _pageless(s)}):
        if not _is_sha(head) or not (spot := life.said[0].spot):
            yield life.said[0].finding("no_head", "it names no commit that people approved")
            continue
        path = f"proposals/{spot.month}/{life.id}/plan.json"
        merged = life.plan_at and not any(s.predicate.get("target") for s in life.said)
        shown = ledger.look(f"{head}:{path}")
        if merged and life.plan_at and head not in ledger.reachable:
            why = (
                f"the commit {head[:12]} that people approved is not in the history any more: "
                "it was rewritten"
            )
            yield Finding("rewritten", why, path, life.plan_at.commit, life.id)
        elif shown is not None:
            yield from _shown(File(path, shown, head), life, keys)
        elif life.plan is None and life.starts:
            life.notes.append(
                f"{life.id}: plan.json is not in the clone (it was never merged); the plan in its "
                "signed statements was checked instead."
            )


def _pageless(said: Said) -> bool:
    """Whether it says of a call that asked nobody that no page shows it; others must have one."""
    return asks_nobody(said) and said.predicate.get("head") is said.predicate.get("page") is None


def _shown(file: File, life: Life, keys: Keys) -> Iterator[Finding]:
    if life.plan_at and life.plan_at.data == file.data:
        return
    if life.plan_at:
        why = f"plan.json is not the file in the commit {file.commit[:12]} that people approved"
        yield Finding("other_plan", why, file.path, life.plan_at.commit, life.id)
        return
    spot = file.spot
    read = read_plan(file, spot, keys) if spot else None
    if isinstance(read, Finding):
        yield read
    elif read and digest(read.plan) not in {s.text("digest") for s in life.said}:
        why = "the commit that people approved holds another plan than the statements"
        yield Finding("other_plan", why, file.path, file.commit, life.id)


def _whole(life: Life, newest: Said | None) -> Iterator[Finding]:
    """Every start has an end, and nothing ran without a start."""
    for start in life.starts:
        if life.ends:
            continue
        if start is newest:
            life.notes.append(
                f"{life.id} is unfinished: its start is the newest statement. Fetch and look again."
            )
            continue
        why = (
            "it started and no end is recorded. If it is not running right now, its outcome is "
            "unknown or its end was deleted: ask the operator for `placet status`"
        )
        yield start.finding("no_end", why)
    for end in (e for e in life.ends if fact_of(e) == OUTCOME):
        outcome = end.text("outcome")
        ran_nothing = outcome == "failed" and end.text("reason") in _NOTHING_RAN
        if not life.starts and outcome != "ended" and not ran_nothing:
            why = f"it says {outcome:.20} and there is no start: nobody's approval is recorded"
            yield end.finding("no_start", why)
        if life.starts and outcome == "ended":
            why = "it says that nothing was started, and there is a start"
            yield end.finding("contradiction", why)


def _ended_as_started(start: Said, end: Said) -> Iterator[Finding]:
    if end.seq < start.seq:
        yield end.finding("wrong_order", "it ended before it started")
    if end.text("outcome") == "applied" and end.text("nonce") != start.text("nonce"):
        yield end.finding("other_claim", "it is the end of another start than the one recorded")
    ours, theirs = (
        _ids(s.predicate.get(n)) for s, n in ((start, "approvals"), (end, "approved_by"))
    )
    if theirs and ours != theirs:
        yield end.finding("other_approvals", "start and end name different approvals")


def _policies(start: Said, life: Life, ledger: Ledger) -> Iterator[Finding]:
    """Where the clone holds a policy file, the rule recorded must be the rule in it."""
    rules = start.predicate.get("rules")
    for place, rule in enumerate(rules if isinstance(rules, list) else []):
        blob = rule.get("blob") if isinstance(rule, dict) else None
        if not isinstance(blob, str) or not _is_sha(blob):
            continue
        text = ledger.look(blob)
        if text is None or _blob_sha(text) != blob:
            life.notes.append(
                f"{life.id}: the policy file {blob[:12]} is not in the clone; the rule as signed "
                "was used."
            )
            continue
        try:
            fits = same_rule(start.predicate, place, text.decode("utf-8", "replace"))
        except BadEvidence:
            return  # judging anew has said so
        if not fits:
            why = f"the rule it records is not the rule of the policy file {blob[:12]} it names"
            yield start.finding("other_rule", why)


def _blob_sha(data: bytes) -> str:
    """Git's name of a blob, computed here: an object database may say anything."""
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _ids(approvals: JSON) -> set[tuple[str, str]]:
    listed = approvals if isinstance(approvals, list) else []
    return {(str(a.get("id")), str(a.get("key"))) for a in listed if isinstance(a, dict)}


def _yes(start: Said) -> Sequence[str]:
    """Who said yes to a start, as the table shows it."""
    return who_said_yes(start) if asks_nobody(start) else _people(start.predicate.get("approvals"))


def _people(approvals: JSON) -> Sequence[str]:
    listed = approvals if isinstance(approvals, list) else []
    return [f"{a.get('login')} ({a.get('surface')})" for a in listed if isinstance(a, dict)]


def _outcome(end: Said) -> str:
    more = end.text("basis") or end.text("reason")
    return end.text("outcome") + (f" ({more})" if more else "")


def _tool(plan: JSON) -> str:
    tool = plan.get("tool") if isinstance(plan, dict) else None
    name = tool.get("name") if isinstance(tool, dict) else None
    return name if isinstance(name, str) else "?"


def _is_sha(text: str) -> bool:
    return len(text) in (40, 64) and set(text) <= set("0123456789abcdef")
