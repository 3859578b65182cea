import asyncio
import base64
import subprocess
from typing import Any

import pytest

from sandbox.github.git import ZERO
from tests.sandbox.stage import REPO, Stage

pytestmark = pytest.mark.anyio


def coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


async def main_head(stage: Stage) -> str:
    sha: str = (await stage.get("git/ref/heads/main"))["object"]["sha"]
    return sha


async def test_a_ref_can_be_created_once(stage: Stage) -> None:
    wanted = {"ref": "refs/heads/lock", "sha": await main_head(stage)}
    answers = await asyncio.gather(*(stage.ask("POST", "git/refs", wanted) for _ in range(5)))
    assert sorted(a.status_code for a in answers) == [201, 422, 422, 422, 422]
    assert {a.json().get("message") for a in answers if a.status_code == 422} == {
        "Reference already exists"
    }


@pytest.mark.parametrize(
    "name",
    ["heads/x", "refs/x", "refs/heads/", "refs/heads/a..b", "refs/heads/ ", "refs/pull/1/head"],
)
async def test_a_ref_with_a_bad_name_is_refused(stage: Stage, name: str) -> None:
    wanted = {"ref": name, "sha": await main_head(stage)}
    assert (await stage.ask("POST", "git/refs", wanted)).status_code == 422


@pytest.mark.parametrize("sha", [ZERO, "main", "", "0" * 39, "g" * 40])
async def test_a_ref_to_nothing_is_refused(stage: Stage, sha: str) -> None:
    answer = await stage.ask("POST", "git/refs", {"ref": "refs/heads/x", "sha": sha})
    assert answer.status_code == 422
    if len(sha) < 40:
        stage.judged.problems.clear()


async def test_a_ref_moves_only_forward_unless_forced(stage: Stage) -> None:
    main, head = await main_head(stage), await stage.branch()
    back = await stage.ask("PATCH", "git/refs/heads/plan", {"sha": main})
    assert (back.status_code, back.json()["message"]) == (422, "Update is not a fast forward")
    assert (await stage.ask("PATCH", "git/refs/heads/main", {"sha": head})).status_code == 200
    forced = await stage.ask("PATCH", "git/refs/heads/plan", {"sha": main, "force": True})
    assert forced.json()["object"]["sha"] == main


async def test_a_tree_removes_with_a_null_sha(stage: Stage) -> None:
    entry = {"path": "README.md", "mode": "100644", "type": "blob", "sha": None}
    wanted = {"base_tree": await main_head(stage), "tree": [entry]}
    assert (await stage.ask("POST", "git/trees", wanted)).json()["tree"] == []


@pytest.mark.parametrize("path", ["../x", "a//b", ".git/config", "/x", ""])
async def test_a_tree_with_a_bad_path_is_refused(stage: Stage, path: str) -> None:
    entry = {"path": path, "mode": "100644", "type": "blob", "content": "x"}
    assert (await stage.ask("POST", "git/trees", {"tree": [entry]})).status_code == 422


async def test_a_commit_of_an_app_is_signed_by_github_unless_it_names_another(stage: Stage) -> None:
    head = await stage.branch()
    assert (await stage.get(f"git/commits/{head}"))["verification"]["verified"] is True
    tree = (await stage.get(f"git/commits/{head}"))["tree"]["sha"]
    author = {"name": "Ann", "email": "ann@example.com", "date": "2026-01-02T03:04:05Z"}
    wanted = {"message": "m", "tree": tree, "parents": [head], "author": author}
    made = (await stage.ask("POST", "git/commits", wanted)).json()
    assert made["verification"]["verified"] is False
    assert made["author"] == author


async def test_bytes_come_back_as_they_went_in(stage: Stage) -> None:
    data = bytes(range(256))
    wanted = {"content": base64.b64encode(data).decode(), "encoding": "base64"}
    sha = (await stage.ask("POST", "git/blobs", wanted)).json()["sha"]
    found = await stage.get(f"git/blobs/{sha}")
    assert base64.b64decode(found["content"]) == data
    bad = await stage.ask("POST", "git/blobs", {"content": "*", "encoding": "base64"})
    assert bad.status_code == 422


async def put(stage: Stage, path: str, text: str, **more: str) -> Any:
    wanted = {"message": "m", "content": coded(text)} | more
    return await stage.ask("PUT", f"contents/{path}", wanted)


async def test_contents_creates_and_says_which_commit_came_before(stage: Stage) -> None:
    before = await main_head(stage)
    made = await put(stage, "a/b.json", "{}")
    assert made.status_code == 201
    assert [parent["sha"] for parent in made.json()["commit"]["parents"]] == [before]
    assert made.json()["commit"]["sha"] == await main_head(stage)
    found = await stage.get("contents/a/b.json?ref=main")
    assert (base64.b64decode(found["content"]), found["sha"]) == (
        b"{}",
        made.json()["content"]["sha"],
    )
    assert [entry["type"] for entry in await stage.get("contents/a")] == ["file"]


async def test_contents_never_overwrites_by_accident(stage: Stage) -> None:
    old = (await put(stage, "x.json", "1")).json()["content"]["sha"]
    assert (await put(stage, "x.json", "2")).status_code == 422
    assert (await put(stage, "x.json", "2", sha=ZERO)).status_code == 409
    assert (await put(stage, "x.json", "2", sha=old)).status_code == 200
    assert (await put(stage, "x.json", "3", branch="none")).status_code == 404


async def test_contents_deletes_with_the_sha(stage: Stage) -> None:
    sha = (await stage.get("contents/README.md"))["sha"]
    wanted = {"message": "gone", "sha": sha}
    assert (await stage.ask("DELETE", "contents/README.md", wanted)).json()["content"] is None
    assert (await stage.ask("GET", "contents/README.md")).status_code == 404


async def test_compare_counts_both_sides(stage: Stage) -> None:
    await stage.branch()
    await stage.world.person("ann").push(REPO, "main", {"other": "x"})
    found = await stage.get("compare/main...plan")
    assert (found["status"], found["ahead_by"], found["behind_by"]) == ("diverged", 1, 1)
    assert [(f["filename"], f["status"]) for f in found["files"]] == [("plan.json", "added")]
    assert found["files"][0]["patch"] == "@@ -0,0 +1 @@\n+{}"


async def test_rulesets_bind_all_but_those_who_may_pass(stage: Stage) -> None:
    rules = [{"type": "creation"}, {"type": "update"}, {"type": "deletion"}]
    stage.world.add_ruleset(REPO, "ours", branches=["placet/*"], rules=rules, bypass=[stage.app])
    head = await stage.branch("placet/p/1")
    wanted = {"ref": "refs/heads/placet/p/2", "sha": head}
    assert (await stage.ask("POST", "git/refs", wanted, as_="ann")).status_code == 422
    assert (await stage.ask("DELETE", "git/refs/heads/placet/p/1", as_="ann")).status_code == 422
    assert (await stage.ask("DELETE", "git/refs/heads/placet/p/1")).status_code == 204


async def test_every_repository_passes_gits_own_strict_check(stage: Stage) -> None:
    pull = await stage.pull()
    await stage.world.person("ann").push(REPO, "plan", {"odd name.txt": "ü\n"})
    await stage.ask("PUT", f"pulls/{pull['number']}/merge", {})
    where = stage.world.repository(REPO).git.path
    command = ["git", "--git-dir", where, "fsck", "--strict"]
    done = await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
