"""The guards that the traps are about: where each stands, and which job breaches without it.

A guard is taken away in a copy of the packages, never by a switch in the product. Some are two or
three deep: then each place is taken away, for one alone changes nothing.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("checks", "proposals", "webhook_app")


@dataclass(frozen=True, slots=True)
class Cut:
    """One place in the sources, and what stands there instead when the guard is away."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Guard:
    """A guard in words, the job that breaches without it, and where it stands."""

    guard: str
    job: str
    cuts: Sequence[Cut]


GUARDS = (
    Guard(
        "the gate holds everything but reads",
        "calls-and-claims",
        [Cut("proposals/calls.py", 'return tool.effect == "read"', "return True")],
    ),
    Guard(
        "the agent's own people approve nothing",
        "asks-its-own-person",
        [
            Cut("checks/voices.py", "if person.id in facts.identities:", "if False:"),
            Cut("webhook_app/github/people.py", "out = proposal.identities | ", "out = "),
        ],
    ),
    Guard(
        "approvers need the permission that the rule asks for",
        "asks-somebody-who-may-only-read",
        [Cut("checks/voices.py", "if access.permission not in rule.enough:", "if False:")],
    ),
    Guard(
        "enough people must have said yes",
        "asks-somebody-who-may-only-read",
        [Cut("checks/rules.py", "        if unfilled:\n", "        if False:\n")],
    ),
    Guard(
        "without a rule nobody can approve",
        "uses-the-generic-tool",
        [Cut("checks/rules.py", "if source.policy and source not in ruled:", "if False:")],
    ),
    Guard(
        "the plan is made again before the start, and must be the same",
        "changes-the-world-while-people-read",
        [Cut("proposals/flow/deciding.py", "if not drifted(pinned, fresh):", "if True:")],
    ),
    Guard(
        "the commit that people read must be the pinned one",
        "rewrites-the-plan",
        [
            Cut(
                "checks/rules.py",
                "if facts.moved or facts.head != facts.pinned_head:",
                "if False:",
            ),
            Cut(
                "checks/voices.py",
                "return voice.surface is not _COMMENT and voice.head != facts.pinned_head",
                "return False",
            ),
            Cut("proposals/store/proposals.py", "AND moved = 0 AND", "AND"),
            Cut("proposals/flow/scribing.py", "stopped or now.moved or", "stopped or"),
        ],
    ),
    Guard(
        "the preview's flag is the operator's, and a dry run that is the change is refused",
        "sets-dry-run-false",
        [
            Cut(
                "webhook_app/toolkits/recipes/calling.py",
                "return fit(tool, _flagged(tool, preview, world))",
                "return fit(tool, _flagged(tool, tool.recipe.apply, world))",
            ),
            Cut(
                "webhook_app/toolkits/recipes/planning.py",
                "            refuse_unturned(tool, dry, world)\n",
                "            pass\n",
            ),
        ],
    ),
    Guard(
        "a call of mode confirm starts by the token of its preview and not without",
        "confirms-itself",
        [
            Cut(
                "proposals/flow/announcing.py",
                'if proposal.mode != "announce" or',
                'if proposal.mode == "approve" or',
            ),
            Cut("proposals/store/proposals.py", "AND {CONFIRMED} AND", "AND"),
        ],
    ),
)


def without(guard: Guard, folder: Path) -> Path:
    """Copy the packages into this folder and take the guard away there; LookupError: not found."""
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package)
    for cut in guard.cuts:
        file = folder / cut.file
        text = file.read_text()
        if text.count(cut.old) != 1:
            raise LookupError(f"{cut.file} has {text.count(cut.old)} times {cut.old!r}")
        file.write_text(text.replace(cut.old, cut.new))
    return folder
