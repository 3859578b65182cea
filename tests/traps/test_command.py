"""`placet traps` where the traps are not installed."""

import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
sys.path += sys.argv[1:3]
del sys.argv[1:3]
from webhook_app.cli import main
main()
"""


def test_without_the_extras_it_says_what_to_install(tmp_path: Path) -> None:
    installed = Path(sysconfig.get_path("purelib"))
    for found in installed.iterdir():  # everything but Placet's own note of what it provides
        if not found.name.startswith("placet-"):
            (tmp_path / found.name).symlink_to(found)
            continue
        (tmp_path / found.name).mkdir()
        (tmp_path / found.name / "METADATA").symlink_to(found / "METADATA")
    argv = [sys.executable, "-I", "-S", "-c", PROGRAM, str(ROOT), str(tmp_path), "traps"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    told = "placet: the traps are not installed. Run: pip install 'placet[sandbox,mcp]'\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", told)
