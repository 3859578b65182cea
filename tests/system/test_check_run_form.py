"""The check-run form: a plan shown on somebody's pull request or commit, beside its code."""

import json
from base64 import b64decode
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from checks.facts import Form
from sandbox.github import Fault
from sandbox.github.model import Pull
from sandbox.stage import REPOSITORY, SHOP
from sandbox.testing import Town, town
from tests.system.conftest import POLICY, Box

pytestmark = pytest.mark.anyio


async def opened(here: Town, branch: str = "basket", who: str = "lee") -> Pull:
    """Somebody's pull request in the shop."""
    lee = here.person(who)
    if here.world.repository(SHOP).git.branch(branch) is None:
        await lee.push(SHOP, branch, {f"{branch}.txt": "more\n"})
    return await lee.open_pull(SHOP, title=f"Change the {branch}", head=branch)


def on(pull: Pull | int) -> dict[str, Any]:
    return {"repository": SHOP, "pull_request": pull if isinstance(pull, int) else pull.number}


async def asked(here: Town, pull: Pull, n: int = 4) -> dict[str, Any]:
    return await here.propose("box.add", {"n": n}, target=on(pull))


def digest(seen: dict[str, Any]) -> str:
    return str(seen["digest"]).removeprefix("sha256:")[:12]


async def waits(here: Town, seen: dict[str, Any]) -> bool:
    await here.rest()
    return bool((await here.seen(seen))["status"] == "awaiting_approval")


async def test_a_plan_is_shown_on_somebodys_pull_request(here: Town) -> None:
    pull = await opened(here)
    seen = await asked(here, pull)
    run, place = here.check(seen), here.kept(seen).at
    assert (run.head_sha, run.conclusion) == (pull.head_sha, "neutral")
    assert run.name.startswith("placet: Add 4 to the box (p_")
    assert [a["identifier"] for a in run.actions] == ["approve", "reject", "replan"]
    assert seen["pull_request"].endswith(f"/{SHOP}/pull/{pull.number}")
    [announcement] = here.comments(seen)
    assert f"/approve {digest(seen)}" in announcement
    assert seen["digest"] in announcement
    assert f"/{SHOP}/runs/{run.id})" in announcement
    assert here.kept(seen).form is Form.CHECK_RUN
    assert place.home == REPOSITORY
    assert not here.world.repository(REPOSITORY).pulls
    assert here.world.repository(SHOP).git.branch("placet/ledger") is None


async def test_the_plan_and_the_statements_are_on_the_governing_ledger(
    here: Town, box: Box
) -> None:
    pull = await opened(here)
    seen = await asked(here, pull)
    await here.person("noor").press(here.check(seen).id, "approve")
    assert (await here.over(seen))["status"] == "applied"
    git = here.world.repository(REPOSITORY).git
    month = here.kept(seen).created.strftime("%Y/%m")
    tip = git.branch("placet/ledger") or ""
    for name in ("plan", "start", "end"):
        data = git.blob(str(git.entry(tip, f"proposals/{month}/{seen['proposal']}/{name}.json").id))
        signed = json.loads(b64decode(json.loads(data)["envelope"]["payload"]))
        said = signed["predicate"]["target"]
        assert (said["pull_request"], said["commit"]) == (pull.number, pull.head_sha)
    assert box.runs == 1
    assert not here.store.halts()


async def test_the_button_approves_and_the_pull_request_is_left_alone(here: Town, box: Box) -> None:
    pull = await opened(here)
    seen = await asked(here, pull)
    await here.person("noor").press(here.check(seen).id, "approve")
    over = await here.over(seen)
    assert (over["status"], box.runs) == ("applied", 1)
    assert (pull.state, pull.merged_at, pull.title) == ("open", None, "Change the basket")
    assert here.check(seen).conclusion == "neutral"
    assert "Done" in here.check(seen).output["title"]
    assert [c.startswith("**Done") for c in here.comments(seen)] == [False, True]


