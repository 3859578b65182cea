"""The ledger of a real town, cloned with real git, audited by the command line."""

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from proposals.receipt import Signer
from sandbox.stage import REPOSITORY, SHOP
from sandbox.testing import town
from tests.books import OTHER
from tests.system.acting import approve
from tests.system.conftest import POLICY, Box
from webhook_app.cli.program import program

_ENV = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": "mallory@example.com" for who in ("AUTHOR", "COMMITTER")
       for what in ("NAME", "EMAIL")},
}  # fmt: skip


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *words]
    env = {**os.environ, **_ENV}
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout


@dataclass
class Kept:
    """What a town left: its repository, its store, its key, and its proposals by what they are."""

    origin: Path
    store: Path
    signer: Signer
    ids: dict[str, str]

    def path(self, which: str, name: str) -> str:
        files = git(self.origin, "ls-tree", "-r", "--name-only", "placet/ledger").split("\n")
        return next(f for f in files if f.endswith(f"{self.ids[which]}/{name}"))


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """What a town left behind that is no more."""
    return asyncio.run(lived(tmp_path_factory.mktemp("town")))


async def lived(folder: Path) -> Kept:
    """Approvals in every form and way, one that did nothing, a rejection, and an open one."""
    box = Box(folder / "box")
    async with town(folder / "town", tools=box.toml(), policy=POLICY) as here:
        review = await here.propose("box.add", {"n": 1})
        await approve(here, review)
        comment = await here.propose("box.add", {"n": 2})
        await here.person("noor").comment(REPOSITORY, here.number(comment), "/approve")
        await here.over(comment)
        button = await here.propose("box.add", {"n": 3})
        await here.person("lee").press(here.check(button).id, "approve")
        await here.over(button)
        lee = here.person("lee")
        await lee.push(SHOP, "basket", {"basket.txt": "more\n"})
        pull = await lee.open_pull(SHOP, title="Change the basket", head="basket")
        page = {"repository": SHOP, "pull_request": pull.number}
        tied = await here.propose("box.add", {"n": 7}, target=page)
        named = tied["digest"].removeprefix("sha256:")[:12]
        await here.person("noor").comment(SHOP, pull.number, f"/approve {named}")
        await here.over(tied)
        box.breaks("nothing")
        failed = await here.propose("box.add", {"n": 4})
        await approve(here, failed)
        rejected = await here.propose("box.add", {"n": 5})
        await here.person("lee").comment(REPOSITORY, here.number(rejected), "/reject no")
        await here.over(rejected)
        waiting = await here.propose("box.add", {"n": 6})
        signer = here.hall.ports.signer
        origin = here.world.repository(REPOSITORY).git.path
        ids = {
            name: said["proposal"]
            for name, said in (
                ("review", review),
                ("comment", comment),
                ("button", button),
                ("tied", tied),
                ("failed", failed),
                ("rejected", rejected),
                ("waiting", waiting),
            )
        }
    return Kept(Path(origin), folder / "town" / "placet.db", signer, ids)


@pytest.fixture
def clone(left: Kept, tmp_path: Path) -> Path:
    """A fresh clone of the whole repository, with the ledger checked out."""
    git(tmp_path, "clone", "-q", "-b", "placet/ledger", str(left.origin), "clone")
    return tmp_path / "clone"


def audited(clone: Path, left: Kept, *more: str) -> Result:
    words = ["audit", "--clone", str(clone), "--trust", left.signer.keyid, *more]
    return CliRunner().invoke(program, words)


def findings(clone: Path, left: Kept, *more: str) -> list[dict[str, Any]]:
    result = audited(clone, left, "--json", *more)
    assert result.stderr == ""
    said = json.loads(result.stdout)
    assert result.exit_code == (0 if said["clean"] else 1)
    return list(said["findings"])


def commit(clone: Path, message: str = "Tidy up") -> None:
    git(clone, "add", "-A")
    git(clone, "commit", "-q", "-m", message)


