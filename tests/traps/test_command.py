"""`placet traps` and `placet mcp --try`, which stand above the server, where it stands alone."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
sys.path += sys.argv[1:3]
del sys.argv[1:3]
from webhook_app.cli import main
main()
"""


@pytest.mark.parametrize(
    ("words", "what"),
    [
        pytest.param(["traps"], "the traps are", id="the-traps"),
        pytest.param(["mcp", "--try", "--", "x"], "what is tried here is", id="a-first-look"),
    ],
)
def test_without_the_extras_it_says_what_to_install(
    tmp_path: Path, words: list[str], what: str
) -> None:
    installed = Path(sysconfig.get_path("purelib"))
    for found in installed.iterdir():  # everything but Placet's own note of what it provides
        if not found.name.startswith("placet-"):
            (tmp_path / found.name).symlink_to(found)
            continue
        (tmp_path / found.name).mkdir()
        (tmp_path / found.name / "METADATA").symlink_to(found / "METADATA")
    argv = [sys.executable, "-I", "-S", "-c", PROGRAM, str(ROOT), str(tmp_path), *words]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    told = f"placet: {what} not installed. Run: pip install 'placet[sandbox,mcp]'\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", told)