async def test_a_comment_with_the_digest_approves(here: Town, box: Box) -> None:
    pull = await opened(here)
    seen = await asked(here, pull)
    await here.person("noor").comment(SHOP, pull.number, f"/approve {digest(seen)}")
    assert (await here.over(seen))["status"] == "applied"
    assert box.runs == 1


async def test_a_bare_approval_is_answered_with_the_lines_to_paste(here: Town, box: Box) -> None:
    pull = await opened(here)
    one, two = await asked(here, pull, 4), await asked(here, pull, 5)
    await here.person("noor").comment(SHOP, pull.number, "/approve")
    assert await waits(here, one)
    assert await waits(here, two)
    *_, answer = here.comments(one)
    assert f"`/approve {digest(one)}` for `Add 4 to the box`" in answer
    assert f"`/approve {digest(two)}` for `Add 5 to the box`" in answer
    assert len(here.comments(one)) == 3, "two announcements, one answer"
    assert box.runs == 0
    reasons = [h["reason"] for h in ((await here.seen(one))["verdict"] or {})["heard"]]
    assert reasons == ["digest_required"]


@pytest.mark.parametrize("verb", ["reject", "replan", "withdraw", "undo"])
async def test_no_bare_command_means_anything(here: Town, verb: str) -> None:
    pull = await opened(here)
    seen = await asked(here, pull)
    who = "dana" if verb == "withdraw" else "noor"
    await here.person(who).comment(SHOP, pull.number, f"/{verb}")
    assert await waits(here, seen)
    assert f"`/{verb} {digest(seen)}`" in here.comments(seen)[-1]


@pytest.mark.parametrize("event", ["APPROVE", "REQUEST_CHANGES"])
async def test_a_review_neither_approves_nor_blocks(here: Town, box: Box, event: str) -> None:
    pull = await opened(here, who="dana")
    seen = await asked(here, pull)
    await here.person("noor").review(SHOP, pull.number, event, "about the code")
    assert await waits(here, seen)
    assert len(here.comments(seen)) == 1, "a review of the code is not answered"
    assert "about its code" in here.check(seen).output["summary"]
    assert here.check(seen).output["title"].startswith("Waiting for")
    here.world.clock.advance(timedelta(seconds=2))
    await here.person("lee").press(here.check(seen).id, "approve")
    assert (await here.over(seen))["status"] == "applied"
    assert box.runs == 1


async def test_lgtm_on_somebodys_pull_request_is_about_the_code(here: Town) -> None:
    pull = await opened(here)
    seen = await asked(here, pull)
    await here.person("noor").comment(SHOP, pull.number, "lgtm")
    assert await waits(here, seen)
    assert len(here.comments(seen)) == 1


async def test_each_plan_of_a_page_is_decided_about_alone(here: Town, box: Box) -> None:
    pull = await opened(here)
    one, two = await asked(here, pull, 4), await asked(here, pull, 5)
    assert here.check(one).name != here.check(two).name
    await here.person("noor").comment(SHOP, pull.number, f"/reject {digest(two)} too much")
    assert (await here.over(two))["error"]["code"] == "rejected"
    assert await waits(here, one)
    await here.person("noor").comment(SHOP, pull.number, f"/approve {digest(one)}")
    assert (await here.over(one))["status"] == "applied"
    assert (box.runs, box.value) == (1, 5)


async def test_a_digest_of_no_plan_of_the_page_is_answered(here: Town, box: Box) -> None:
    pull = await opened(here)
    seen = await asked(here, pull)
    await here.person("noor").comment(SHOP, pull.number, "/approve 0123456789ab")
    assert await waits(here, seen)
    assert f"`/approve {digest(seen)}`" in here.comments(seen)[-1]
    assert box.runs == 0


