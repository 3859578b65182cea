"""CODEOWNERS: the file that GitHub would use, and the lines of it that it would skip."""

import re
from collections.abc import Iterator

from sandbox.github.git import MissingObject
from sandbox.github.lookup import rank
from sandbox.github.model import Repository
from sandbox.github.refusal import Refused, not_found
from sandbox.github.schema import Known

from .call import Call, R, Reply, route

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Where it may be; the first one that is there is used."""

PERSON = re.compile(r"@([A-Za-z0-9-]+)\Z")
TEAM = re.compile(r"@([A-Za-z0-9-]+)/([A-Za-z0-9_.-]+)\Z")
EMAIL = re.compile(r"[^@\s]+@[^@\s]+\Z")


@route("GET", f"{R}/codeowners/errors", "contents:read")
def list_codeowners_errors(call: Call) -> Reply:
    """List what GitHub does not understand in the CODEOWNERS file of a branch."""
    path, text = _file(call)
    lines = enumerate(text.split("\n"), start=1)
    found = [error for number, line in lines for error in _errors(call, path, number, line)]
    return Reply(Known(errors=found))


def _file(call: Call) -> tuple[str, str]:
    git = call.repo.git
    for path in PLACES:
        try:
            ref = call.query.get("ref") or call.repo.default_branch
            item = git.entry(git.commit_of(ref), path)
        except MissingObject:
            continue
        return path, git.blob(str(item.id)).decode(errors="replace")
    raise not_found()


def _errors(call: Call, path: str, number: int, line: str) -> Iterator[Known]:
    pattern, *owners = line.split("#", maxsplit=1)[0].split() or [""]
    wrong = [(pattern, "Invalid pattern")] if pattern.startswith("!") or "[" in pattern else []
    wrong += [(owner, kind) for owner in owners if (kind := _fault(call, owner))]
    for part, kind in wrong:
        column = line.index(part) + 1
        shown = f"{kind} on line {number}:\n\n  {line}\n  {' ' * (column - 1)}^"
        yield Known(
            line=number, column=column, source=line, kind=kind, suggestion=None, message=shown,
            path=path,
        )  # fmt: skip


def _fault(call: Call, owner: str) -> str:
    """What is wrong with an owner; a team needs a role of its own here."""
    if not (PERSON.match(owner) or TEAM.match(owner) or EMAIL.match(owner)):
        return "Invalid owner"
    return "" if EMAIL.match(owner) or _known(call, owner, call.repo) else "Unknown owner"


def _known(call: Call, owner: str, repo: Repository) -> bool:
    try:
        if named := TEAM.match(owner):
            team = call.world.team(named[1], named[2])
            return rank(repo.team_roles.get(team.id, "none")) >= rank("write")
        return rank(call.world.role(repo, call.world.account(owner[1:]).id)) >= rank("write")
    except Refused:
        return False
