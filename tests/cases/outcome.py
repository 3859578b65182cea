"""The table of cases as a page, and as one line below a run of the tests."""

from collections.abc import Iterable, Mapping, Sequence

from tests.cases.table import CASES, GROUPS, Case

TABLE = "tests/cases/test_table.py"
HEAD = """\
# Cases

Bug reports, incidents and wishes about approval systems, from public trackers, and the test that
shows what Placet does about each. The facts are retold; a source is `owner/repository#number`, an
advisory, or a name to search for. Generated from `tests/cases/table.py`; a test holds that every
test named here exists, and `make test` counts the outcomes.

"""


def page() -> str:
    """The page docs/reference/cases.md."""
    opened = sum(case.but.startswith("open: ") for case in CASES)
    shown = sum(bool(case.by) for case in CASES) - opened
    rest = f"{opened} with a known fault, {len(CASES) - shown - opened} later or not ours"
    counts = f"{len(CASES)} cases: {shown} shown by tests, {rest}.\n"
    return HEAD + counts + "".join(map(_section, GROUPS))


def _section(group: str) -> str:
    rows = "".join(_row(case) for case in CASES if case.group == group)
    head = "| case | what holds | seen at | shown by |\n|---|---|---|---|\n"
    return f"\n## {group}. {GROUPS[group]}\n\n{head}{rows}"


def _row(case: Case) -> str:
    shown = [f"`{node.removeprefix('tests/')}`" for node in case.by]
    said = "<br>".join([*shown, case.but]) if case.but else "<br>".join(shown)
    cells = (case.id, case.holds, case.source, said)
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |\n"


def summary(outcomes: Mapping[str, str]) -> str | None:
    """What a run showed (node id -> outcome), a line for each group and one for all of them.

    None when the table was not held.
    """
    if not any(node.startswith(TABLE) for node in outcomes):
        return None
    shown = {case.id: _outcome(case, outcomes) for case in CASES if case.by}
    wide = max(map(len, GROUPS.values()))
    lines = [
        f"  {group}. {title:{wide}}  {_counted([c for c in CASES if c.group == group], shown)}"
        for group, title in GROUPS.items()
    ]
    return "\n".join(["cases by group:", *lines, f"cases: {_counted(CASES, shown)}"])


def _counted(cases: Sequence[Case], shown: Mapping[str, str]) -> str:
    """How these cases came out; those that did not pass by name."""
    ids = {
        kind: [c.id for c in cases if shown.get(c.id) == kind]
        for kind in ("passed", "failed", "xfailed", "")
    }
    parts = [f"{len(ids['passed'])} shown by tests"]
    parts += [
        f"{len(ids[kind])} {words} ({', '.join(ids[kind])})"
        for kind, words in (("failed", "failed"), ("xfailed", "with a known fault"))
        if ids[kind]
    ]
    if ids[""]:
        parts.append(f"{len(ids[''])} not run")
    if rest := sum(c.id not in shown for c in cases):
        parts.append(f"{rest} not applicable or later")
    return ", ".join(parts)


def _outcome(case: Case, outcomes: Mapping[str, str]) -> str:
    """The worst outcome of the tests of a case; empty when one that passes or not did not run."""
    found = [_worst(o for node, o in outcomes.items() if _is(node, named)) for named in case.by]
    worst = _worst(found)
    return "" if worst == "passed" and "" in found else worst


def _is(node: str, named: str) -> bool:
    """Whether this test is the one named: with an id, the id is one of those of its parameters."""
    test, _, ids = node.partition("[")
    name, _, id_ = named.rstrip("]").partition("[")
    return test == name and (not id_ or f"-{id_}-" in f"-{ids.rstrip(']')}-")


def _worst(outcomes: Iterable[str]) -> str:
    found = set(outcomes)
    return next((one for one in ("failed", "xfailed", "passed") if one in found), "")