async def test_the_same_plan_twice_on_a_page_needs_the_button(here: Town, box: Box) -> None:
    pull = await opened(here)
    one = await here.propose("box.add", {"n": 4}, target=on(pull))
    async with here.http() as http:
        body = {"tool": "box.add", "arguments": {"n": 4}, "target": on(pull)}
        said = await http.post("/v1/proposals", json=body, headers={"Idempotency-Key": "again"})
    two = said.json()
    await here.until(two, lambda p: p.place is not None)
    await here.rest()
    assert one["proposal"] != two["proposal"]
    await here.person("noor").comment(SHOP, pull.number, f"/approve {digest(one)}")
    assert await waits(here, one)
    assert await waits(here, two)
    assert box.runs == 0
    assert any("Press the button" in c for c in here.comments(one))
    await here.person("noor").press(here.check(two).id, "approve")
    assert (await here.over(two))["status"] == "applied"
    assert box.runs == 1


async def test_pull_requests_with_the_same_head_are_kept_apart(here: Town, box: Box) -> None:
    pull = await opened(here)
    await here.person("lee").push(SHOP, "release", {"release.txt": "1\n"})
    sibling = await here.person("lee").open_pull(
        SHOP, title="The same elsewhere", head="basket", base="release"
    )
    assert sibling.head_sha == pull.head_sha
    one, two = await asked(here, pull, 4), await asked(here, sibling, 5)
    await here.person("noor").comment(SHOP, sibling.number, f"/approve {digest(one)}")
    assert await waits(here, one)
    await here.person("noor").close(SHOP, sibling.number)
    assert (await here.over(two))["error"]["code"] == "closed"
    assert await waits(here, one)
    await here.person("noor").press(here.check(one).id, "approve")
    assert (await here.over(one))["status"] == "applied"
    assert (box.runs, box.value) == (1, 5)


async def test_a_moved_head_ends_it(here: Town, box: Box) -> None:
    pull = await opened(here)
    seen = await asked(here, pull)
    await here.person("lee").push(SHOP, "basket", {"basket.txt": "other\n"})
    over = await here.over(seen)
    assert (over["error"]["code"], box.runs) == ("head_moved", 0)
    assert "got other commits" in here.comments(seen)[-1]
    assert pull.state == "open"


async def test_a_head_that_moved_while_it_was_planned_opens_nothing(here: Town) -> None:
    pull = await opened(here)

    async def push() -> None:
        await here.person("lee").push(SHOP, "basket", {"basket.txt": "other\n"})

    policy = Fault("GET", "/contents/.github/placet.yml", when="after", run=push)
    here.world.faults.add(policy)
    said = (await here.ask("box.add", {"n": 4}, target=on(pull))).json()
    await here.until(said, lambda p: p.state == "ended")
    await here.rest()
    assert (await here.seen(said))["error"]["code"] == "head_moved"
    assert not here.world.repository(SHOP).checks
    assert not here.world.repository(SHOP).comments


@pytest.mark.parametrize("how", ["closed", "merged"])
async def test_a_closed_or_merged_pull_request_ends_it(here: Town, box: Box, how: str) -> None:
    pull = await opened(here)
    seen = await asked(here, pull)
    noor = here.person("noor")
    await (noor.close(SHOP, pull.number) if how == "closed" else noor.merge(SHOP, pull.number))
    over = await here.over(seen)
    assert (over["error"]["code"], box.runs) == ("closed", 0)
    assert not here.check(seen).actions


async def test_on_a_bare_commit_only_the_button_decides(here: Town, box: Box) -> None:
    sha = here.world.repository(SHOP).git.branch("main")
    seen = await here.propose("box.add", {"n": 4}, target={"repository": SHOP, "commit": sha})
    assert not here.world.repository(SHOP).comments
    assert "/approve" not in here.check(seen).output["summary"]
    await here.person("noor").press(here.check(seen).id, "approve")
    assert (await here.over(seen))["status"] == "applied"
    assert box.runs == 1
    assert not here.world.repository(SHOP).comments


