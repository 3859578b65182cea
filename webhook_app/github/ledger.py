"""The ledger branch: an orphan made on first use, watched from then on.

What stands on it is only ever added to. Whoever else writes a statement there, takes one away,
rewrites its history or deletes it raises an alarm, and nothing starts until somebody has looked.
"""

import asyncio
import re
from collections import defaultdict
from typing import Protocol

from proposals.ports import ForgeError, Lost, Refused, Unavailable

from .files import EXISTS, read
from .pages import pages
from .repository import NOT_FOUND, Repository
from .shapes import Commit, Compared, Object, RuleOf, Ruleset, Told

BRANCH = "placet/ledger"
README = """\
# Placet's ledger

What was proposed, approved and done through Placet in this repository: one folder for each
proposal, with the plan, the signed statement made before it started and the one made after it
ended. Files are only ever added. Do not delete this branch or rewrite its history: Placet
relies on it to do nothing twice.
"""
STATEMENT = re.compile(r"proposals/.*/(start|end)[^/]*\.json")
SAID = re.compile(r"(Start|End) p_")
_MOST_FILES = 300
"""GitHub compares no more files than these: beyond, nobody can tell."""
_FORBID = frozenset({"update", "pull_request", "merge_queue", "required_status_checks"})
_MAY_PASS = frozenset({"always", "exempt"})
_AUDIT = "Run `placet audit`, then `placet resume`."


class Memory(Protocol):
    """What must outlive the process: how far a ledger was known, what we wrote, what is wrong."""

    def tip(self, repository: int) -> str | None:
        """The last commit seen after a write of ours; None when nothing was ever written."""

    def moved(self, repository: int, tip: str) -> None:
        """Remember it."""

    def wrote(self, repository: int) -> frozenset[tuple[str, str]]:
        """Every statement of ours: the folder's and file's name, and git's name of its bytes."""

    def alarm(self, repository: int, why: str) -> None:
        """Let nothing start there until an operator has looked."""

    def trouble(self, repository: int, refused: Refused) -> None:
        """Tell the operator of a write that was refused."""


class Forgetful:
    """A memory for as long as the process lives, without alarms."""

    def __init__(self) -> None:
        self._tips: dict[int, str] = {}

    def tip(self, repository: int) -> str | None:
        """The last one told."""
        return self._tips.get(repository)

    def moved(self, repository: int, tip: str) -> None:
        """Keep it."""
        self._tips[repository] = tip

    def wrote(self, _repository: int) -> frozenset[tuple[str, str]]:
        """Nothing that is known."""
        return frozenset()

    def alarm(self, _repository: int, _why: str) -> None:
        """Tell nobody."""

    def trouble(self, _repository: int, _refused: Refused) -> None:
        """Tell nobody."""