def test_the_ledger_of_a_town_is_clean(clone: Path, left: Kept) -> None:
    result = audited(clone, left)
    assert result.exit_code == 0, result.output
    rows = {line.split()[1]: line for line in result.stdout.splitlines() if " p_" in line}
    assert set(rows) == set(left.ids.values()) - {left.ids["waiting"]}
    assert "applied (verified)" in rows[left.ids["review"]]
    assert "lee (review)" in rows[left.ids["review"]]
    assert "noor (comment)" in rows[left.ids["comment"]]
    assert "lee (button)" in rows[left.ids["button"]]
    assert "noor (comment)" in rows[left.ids["tied"]], "on somebody's pull request"
    assert "ended (rejected)" in rows[left.ids["rejected"]]
    assert "Clean. 11 statements" in result.stdout
    assert "cut off at the end" in result.stdout
    assert "edited or deleted on GitHub afterwards" in result.stdout
    assert findings(clone, left, "--store", str(left.store)) == []


def test_a_clone_of_the_default_branch_does_as_well(left: Kept, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(left.origin), "plain")
    assert findings(tmp_path / "plain", left) == []


def edit_plan(clone: Path, left: Kept) -> None:
    file = clone / left.path("review", "plan.json")
    file.write_text(file.read_text().replace('"n": 1', '"n": 100'))


def double_key(clone: Path, left: Kept) -> None:
    file = clone / left.path("review", "plan.json")
    file.write_text(file.read_text().replace('"n": 1', '"n": 100,\n      "n": 1'))


def edit_statement(clone: Path, left: Kept) -> None:
    file = clone / left.path("failed", "end.json")
    file.write_text(file.read_text().replace('"failed"', '"applied"'))


def delete_statement(clone: Path, left: Kept) -> None:
    (clone / left.path("comment", "start.json")).unlink()


def swap_approvals(clone: Path, left: Kept) -> None:
    files = [clone / left.path(which, "start.json") for which in ("review", "comment")]
    one, two = (json.loads(file.read_text()) for file in files)
    a, b = one["statement"]["predicate"], two["statement"]["predicate"]
    a["approvals"], b["approvals"] = b["approvals"], a["approvals"]
    for file, said in zip(files, (one, two), strict=True):
        file.write_text(json.dumps(said, indent=2, sort_keys=True) + "\n")


def swap_files(clone: Path, left: Kept) -> None:
    one, two = (clone / left.path(which, "start.json") for which in ("review", "comment"))
    a, b = one.read_bytes(), two.read_bytes()
    one.write_bytes(b)
    two.write_bytes(a)


def sign_anew(clone: Path, left: Kept) -> None:
    from proposals.evidence import statement_file  # noqa: PLC0415
    from proposals.receipt import sign  # noqa: PLC0415

    file = clone / left.path("failed", "end.json")
    said = json.loads(file.read_text())["statement"]
    said["predicate"] |= {"outcome": "applied", "key": OTHER.public_pem().decode()}
    file.write_text(statement_file(said, sign(said, OTHER)))


def move_statement(clone: Path, left: Kept) -> None:
    end = clone / left.path("rejected", "end.json")
    shutil.copy(clone / left.path("review", "start.json"), end.with_name("start.json"))


def link_away(clone: Path, left: Kept) -> None:
    file = clone / left.path("review", "end.json")
    file.unlink()
    file.symlink_to("/etc/passwd")


@pytest.mark.parametrize(
    ("tamper", "code", "words", "name"),
    [
        pytest.param(edit_plan, "wrong_subject", "the plan was edited", "plan", id="edited-plan"),
        pytest.param(double_key, "not_canonical", "twice", "plan", id="duplicate-key-in-plan"),
        pytest.param(
            edit_statement, "readable_differs", "not what was signed", "end", id="edited-statement"
        ),
        pytest.param(
            delete_statement, "file_deleted", "was deleted", "start", id="deleted-statement"
        ),
        pytest.param(delete_statement, "gap", "number 3 is missing", "end", id="number-missing"),
        pytest.param(
            swap_approvals,
            "readable_differs",
            "not what was signed",
            "start",
            id="swapped-approvals",
        ),
        pytest.param(swap_files, "moved", "it was moved", "start", id="swapped-starts"),
        pytest.param(sign_anew, "wrong_key", "you do not trust", "end", id="signed-with-a-new-key"),
        pytest.param(move_statement, "moved", "it was moved", "start", id="moved-statement"),
        pytest.param(link_away, "not_a_file", "no plain file", "end", id="link-to-elsewhere"),
    ],
)
def test_tampering_is_found_with_its_file_and_commit(
    left: Kept,
    clone: Path,
    tamper: Callable[[Path, Kept], None],
    code: str,
    words: str,
    name: str,
) -> None:
    tamper(clone, left)
    commit(clone)
    found = findings(clone, left, "--ref", "refs/heads/placet/ledger")
    [one, *_] = [f for f in found if f["code"] == code] or [None]
    assert one, found
    assert words in one["why"]
    assert one["path"].endswith(f"/{name}.json")
    assert any(f["commit"] == git(clone, "rev-parse", "HEAD").strip() for f in found)


