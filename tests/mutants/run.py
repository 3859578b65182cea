"""Break the deciding code in every small way and see that a test notices each: `make mutants`.

mutmut works on a copy of the sources in .mutants/, never on the files themselves. Each mutant that
no test notices must stand in explained.txt, with the reason why nobody could notice it. Names or
patterns as arguments (`checks.wording*`) try only these; PLACET_MUTANTS is how many run at once.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
COPY = ROOT / ".mutants"
EXPLAINED = Path(__file__).parent / "explained.txt"
SOURCES = ("checks", "proposals", "webhook_app", "sandbox", "tests", "docs")
FILES = ("pyproject.toml", "README.md")
CAUGHT = {"killed", "timeout"}
"""A test that no longer ends has noticed too."""
WHY = "  # "


def copied() -> None:
    """A fresh copy of everything that the tests need."""
    shutil.rmtree(COPY, ignore_errors=True)
    COPY.mkdir()
    ignore = shutil.ignore_patterns("__pycache__", ".*")
    for name in SOURCES:
        shutil.copytree(ROOT / name, COPY / name, ignore=ignore)
    for name in FILES:
        shutil.copy(ROOT / name, COPY / name)


def mutmut(*arguments: str, quiet: bool = True) -> str:
    """Run mutmut in the copy; what it printed, or nothing when it prints for itself."""
    command = [sys.executable, "-m", "mutmut", *arguments]
    # Examples are the same each time and are not made smaller: only whether one fails matters.
    env = os.environ | {"HYPOTHESIS_PROFILE": "mutants", "PYTHONPATH": ""}
    done = subprocess.run(command, cwd=COPY, env=env, check=True, text=True, capture_output=quiet)
    return done.stdout or ""


def uncaught(names: list[str]) -> Iterator[tuple[str, str]]:
    """The mutants that were tried and that no test noticed: name and state."""
    for line in mutmut("results").splitlines():
        name, _, state = line.strip().partition(": ")
        tried = state != "not checked" or not names
        if state and state not in CAUGHT and tried:
            yield name, state


def spelled(name: str, diff: str) -> str:
    """A mutant on one line: where, what stood there, what stands there now.

    mutmut's numbers change with every edit; this only when the place itself does.
    """
    where = name.rpartition("__mutmut_")[0].replace("x_", "", 1).replace("xǁ", "").replace("ǁ", ".")
    lines = diff.splitlines()
    was = [line[1:].strip() for line in lines if line[:1] == "-" and line[:3] != "---"]
    now = [line[1:].strip() for line in lines if line[:1] == "+" and line[:3] != "+++"]
    return f"{where}: {' '.join(was)} => {' '.join(now)}"


def explained() -> dict[str, str]:
    """Why each mutant of explained.txt cannot be noticed."""
    lines = EXPLAINED.read_text().splitlines()
    pairs = (line.rpartition(WHY) for line in lines if line and not line.startswith("#"))
    return {mutant.strip(): why.strip() for mutant, _, why in pairs}


def verdict(found: dict[str, str], known: dict[str, str]) -> list[str]:
    """One line for each mutant that nobody noticed and nobody explained."""
    return [f"{state}: {mutant}" for mutant, state in found.items() if not known.get(mutant)]


def main(names: list[str]) -> int:
    """Try the mutants; 1 when one survives unexplained."""
    copied()
    at_once = os.environ.get("PLACET_MUTANTS") or str(os.cpu_count() or 1)
    mutmut("run", "--max-children", at_once, *names, quiet=False)
    found = {spelled(name, mutmut("show", name)): state for name, state in uncaught(names)}
    known = explained()
    if not names:
        for mutant in known.keys() - found.keys():
            print(f"explained, but noticed now or gone: {mutant}")
    left = verdict(found, known)
    print("\n".join(left))
    print(f"{len(found)} mutants survive, {len(left)} of them unexplained.")
    return bool(left)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
