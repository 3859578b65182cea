"""`placet policy validate` and `placet policy test`, and the starter file and page of the docs."""

import contextlib
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from webhook_app.cli.program import program

DOCS = Path(__file__).parents[2] / "docs"
CASES = DOCS / "reference" / "policy-cases.yml"
GOOD = "version: 1\nrules: [{tools: ['*'], require: [{approvals: 1}]}]\n"
ODD = "version: 1\nrules: [{tools: [billing], require: [{approvals: 1}], permission: read}]\n"


def placet(*words: str) -> Result:
    return CliRunner().invoke(program, ["policy", *words], env={"COLUMNS": "200"})


def block(page: str, language: str, holding: str) -> str:
    """The code block of a page that holds these words."""
    blocks = re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    [found] = [b for b in blocks if holding in b]
    return str(found)


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """The example policy of docs/install.md, as a file."""
    file = tmp_path / "placet.yml"
    file.write_text(block("install.md", "yaml", "rules:"))
    return file


def test_the_starter_cases_pass_against_the_example_policy(example: Path) -> None:
    result = placet("test", str(CASES), "--policy", str(example))
    assert result.exit_code == 0, result.output
    assert "FAIL" not in result.stdout
    assert result.stdout.endswith(" cases, none failed.\n")
    assert len(result.stdout.splitlines()) > 10


def test_the_example_policy_needs_no_warning(example: Path) -> None:
    result = placet("validate", str(example))
    assert (result.exit_code, result.stdout) == (
        0, f"{example}: this policy can be used (1 rule).\n",
    )  # fmt: skip


def test_a_policy_on_its_way_to_stricter_fails_the_old_cases(tmp_path: Path) -> None:
    file = tmp_path / "placet.yml"
    file.write_text(GOOD.replace("approvals: 1", "approvals: 2"))
    result = placet("test", str(CASES), "--policy", str(file))
    assert result.exit_code == 1
    assert "FAIL one person with write access is enough" in result.stdout
    assert "     expected approved, but it is waiting\n" in result.stdout
    assert "+ approvals_missing: given, but not expected (1 person still needed)" in result.stdout
    said = json.loads(placet("test", str(CASES), "--policy", str(file), "--json").stdout)
    failed = [c for c in said["cases"] if not c["passed"]]
    assert said["passed"] == len(said["cases"]) - len(failed)
    assert failed[0]["surplus"] == ["approvals_missing"]


def test_what_is_odd_is_a_warning_and_no_error(tmp_path: Path) -> None:
    file = tmp_path / "odd.yml"
    file.write_text(ODD)
    result = placet("validate", str(file))
    assert result.exit_code == 0
    assert [line.split(":")[0] for line in result.stdout.splitlines()[:2]] == ["warning"] * 2
    assert "(1 rule, 2 to think about)" in result.stdout
    said = json.loads(placet("validate", str(file), "--json").stdout)
    assert (said["rules"], len(said["warnings"])) == (1, 2)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        pytest.param(b"version: 1\nrules: []\n", "rules: ", id="no-rules"),
        pytest.param(GOOD.encode() + b"rules: []\n", "line 3: ", id="key-twice"),
        pytest.param(GOOD.replace("tools", "tool").encode(), "rules.0.", id="unknown-key"),
        pytest.param(b"\xff", "not text in UTF-8", id="not-text"),
        pytest.param(b"#" * 70_000, "larger than 64 kB", id="too-large"),
        pytest.param(None, "cannot be read", id="no-file"),
    ],
)
def test_a_policy_that_cannot_be_used_exits_with_1_and_says_where(
    tmp_path: Path, content: bytes | None, told: str
) -> None:
    file = tmp_path / "bad.yml"
    if content is not None:
        file.write_bytes(content)
    for words in (("validate", str(file)), ("test", str(CASES), "--policy", str(file))):
        result = placet(*words)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.startswith("placet: ")
        assert told in result.stderr
        assert "Traceback" not in result.output


def test_bad_cases_name_the_case(tmp_path: Path, example: Path) -> None:
    file = tmp_path / "cases.yml"
    file.write_text("version: 1\ncases: [{case: mine, tool: a.b, expect: perhaps}]\n")
    result = placet("test", str(file), "--policy", str(example))
    assert result.exit_code == 1
    assert "case 'mine': expect: " in result.stderr


def test_a_name_of_a_case_cannot_play_with_the_terminal(tmp_path: Path, example: Path) -> None:
    file = tmp_path / "cases.yml"
    file.write_text('version: 1\ncases: [{case: "a\\e[2Jb", tool: a.b, expect: approved}]\n')
    result = placet("test", str(file), "--policy", str(example))
    assert result.exit_code == 1
    assert "\x1b" not in result.output


@pytest.mark.parametrize(
    "words",
    [
        "validate",
        "validate odd.yml",
        "test cases.yml",
        "test cases.yml --policy loose.yml",
    ],
)
def test_the_page_shows_what_the_commands_print(words: str, tmp_path: Path) -> None:
    """Each console block of docs/policy.md, run over the files that the page shows."""
    policy = block("policy.md", "yaml", "approval_valid")
    loose = [line for line in policy.splitlines() if "acme/security" not in line]
    written = {
        ".github/placet.yml": policy,
        "odd.yml": block("policy.md", "yaml", "[billing]"),
        "cases.yml": block("policy.md", "yaml", "cases:"),
        "loose.yml": "\n".join(loose),
    }
    (tmp_path / ".github").mkdir()
    for name, text in written.items():
        (tmp_path / name).write_text(text)
    with contextlib.chdir(tmp_path):
        said = placet(*words.split())
    first = f"$ placet policy {words}\n"
    assert first + said.output == block("policy.md", "console", first)