async def test_a_comment_older_than_the_announcement_does_not_count(here: Town, box: Box) -> None:
    probe = await here.propose("box.add", {"n": 4})
    pull = await opened(here)
    words = f"/approve {digest(probe)}"

    async def too_soon() -> None:
        await here.person("noor").comment(SHOP, pull.number, words)
        await here.world.settled()

    here.world.faults.add(Fault("POST", "/check-runs", when="before", run=too_soon))
    async with here.http() as http:
        await http.post(f"/v1/proposals/{probe['proposal']}/withdraw")
    said = await here.ask("box.add", {"n": 4}, target=on(pull))
    seen = said.json()
    assert digest(seen) == digest(probe)
    await here.until(seen, lambda p: p.place is not None)
    assert await waits(here, seen)
    assert box.runs == 0
    heard = (await here.seen(seen))["verdict"]["heard"]
    assert [h["reason"] for h in heard] == ["before_opening"]


async def test_an_edited_announcement_is_restored_and_what_was_said_is_void(
    here: Town, box: Box
) -> None:
    pull = await opened(here)
    seen = await asked(here, pull)
    announced = here.kept(seen).at.announced or 0
    written = here.comments(seen)[0]
    await here.person("noor").edit_comment(SHOP, announced, "Harmless")
    await here.person("lee").press(here.check(seen).id, "approve")
    assert await waits(here, seen)
    assert box.runs == 0
    assert here.comments(seen)[0] == written
    here.world.clock.advance(timedelta(seconds=5))
    await here.person("lee").press(here.check(seen).id, "approve")
    assert (await here.over(seen))["status"] == "applied"


async def test_the_third_edit_of_an_announcement_ends_its_plan(here: Town, box: Box) -> None:
    pull = await opened(here)
    seen, other = await asked(here, pull), await asked(here, pull, 5)
    written = here.comments(seen)[0]
    for words in ("Harmless", "Really harmless", "Nothing at all"):
        await here.person("noor").edit_comment(SHOP, here.kept(seen).at.announced or 0, words)
        await here.rest()
    assert (await here.seen(seen))["error"]["code"] == "edited_too_often"
    assert here.comments(seen)[0] == written
    assert here.check(seen).actions == []
    assert (await here.seen(other))["status"] == "awaiting_approval"
    assert box.runs == 0


async def test_a_deleted_announcement_ends_it(here: Town, box: Box) -> None:
    pull = await opened(here)
    seen = await asked(here, pull)
    await here.person("noor").delete_comment(SHOP, here.kept(seen).at.announced or 0)
    await here.person("lee").press(here.check(seen).id, "approve")
    over = await here.over(seen)
    assert (over["error"]["code"], box.runs) == ("closed", 0)


async def test_replan_with_the_digest_opens_another_on_the_same_page(here: Town, box: Box) -> None:
    pull = await opened(here)
    seen = await asked(here, pull)
    box.value = 2
    await here.person("noor").comment(SHOP, pull.number, f"/approve {digest(seen)}")
    assert (await here.over(seen))["error"]["code"] == "drifted"
    assert f"`/replan {digest(seen)}`" in here.comments(seen)[-1]
    await here.person("noor").comment(SHOP, pull.number, f"/replan {digest(seen)}")
    await here.rest()
    fresh = next(p for p in here.store.proposals() if p.parent == seen["proposal"])
    assert (fresh.parent, fresh.state, fresh.at.number) == (seen["proposal"], "open", pull.number)


async def test_a_fork_is_refused(here: Town) -> None:
    pull = await opened(here)
    pull.fork = here.world.repository(REPOSITORY).id
    said = await here.ask("box.add", {"n": 4}, target=on(pull))
    assert (said.status_code, said.json()["code"]) == (422, "target_not_allowed")
    assert "forks = true" in said.json()["hint"]


