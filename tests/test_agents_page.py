"""docs/agents.md: its code is Python, its imports are there, its report is a real one."""

import ast
import importlib
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from proposals.turn import Scope, Stood, Turn, report, text

PAGE = (Path(__file__).parent.parent / "docs" / "agents.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_the_code_of_the_page_is_python_whose_imports_are_there(block: str) -> None:
    compile(block, "agents.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    for node in ast.walk(ast.parse(block)):
        if isinstance(node, ast.ImportFrom):
            module = importlib.import_module(str(node.module))
            assert all(hasattr(module, name.name) for name in node.names)


def test_the_report_of_the_page_is_what_a_report_says() -> None:
    now = datetime(2026, 11, 30, tzinfo=UTC)
    made = [
        ("p_32f9f1bc49c347d9", "applied", "verified", None),
        ("p_d658aa593f8e5adb", "failed", "none", "SQLite says: database is locked."),
    ]
    calls = [
        Stood(
            {
                "tool": "club.enter",
                "proposal": proposal,
                "status": status,
                "_verification": {"verdict": verdict},
                "error": {"message": why} if why else None,
            }
        )
        for proposal, status, verdict, why in made
    ]
    assert f"```\n{text(report(Turn('t', Scope('bot', 's'), now), calls, [], []))}\n```" in PAGE