class Ledger:
    """The ledger branches of all repositories; one write to each at a time."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._tips: dict[int, str] = {}
        self._locks = defaultdict[int, asyncio.Lock](asyncio.Lock)

    def line(self, repo: Repository) -> asyncio.Lock:
        """Hold this while writing to the ledger branch."""
        return self._locks[repo.id]

    def moved(self, repo: Repository, tip: str) -> None:
        """Remember the commit that a write made the tip."""
        self._tips[repo.id] = tip

    def forget(self, repo: Repository) -> None:
        """Read the tip again before its next use."""
        self._tips.pop(repo.id, None)

    async def tip(self, repo: Repository) -> str:
        """A commit of the ledger branch, the newest that is known; makes the branch once."""
        async with self.line(repo):
            if repo.id not in self._tips:
                self._tips[repo.id] = await repo.branch(BRANCH) or await self._first(repo)
            return self._tips[repo.id]

    async def _first(self, repo: Repository) -> str:
        if self.memory.tip(repo.id) is None:
            return await _make(repo)
        raise self.gone(repo)

    def gone(self, repo: Repository) -> Refused:
        """Raise the alarm: a branch that we have written to is no longer there."""
        why = f"the branch {BRANCH} is gone. Restore it from a clone. {_AUDIT}"
        self.memory.alarm(repo.id, why)
        return Refused(why, NOT_FOUND, "ledger_gone")

    async def follow(self, repo: Repository, written: Commit) -> bool:
        """Whether nobody else changed the ledger before this commit of ours; else the alarm.

        Asks GitHub only when the commit does not stand on the tip that was known. Raises ForgeError
        when GitHub does not say what came between; then it must be asked again.
        """
        self.moved(repo, written.sha)
        known = self.memory.tip(repo.id)
        before = written.parents[0].sha if written.parents else None
        wrong = ""
        # The push's own delivery may have been here before this answer was.
        if known not in (None, before, written.sha):
            wrong = await self._between(repo, known, before or written.sha)
        if wrong:
            self.memory.alarm(repo.id, f"{wrong} on {BRANCH}. {_AUDIT}")
            return False
        self.memory.moved(repo.id, written.sha)
        return True

    async def intact(self, repo: Repository) -> bool:
        """Whether nobody else wrote statements since ours; else the alarm. Raises ForgeError."""
        known = self.memory.tip(repo.id)
        tip = await repo.branch(BRANCH) if known else None
        if known is None or tip in (None, known):
            return True  # a branch that is gone is found out by the next write
        wrong = await self._between(repo, known, str(tip))
        if wrong:
            self.memory.alarm(repo.id, f"{wrong} on {BRANCH}. {_AUDIT}")
        return not wrong

    async def others(self, repo: Repository) -> list[str]:
        """The paths of statements added since the last known commit that are not ours.

        None of a history that was rewritten. Raises ForgeError; Refused when they are too many.
        """
        known = self.memory.tip(repo.id)
        tip = await repo.branch(BRANCH) if known else None
        if known is None or tip in (None, known):
            return []
        compared = await self._compared(repo, known, str(tip))
        if compared is None:
            return []
        if len(compared.files) >= _MOST_FILES:
            why = "more was added than can be read here; stop the server and run `placet restore`"
            raise Refused(why, 422, "ledger_changed")
        ours = self.memory.wrote(repo.id)
        added = [f for f in compared.files if f.status == "added"]
        return [f.filename for f in added if STATEMENT.fullmatch(f.filename) and _odd(f, ours)]

    async def newest(self, repo: Repository) -> bytes | None:
        """The newest statement that stands there; None when there is none. Raises ForgeError."""
        tip = await repo.branch(BRANCH)
        if tip is None:
            return None
        async for page in pages(lambda step: repo.ask("GET", "commits", query=step), {"sha": tip}):
            for commit in page.read(list[Told]):
                if SAID.match(commit.commit.message):
                    return await _statement(repo, commit.sha)
        return None

    async def _between(self, repo: Repository, known: str, before: str) -> str:
        """What is wrong with what was added to the ledger since `known`; "" for nothing."""
        compared = await self._compared(repo, known, before)
        if compared is None:
            return "the history was rewritten"
        if len(compared.files) >= _MOST_FILES:
            return "more was changed at once than can be looked through"
        ours = self.memory.wrote(repo.id)
        odd = (_odd(file, ours) for file in compared.files)
        return next((words for words in odd if words), "")

    @staticmethod
    async def _compared(repo: Repository, known: str, tip: str) -> Compared | None:
        """What was added since `known`; None when the tip does not stand on it."""
        try:
            reply = await repo.ask("GET", "compare", f"{known}...{tip}")
        except Refused as refused:
            if refused.status == NOT_FOUND:
                return None
            raise
        compared = reply.read(Compared)
        return compared if compared.status in ("ahead", "identical") else None

    async def probe(self, repo: Repository) -> None:
        """Refused `ledger_not_writable` when a ruleset keeps us from writing, as far as rules tell.

        Rules that cannot be read forbid nothing: a start that cannot be written runs nothing.
        """
        try:
            rules: list[RuleOf] = await repo.every(RuleOf, "rules", "branches", *BRANCH.split("/"))
            found = {r.ruleset_id for r in rules if r.type in _FORBID and r.ruleset_id}
            sets = [await repo.ask("GET", "rulesets", number) for number in sorted(found)]
        except ForgeError:
            return
        for ruleset in (reply.read(Ruleset) for reply in sets):
            if ruleset.current_user_can_bypass not in (None, *_MAY_PASS):
                raise Refused(
                    f"The ruleset {ruleset.name!r} forbids the App to write to {BRANCH}. Let the "
                    "App bypass it; an administrator of the repository can.",
                    403,
                    "ledger_not_writable",
                )


def _odd(file: Compared.File, ours: frozenset[tuple[str, str]]) -> str:
    """What is wrong with one changed file of the ledger, in words; "" for nothing."""
    if not file.filename.startswith("proposals/"):
        return ""
    if file.status != "added":
        return f"{file.filename[:200]} was {file.status}"
    if not STATEMENT.fullmatch(file.filename):
        return ""
    name = "/".join(file.filename.split("/")[-2:])
    known = (name, file.sha or "") in ours
    return "" if known else f"{file.filename[:200]}, which this server did not write, stands"


async def _statement(repo: Repository, sha: str) -> bytes:
    """The statement that a commit of the ledger added; empty when it is none or too large."""
    files = (await repo.ask("GET", "commits", sha)).read(Told).files
    path = next((f.filename for f in files if STATEMENT.fullmatch(f.filename)), None)
    found = await read(repo, path, sha) if path else None
    return (found.data if found else None) or b""


async def _make(repo: Repository) -> str:
    """An orphan root: no workflow that listens to pushes of the code runs on it."""
    file = {"path": "README.md", "mode": "100644", "type": "blob", "content": README}
    tree = await _loose(repo, "trees", {"tree": [file]})
    commit = await _loose(
        repo, "commits", {"message": "Begin Placet's ledger", "tree": tree, "parents": []}
    )
    try:
        body = {"ref": f"refs/heads/{BRANCH}", "sha": commit}
        await repo.ask("POST", "git", "refs", body=body)
    except (Refused, Lost) as trouble:
        found = await repo.branch(BRANCH) if _may_exist(trouble) else None
        if found is None:
            raise
        return found
    return commit


def _may_exist(trouble: Refused | Lost) -> bool:
    return isinstance(trouble, Lost) or trouble.status in EXISTS


async def _loose(repo: Repository, kind: str, body: dict[str, object]) -> str:
    """A git object that no branch shows yet, so that making it twice changes nothing."""
    try:
        reply = await repo.ask("POST", "git", kind, body=body)
        return reply.read(Object).sha
    except Lost as lost:
        raise Unavailable(str(lost)) from None