async def test_a_fork_is_taken_where_the_operator_allowed_it(tmp_path: Path, box: Box) -> None:
    tools = box.toml().replace('targets = ["acme/shop"]', 'targets = ["acme/shop"]\nforks = true')
    async with town(tmp_path / "town", tools=tools, policy=POLICY) as here:
        pull = await opened(here)
        pull.fork = here.world.repository(REPOSITORY).id
        seen = await asked(here, pull)
        await here.person("noor").press(here.check(seen).id, "approve")
        assert (await here.over(seen))["status"] == "applied"
        assert box.value == 5


@pytest.mark.parametrize(
    ("target", "code"),
    [
        pytest.param({"repository": "acme/other", "pull_request": 1}, "target_not_allowed", id="x"),
        pytest.param({"repository": SHOP, "pull_request": 99}, "target_not_allowed", id="no-pull"),
        pytest.param({"repository": SHOP, "commit": "0" * 40}, "target_not_allowed", id="no-sha"),
        pytest.param({"repository": SHOP, "commit": "main"}, "bad_request", id="no-full-sha"),
        pytest.param({"repository": SHOP}, "bad_request", id="neither"),
        pytest.param({"repository": f"{SHOP}/../x", "pull_request": 1}, "bad_request", id="path"),
    ],
)
async def test_a_target_outside_what_is_allowed_is_refused(
    here: Town, target: dict[str, Any], code: str
) -> None:
    said = await here.ask("box.add", {"n": 4}, target=target)
    assert (said.status_code, said.json()["code"]) == (422, code)
    assert said.json()["hint"]
    assert not here.store.proposals()


async def test_a_closed_pull_request_is_no_target(here: Town) -> None:
    pull = await opened(here)
    await here.person("lee").close(SHOP, pull.number)
    said = await here.ask("box.add", {"n": 4}, target=on(pull))
    assert (said.status_code, said.json()["code"]) == (422, "target_not_allowed")


async def test_the_same_call_elsewhere_is_another_call(here: Town) -> None:
    pull = await opened(here)
    other = await opened(here, "till")
    one, two = await asked(here, pull), await asked(here, other)
    again = (await here.ask("box.add", {"n": 4}, target=on(pull))).json()
    assert one["proposal"] != two["proposal"]
    assert again["proposal"] == one["proposal"]


async def test_a_key_keeps_its_page(here: Town) -> None:
    pull = await opened(here)
    other = await opened(here, "till")

    async def send(target: dict[str, Any]) -> Any:
        body = {"tool": "box.add", "arguments": {"n": 4}, "target": target}
        async with here.http() as http:
            return await http.post("/v1/proposals", json=body, headers={"Idempotency-Key": "k"})

    one = (await send(on(pull))).json()
    assert (await send(on(other))).json()["code"] == "key_conflict"
    await here.until(one, lambda p: p.place is not None)
    await here.person("lee").close(SHOP, pull.number)
    await here.over(one)
    assert (await send(on(pull))).json()["proposal"] == one["proposal"]


OPENING = [
    ("PUT", "/contents/"),
    ("POST", "/check-runs"),
    ("POST", "/comments"),
]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("call", OPENING, ids=lambda call: f"{call[0]}{call[1]}")
async def test_whatever_fails_while_opening_it_is_shown_once(
    here: Town, box: Box, call: tuple[str, str], when: str
) -> None:
    pull = await opened(here)
    here.world.faults.add(Fault(*call, when=when, status=502))  # type: ignore[arg-type]
    seen = (await here.ask("box.add", {"n": 4}, target=on(pull))).json()
    await here.until(seen, lambda p: p.place is not None)
    await here.rest()
    runs = here.world.repository(SHOP).checks.values()
    assert sum(run.external_id == seen["proposal"] for run in runs) == 1
    assert len(here.comments(seen)) == 1
    await here.person("noor").press(here.check(seen).id, "approve")
    assert (await here.over(seen))["status"] == "applied"
    assert box.runs == 1