def test_a_ledger_of_ones_own_is_not_audited_unasked(clone: Path, left: Kept) -> None:
    edit_plan(clone, left)
    commit(clone)
    result = audited(clone, left)
    assert result.exit_code == 1
    assert "--ref" in result.stderr


def test_a_cut_tail_is_found_with_the_store_only(clone: Path, left: Kept) -> None:
    git(clone, "reset", "-q", "--hard", "HEAD~1")
    local = ("--ref", "refs/heads/placet/ledger")
    assert findings(clone, left, *local) == []
    [one] = findings(clone, left, *local, "--store", str(left.store))
    assert one["code"] == "cut_off"
    assert "the end of the ledger was cut off" in one["why"]


def test_a_history_without_one_proposal_is_found(clone: Path, left: Kept) -> None:
    """Somebody writes the branch anew, without the second proposal."""
    for name in ("start.json", "end.json", "plan.json"):
        (clone / left.path("comment", name)).unlink()
    squash(clone)
    found = findings(clone, left, "--ref", "refs/heads/placet/ledger")
    assert {"gap", "rewritten"} <= {f["code"] for f in found}


def test_a_history_written_anew_with_the_same_files_is_found(clone: Path, left: Kept) -> None:
    squash(clone)
    found = findings(clone, left, "--ref", "refs/heads/placet/ledger")
    assert {f["code"] for f in found} == {"rewritten"}


def squash(clone: Path) -> None:
    git(clone, "add", "-A")
    tree = git(clone, "write-tree").strip()
    git(clone, "reset", "-q", "--hard", git(clone, "commit-tree", tree, "-m", "Ledger").strip())


def test_a_forged_trailer_is_found_and_weighs_little(clone: Path, left: Kept) -> None:
    message = f"Well done\n\nPlacet-Proposal: {left.ids['rejected']}\nPlacet-Outcome: applied"
    git(clone, "commit", "-q", "--allow-empty", "-m", message)
    [one] = findings(clone, left, "--ref", "refs/heads/placet/ledger")
    assert (one["code"], one["weight"]) == ("forged_trailer", "light")
    assert one["commit"] == git(clone, "rev-parse", "HEAD").strip()


def test_an_edited_comment_is_not_visible_and_that_is_said(clone: Path, left: Kept) -> None:
    said = json.loads(audited(clone, left, "--json").stdout)
    assert any("comment or review that was edited" in words for words in said["cannot_see"])


def test_nothing_of_a_hostile_clone_runs(clone: Path, left: Kept, tmp_path: Path) -> None:
    """Hooks, a filter, a pager, a signature program, replaced objects and grafts do nothing."""
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    for name in (
        "core.fsmonitor",
        "core.pager",
        "gpg.program",
        "diff.external",
        "log.showsignature",
    ):
        git(clone, "config", name, "true" if name.endswith("signature") else str(trap))
    git(clone, "config", "filter.x.smudge", str(trap))
    (clone / ".git" / "info" / "attributes").write_text("* filter=x diff=x\n")
    git(clone, "config", "diff.x.textconv", str(trap))
    root = git(clone, "rev-list", "--max-parents=0", "HEAD").strip()
    (clone / ".git" / "refs" / "replace").mkdir()
    (clone / ".git" / "refs" / "replace" / git(clone, "rev-parse", "HEAD").strip()).write_text(root)
    said = json.loads(audited(clone, left, "--json").stdout)
    assert (said["clean"], said["statements"]) == (True, 11)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        pytest.param(lambda clone: shutil.rmtree(clone / ".git"), "cannot be read", id="no-git"),
        pytest.param(
            lambda clone: (clone / ".git" / "shallow").write_text(git(clone, "rev-parse", "HEAD")),
            "shallow",
            id="shallow",
        ),
    ],
)
def test_what_cannot_be_audited_says_what_to_do(
    clone: Path, left: Kept, prepare: Callable[[Path], object], words: str
) -> None:
    prepare(clone)
    result = audited(clone, left)
    assert result.exit_code == 1
    assert words in result.stderr
    assert "Traceback" not in result.output
