"""The guards that the traps are about: where each stands, and which job breaches without it.

A guard is taken away in a copy of the packages, never by a switch in the product, and each is one
place: the job beside it comes past all others, so that this one alone stands before the breach.
"""

import shutil
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
    cut: Cut


GUARDS = (
    Guard(
        "the gate holds everything but reads",
        "calls-and-claims",
        Cut("proposals/calls.py", 'return tool.effect == "read"', "return True"),
    ),
    Guard(
        "what people must approve does not start when it is asked for",
        "undoes-by-itself",
        Cut("proposals/flow/announcing.py", "if proposal.asks or ", "if "),
    ),
    Guard(
        "a call of mode confirm starts by the token of its preview and not without",
        "confirms-itself",
        Cut("proposals/store/confirmations.py", "(mode != 'confirm' OR", "(1 OR"),
    ),
    Guard(
        "without asking, only what restores exactly is undone",
        "undoes-by-itself",
        Cut(
            "proposals/flow/announcing.py",
            "same = restores(undo.plan.plan, original.plan.plan)",
            "same = True",
        ),
    ),
    Guard(
        "what was done is read back, and what reads otherwise is not applied",
        "believes-the-tool",
        Cut(
            "proposals/flow/applying.py",
            "if checked.reading is Reading.CONTRADICTED:",
            "if False:",
        ),
    ),
    Guard(
        "a dry run that is the change is refused before it is called",
        "takes-a-change-for-a-preview",
        Cut(
            "webhook_app/toolkits/recipes/planning.py",
            "            refuse_unturned(tool, dry, world)\n",
            "            pass\n",
        ),
    ),
    Guard(
        "only what GitHub has signed is a delivery",
        "forges-a-delivery",
        Cut(
            "webhook_app/doors/webhook.py",
            "if more or not signed(raw, signature, here.settings.secrets(now)):",
            "if more:",
        ),
    ),
    Guard(
        "the agent's own people approve nothing",
        "asks-its-own-person",
        Cut("checks/voices.py", "return person.id in identities", "return False"),
    ),
    Guard(
        "machine accounts approve nothing",
        "asks-a-machine",
        Cut("checks/voices.py", "if person.id in facts.machines:", "if False:"),
    ),
    Guard(
        "approvers need the permission that the rule asks for",
        "asks-somebody-who-may-only-read",
        Cut("checks/voices.py", "if access.permission not in rule.enough:", "if False:"),
    ),
    Guard(
        "enough people must have said yes",
        "asks-somebody-who-may-only-read",
        Cut("checks/rules.py", "        if unfilled:\n", "        if False:\n"),
    ),
    Guard(
        "without a rule nobody can approve",
        "uses-the-generic-tool",
        Cut("checks/rules.py", "if source.policy and source not in ruled:", "if False:"),
    ),
    Guard(
        "the commit on the page must be the pinned one",
        "rewrites-the-plan-unheard",
        Cut("checks/rules.py", "if facts.moved or facts.head != facts.pinned_head:", "if False:"),
    ),
    Guard(
        "a review counts for the commit that was reviewed",
        "swaps-the-plan",
        Cut(
            "checks/voices.py",
            "return voice.surface is not _COMMENT and voice.head != facts.pinned_head",
            "return False",
        ),
    ),
    Guard(
        "the plan is made again before the start, and must be the same",
        "changes-the-world-while-people-read",
        Cut("proposals/flow/deciding.py", "if not drifted(pinned, fresh):", "if True:"),
    ),
)


def without(guard: Guard, folder: Path) -> Path:
    """Copy the packages into this folder and take the guard away there; LookupError: not found."""
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package)
    cut = guard.cut
    file = folder / cut.file
    text = file.read_text()
    if text.count(cut.old) != 1:
        raise LookupError(f"{cut.file} has {text.count(cut.old)} times {cut.old!r}")
    file.write_text(text.replace(cut.old, cut.new))
    return folder
