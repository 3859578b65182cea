"""`tools check` before servers of others: a real dry run, and two that only call themselves so."""

import json
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox.testing import Town, town
from tests.mcp_servers.offered import HERE
from tests.system.acting import approve
from tests.system.test_contract_example import EXAMPLE
from tests.system.test_previews import ISOLATED, operator, placet
from webhook_app.doors.operator import operators_app

pytestmark = pytest.mark.anyio
POLICY = """\
version: 1
rules:
  - tools: ["*"]
    require: [{approvals: 1}]
"""
NOTEBOOK = """
[upstream.notes]
command = {command}
[tool.notes.look]
effect = "read"
[tool.notes.put]
effect = "write"
forbid = ["dry_run"]
preview = {{set = {{dry_run = true}}, take = "/structuredContent"}}
apply = {{set = {{dry_run = false}}}}
[tool.notes.put_later]
effect = "write"
forbid = ["dry_run"]
preview = {{set = {{dry_run = true}}, take = "/structuredContent"}}
apply = {{set = {{dry_run = false}}}}
"""
LOOK = "notes.look"


@pytest.fixture
async def files(
    tmp_path: Path, filesystem_server: tuple[str, str], judged: Callable[[Any], Any]
) -> AsyncIterator[Town]:
    """MCP's own filesystem server, declared as the contract's example declares it."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("old\n")
    text = EXAMPLE.read_text()
    said = text[text.index("[upstream.fs]") : text.index("[upstream.cal]")]
    said += text[text.index("[tool.fs.read_text_file]") : text.index("[tool.cal.push_workout]")]
    there = f"command = {[*filesystem_server, str(tmp_path / 'docs')]}"
    said = said.replace('command = ["node", "dist/index.js", "/srv/docs"]', there)
    async with town(tmp_path / "town", tools=said, policy=POLICY, wrap=judged) as made:
        yield made


@pytest.fixture
async def notebook(tmp_path: Path, judged: Callable[[Any], Any]) -> AsyncIterator[Town]:
    (tmp_path / "notes").mkdir()
    tools = NOTEBOOK.format(
        command=[sys.executable, str(HERE / "liar.py"), str(tmp_path / "notes")]
    )
    async with town(tmp_path / "town", tools=tools, policy=POLICY, wrap=judged) as made:
        yield made


async def check(here: Town, tool: str, arguments: dict[str, Any], *more: str) -> Any:
    words = ("tools", "check", tool, "--arguments", json.dumps(arguments), "--wait", "0")
    return await placet(here, *words, *more)


async def test_the_filesystem_servers_dry_run_is_proven_and_then_trusted(
    files: Town, tmp_path: Path
) -> None:
    file = tmp_path / "docs" / "a.txt"
    edits = [{"oldText": "old", "newText": "new"}]
    asked = {"path": str(file), "edits": edits}
    before = await files.propose("fs.edit_file", asked)
    assert any(ISOLATED in warning for warning in before["warnings"])
    done = await check(files, "fs.edit_file", asked, "--json")
    assert done.exit_code == 0, done.stdout
    said = json.loads(done.stdout)
    assert (said["proven"], said["reads"]) == (True, ["old (fs.read_text_file)"])
    assert file.read_text() == "old\n"
    trusted = await files.propose("fs.edit_file", asked | {"edits": [{**edits[0], "newText": "x"}]})
    assert trusted["warnings"] == []
    assert (await approve(files, trusted))["status"] == "applied"
    assert file.read_text() == "x\n"


async def test_a_dry_run_that_writes_at_once_is_told_as_none(
    notebook: Town, tmp_path: Path
) -> None:
    done = await check(notebook, "notes.put", {"text": "mine"}, "--read", LOOK)
    assert done.exit_code == 1
    assert "NOT a preview: with notes.put something changed." in done.stdout
    assert f"CHANGED  read 1 ({LOOK})" in done.stdout
    assert (tmp_path / "notes" / "notes").read_text() == "mine"
    assert notebook.store.proofs() == []
    seen = await notebook.propose("notes.put", {"text": "theirs"})
    assert any(ISOLATED in warning for warning in seen["warnings"])


async def test_a_dry_run_whose_job_writes_later_is_found_by_the_last_reading(
    notebook: Town, tmp_path: Path
) -> None:
    app = operators_app(notebook.app)  # type: ignore[arg-type]
    reads = [{"tool": LOOK, "arguments": {}}]
    body = {"tool": "notes.put_later", "arguments": {"text": "mine"}, "reads": reads}
    begun = (await operator(notebook, "/previews", body, app)).raise_for_status().json()
    assert (begun["changed"], begun["proven"]) == ([], False)
    (tmp_path / "notes" / "later").touch()
    again = await operator(notebook, f"/previews/{begun['trial']}/again", None, app)
    said = again.raise_for_status().json()
    assert (said["changed"], said["proven"]) == ([f"read 1 ({LOOK})"], False)
    assert notebook.store.proofs() == []
