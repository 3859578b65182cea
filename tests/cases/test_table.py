"""The table of cases is whole, and every test that it names exists."""

import ast
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.cases.outcome import page, summary
from tests.cases.table import CASES, GROUPS, Case

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"


@cache
def names(file: str) -> tuple[frozenset[str], frozenset[str]]:
    """The functions of a test file, and every text in it, among them the ids of its parameters."""
    tree = list(ast.walk(ast.parse((ROOT / file).read_text())))
    functions = {n.name for n in tree if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
    texts = {n.value for n in tree if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return frozenset(functions), frozenset(texts)


def missing(node: str) -> str | None:
    """What of a node id is not there."""
    path, _, rest = node.partition("::")
    name, _, id_ = rest.partition("[")
    if not (ROOT / path).is_file():
        return path
    functions, texts = names(path)
    if name.rsplit("::", 1)[-1] not in functions:
        return name
    return id_ if id_ and id_.removesuffix("]") not in texts else None


def test_every_case_stands_once_and_in_order() -> None:
    log, agents = ([f"{k}{n:02}" for n in range(1, end)] for k, end in (("K", 143), ("F", 38)))
    assert [case.id for case in CASES] == log + agents
    assert {case.group for case in CASES} == set(GROUPS)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_case_is_shown_or_says_why_not(case: Case) -> None:
    assert case.holds
    assert case.source
    assert case.by or case.but
    assert [node for node in case.by if missing(node)] == []


def expected_failures(file: Path) -> set[str]:
    """The node ids of the tests in a file that are marked as expected failures."""
    tree = ast.walk(ast.parse(file.read_text()))
    functions = [n for n in tree if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    marks = {f.name: " ".join(map(ast.unparse, f.decorator_list)) for f in functions}
    path = file.relative_to(ROOT)
    return {f"{path}::{name}" for name, mark in marks.items() if "mark.xfail" in mark}


def test_a_known_fault_is_called_open_and_what_is_mended_is_not() -> None:
    failing: set[str] = set()
    failing.update(*map(expected_failures, Path(__file__).parent.glob("test_*.py")))
    opened = {c.id for c in CASES if c.but.startswith("open: ")}
    assert opened == {c.id for c in CASES if failing.intersection(c.by)}


@pytest.mark.parametrize(
    ("node", "gone"),
    [
        pytest.param("tests/no_such.py::test_x", "tests/no_such.py", id="file"),
        pytest.param("tests/cases/test_table.py::test_x", "test_x", id="test"),
        pytest.param("tests/cases/test_table.py::test_the_guard_sees[no]", "no]", id="parameter"),
    ],
)
def test_the_guard_sees(node: str, gone: str) -> None:
    assert missing(node) == gone


def test_the_page_of_cases_is_generated(golden: Callable[..., None]) -> None:
    golden(page(), "cases.md", REFERENCE)


def test_a_run_says_what_became_of_the_cases() -> None:
    ran = {node: "passed" for case in CASES for node in case.by}
    held = {"tests/cases/test_table.py::test_x": "passed"}
    shown = sum(bool(case.by) for case in CASES)
    rest = f"{len(CASES) - shown} not applicable or later"
    assert summary(ran) is None, "the table itself was not held"
    assert last(ran | held) == f"cases: {shown} shown by tests, {rest}"
    only = f"{CASES[15].by[0]}[x]"
    some = {n: o for n, o in ran.items() if n != CASES[15].by[0]} | held | {only: "failed"}
    assert last(some) == f"cases: {shown - 1} shown by tests, 1 failed (K16), {rest}"
    assert last(held) == f"cases: 0 shown by tests, {shown} not run, {rest}"


def test_a_run_says_what_became_of_each_group() -> None:
    ran = {node: "passed" for case in CASES for node in case.by}
    told = lines(ran | {"tests/cases/test_table.py::test_x": "passed", CASES[0].by[0]: "failed"})
    assert len(told) == len(GROUPS) + 2
    for (group, title), line in zip(GROUPS.items(), told[1:-1], strict=True):
        count = sum(bool(case.by) for case in CASES if case.group == group)
        failed = [c.id for c in CASES if c.group == group and CASES[0].by[0] in c.by]
        assert line.startswith(f"  {group}. {title} ")
        assert f" {count - len(failed)} shown by tests" in line
        assert all(id_ in line for id_ in failed)


def lines(outcomes: dict[str, str]) -> list[str]:
    return (summary(outcomes) or "").splitlines()


def last(outcomes: dict[str, str]) -> str:
    return lines(outcomes)[-1]
