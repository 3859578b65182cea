"""What may not stand in any file of this repository, and what the lock must be."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# Written in pieces, so that this file does not find itself.
INDEX_HOSTS = [
    "pypi" + r"\.org",
    "python" + r"hosted\.org",
    "registry" + r"\.(npmjs|yarnpkg)\.(org|com)",
    "(devpi|artifactory|nexus)" + r"[\w.-]*[:/][\w./-]*simple",
    "--(extra-)?index" + "-url[ =]",
    "--find" + "-links[ =]",
]
MACHINE_PATHS = ["/" + "work/(main|shared|[.]library)", "/" + "root/", "/" + "home/(?!runner)[a-z]"]
FORBIDDEN = re.compile("|".join(INDEX_HOSTS + MACHINE_PATHS))


def files() -> list[Path]:
    """Every file that is tracked or about to be."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is no git checkout")
    return [ROOT / name for name in listed.stdout.split("\0") if (ROOT / name).is_file()]


def test_no_file_names_a_package_index_or_a_machine() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {hit.group()}"
        for path in files()
        for hit in FORBIDDEN.finditer(path.read_bytes().decode(errors="replace"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("https://py" + "pi.org/simple", id="the-index"),
        pytest.param("https://files.python" + "hosted.org/packages/x.whl", id="its-files"),
        pytest.param("--index" + "-url https://mirror.example/simple", id="a-mirror"),
        pytest.param('"resolved": "https://registry.' + 'npmjs.org/x.tgz"', id="npm-lock"),
        pytest.param("cd /" + "work/main", id="this-checkout"),
        pytest.param("File /" + "root/.cache/x.py", id="a-home-folder"),
        pytest.param("File /" + "home/ann/placet/x.py", id="a-person's-home-folder"),
    ],
)
def test_the_guard_sees(text: str) -> None:
    assert FORBIDDEN.search(text)


def test_the_lock_holds_hashes_and_no_address() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    entries = [e for e in lock.replace("\\\n", "").splitlines() if e and not e.startswith("#")]
    assert "://" not in lock
    assert not re.search(r"^-", lock, re.MULTILINE)
    assert all(re.match(r"[a-z0-9.-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", e) for e in entries)


@pytest.mark.parametrize("tool", ["hatchling", "editables", "pytest", "ruff", "mcp", "pygit2"])
def test_the_lock_is_enough_to_build_and_test(tool: str) -> None:
    assert re.search(rf"^{tool}==", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
