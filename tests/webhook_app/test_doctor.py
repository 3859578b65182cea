"""What `placet doctor` finds, and what it says to do."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.running import written
from webhook_app.cli.program import program


def doctor(*words: str) -> Result:
    return CliRunner().invoke(program, ["doctor", *words])


def findings(*words: str) -> list[dict[str, Any]]:
    return list(json.loads(doctor("--json", *words).stdout)["findings"])


def test_a_configuration_that_loads_and_a_server_that_does_not_run(tmp_path: Path) -> None:
    config = str(written(tmp_path))
    said = {one["check"]: one for one in findings("--config", config)}
    assert (said["configuration"]["ok"], said["server"]["ok"]) == (True, False)
    assert "placet serve" in said["server"]["says"]
    assert doctor("--config", config).exit_code == 1


def test_a_configuration_that_does_not_load_is_one_finding(tmp_path: Path) -> None:
    config = written(tmp_path, "prot = 1\n")
    [found] = [f for f in findings("--config", str(config)) if f["check"] == "configuration"]
    assert 'Did you mean "port"?' in found["says"]


def test_a_tool_that_lacks_what_it_calls_is_named(tmp_path: Path) -> None:
    config = written(tmp_path)
    done = '{tool = "up.b"}'
    more = f'[upstream.up]\ncommand = ["x"]\n[tool.up.a]\neffect = "write"\napply = {done}\n'
    config.write_text(config.read_text() + more)
    said = {one["check"]: one["says"] for one in findings("--config", str(config))}
    assert "Write [tool.up.b], effect first." in said["tool up.a"]


def test_every_ungated_original_is_named_until_it_is_gone(tmp_path: Path) -> None:
    config, file = str(written(tmp_path)), tmp_path / ".mcp.json"
    file.write_text(json.dumps({"mcpServers": {"fs": {"command": "node"}}}))
    words = ("--config", config, "--client", str(file))
    [found] = [f for f in findings(*words) if f["check"].startswith("client")]
    assert (found["ok"], found["says"].split(".")[0]) == (False, "fs is reached without Placet")
    CliRunner().invoke(program, ["mcp", "import", str(file), "--config", config, "--write"])
    [found] = [f for f in findings(*words) if f["check"].startswith("client")]
    assert found["ok"]
    assert "shell and file tools" in found["says"]


def test_a_client_s_file_that_is_not_there_is_a_finding(tmp_path: Path) -> None:
    config = str(written(tmp_path))
    said = findings("--config", config, "--client", str(tmp_path / "none"))
    assert (said[-1]["ok"], "cannot be read" in said[-1]["says"]) == (False, True)


@pytest.mark.parametrize(
    ("text", "started"),
    [
        pytest.param("on: push\n", False, id="push"),
        pytest.param("on: [push, pull_request]\n", False, id="pull-requests"),
        pytest.param("on:\n  pull_request_target:\n    types: [opened]\n", True, id="target"),
        pytest.param("on: issue_comment\n", True, id="comments"),
        pytest.param("on: [push, check_run]\n", True, id="check-runs"),
        pytest.param("on: {", True, id="unreadable"),
        pytest.param("[]", False, id="no-workflow"),
    ],
)
def test_workflows_that_placet_s_own_doing_starts(
    tmp_path: Path,
    text: str,
    started: bool,  # noqa: FBT001
) -> None:
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    (folder / "a.yml").write_text(text)
    said = findings("--config", str(written(tmp_path)), "--clone", str(tmp_path))
    assert any(one["check"] == "workflow a.yml" for one in said) is started
