"""What was approved is what runs: approvals, heads, bases, plans and tools that change."""

import json
from dataclasses import fields
from datetime import datetime
from typing import Any

import pytest

from checks.facts import Facts
from proposals.canonical import digest
from sandbox.github import DeliveryFault
from sandbox.github.actions import refs
from sandbox.stage import REPOSITORY
from sandbox.testing import Town
from tests.cases import moments
from tests.cases.acting import TWO, branch, keyed, review, say, short, waits, why_not
from tests.system.conftest import Box
from tests.system.test_main_job import ledger

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("file", ["x.txt", "plan.json"])
async def test_a_push_just_before_the_approval_is_seen_though_nobody_told_of_it(
    here: Town, box: Box, file: str
) -> None:
    """K01, K101: the comment carries no head, so the newest one would be run.

    https://github.com/github/branch-deploy/pull/315, boostsecurity.io "Bot-Delegated TOCTOU".
    """
    seen = await here.propose("box.add", {"n": 4})
    for event in ("push", "pull_request"):
        here.world.faults.add(DeliveryFault(event, "lose"))
    await here.person("lee").push(REPOSITORY, branch(seen), {file: '{"plan": {}}'})
    await say(here, "noor", seen, "/approve")
    over = await here.over(seen)
    assert (over["error"]["code"], box.runs) == ("head_moved", 0)


async def test_a_head_that_went_away_and_came_back_stays_refused(here: Town, box: Box) -> None:
    """K02: a force-push back makes no old page valid: https://github.com/go-gitea/gitea/issues/5997."""
    seen = await here.propose("box.add", {"n": 4})
    pinned, lee = here.pull(seen).head_sha, here.person("lee")
    await lee.push(REPOSITORY, branch(seen), {"x.txt": "x"})
    repository = here.world.repository(REPOSITORY)
    name = f"refs/heads/{branch(seen)}"
    refs.update_ref(here.world, repository, lee.caller, name, pinned, force=True)
    await here.person("noor").review(REPOSITORY, here.number(seen), "APPROVE")
    over = await here.over(seen)
    assert (over["error"]["code"], box.runs) == ("head_moved", 0)


@pytest.mark.parametrize(
    ("does", "code"),
    [
        pytest.param(moments.push, "head_moved", id="a-push"),
        pytest.param(moments.delete, "closed", id="the-branch-deleted"),
        pytest.param(moments.close, "closed", id="closed"),
        pytest.param(moments.retarget, "base_changed", id="retargeted"),
        pytest.param(moments.expire, "expired", id="its-end"),
        pytest.param(moments.reject, "rejected", id="rejected"),
        pytest.param(moments.block, "blocked", id="changes-requested"),
        pytest.param(moments.dismiss, "dismissed", id="dismissed"),
        pytest.param(moments.freeze, "frozen", id="a-freeze"),
        pytest.param(moments.rewrite, "before_opening", id="its-text-edited"),
    ],
)
async def test_what_comes_after_the_last_look_still_stops_the_start(
    here: Town, box: Box, does: moments.Does, code: str
) -> None:
    """K87, K98, K131, K132: the world moves between the decision and the act.

    "confirmed deployment rejects moved ref", "late mutable ref movement rejection": acceptance
    tests of github/branch-deploy v12.
    """
    seen = await here.propose("box.add", {"n": 4})
    moments.after_the_last_look(here, seen, does)
    await review(here, "lee", seen)
    await here.rest()
    now = await here.seen(seen)
    assert now["status"] in ("awaiting_approval", "ended")
    assert code in ({now["error"]["code"]} if now.get("error") else await why_not(here, seen))
    assert box.runs == 0


@pytest.mark.parametrize(
    "does",
    [
        pytest.param(moments.push, id="a-push"),
        pytest.param(moments.delete, id="the-branch-deleted"),
        pytest.param(moments.close, id="closed"),
        pytest.param(moments.expire, id="its-end"),
        pytest.param(moments.dismiss, id="dismissed"),
    ],
)
async def test_what_comes_after_the_start_changes_neither_outcome_nor_receipt(
    here: Town, box: Box, does: moments.Does
) -> None:
    """K58, K61: a close during the run aborts nothing, and a refused merge runs nothing again.

    https://github.com/runatlantis/atlantis/issues/5693, bazelbuild/continuous-integration#2178.
    """
    seen = await here.propose("box.add", {"n": 4})
    moments.after_the_start(here, seen, does)
    await review(here, "lee", seen)
    over = await here.over(seen)
    assert (over["status"], over["executed"], box.runs) == ("applied", True, 1)
    assert sum(said.startswith("**Done") for said in here.comments(seen)) == 1
    files = ledger(here.world.repository(REPOSITORY).git)
    assert [f for f in files if f.endswith(f"{seen['proposal']}/end.json")]


async def test_an_approval_of_one_plan_is_none_of_another(here: Town, box: Box) -> None:
    """K03: https://github.com/runatlantis/atlantis/issues/1508: any plan there ran."""
    one, two = await keyed(here, 4, "one"), await keyed(here, 5, "two")
    await say(here, "lee", two, f"/approve {short(one)}")
    assert await waits(here, two)
    assert "other_digest" in await why_not(here, two)
    await review(here, "lee", one)
    assert (await here.over(one))["status"] == "applied"
    assert await waits(here, two)
    assert (box.runs, box.value) == (1, 5)


async def test_another_pull_request_of_the_same_branch_is_another_page(
    here: Town, box: Box
) -> None:
    """K03, K41: labels of the pull request decided for any plan: runatlantis/atlantis#1508."""
    seen = await here.propose("box.add", {"n": 4})
    repository, lee = here.world.repository(REPOSITORY), here.person("lee")
    tip = repository.git.branch("placet/ledger") or ""
    refs.create_ref(here.world, repository, lee.caller, "refs/heads/release", tip)
    twin = await lee.open_pull(
        REPOSITORY, title="A harmless thing", head=branch(seen), base="release"
    )
    await here.person("noor").review(REPOSITORY, twin.number, "APPROVE")
    await here.person("noor").comment(REPOSITORY, twin.number, f"/approve {short(seen)}")
    assert await waits(here, seen)
    assert box.runs == 0
    await review(here, "noor", seen)
    assert (await here.over(seen))["status"] == "applied"


async def test_a_plan_that_was_replaced_never_runs_again(here: Town, box: Box) -> None:
    """K04: https://github.com/runatlantis/atlantis/issues/1122: a removed plan still ran."""
    seen = await here.propose("box.add", {"n": 4})
    box.value = 2
    await review(here, "lee", seen)
    await say(here, "lee", seen, "/replan")
    box.value = 1
    for who in ("lee", "noor"):
        await review(here, who, seen)
        await say(here, who, seen, f"/approve {short(seen)}")
    assert (await here.seen(seen))["error"]["code"] == "drifted"
    assert box.runs == 0


async def test_naming_the_pinned_digest_does_not_help_when_the_world_moved(
    here: Town, box: Box
) -> None:
    """K05, K06: the stored digest is compared with a fresh plan, not with itself.

    https://github.com/diggerhq/digger/issues/553, https://github.com/rocky-data/rocky/issues/2040.
    """
    seen = await here.propose("box.add", {"n": 4})
    box.value = 2
    await say(here, "lee", seen, f"/approve {seen['digest']}")
    over = await here.over(seen)
    assert (over["error"]["code"], box.runs) == ("drifted", 0)
    assert {d["pointer"] for d in over["receipt"]["differences"]} >= {"/preconditions/value"}


async def test_of_two_equal_plans_the_second_finds_the_world_changed(here: Town, box: Box) -> None:
    """K07: a plan to create something ran again: https://github.com/hashicorp/terraform/issues/24078."""
    one, two = await keyed(here, 4, "one"), await keyed(here, 4, "two")
    assert one["digest"] == two["digest"]
    await review(here, "lee", one)
    await review(here, "lee", two)
    assert (await here.over(one))["status"] == "applied"
    assert (await here.over(two))["error"]["code"] == "drifted"
    assert box.runs == 1


async def test_the_tool_gets_exactly_the_pinned_plan(here: Town, box: Box) -> None:
    """K09: approved one value, ran another: https://github.com/extra-org/extra/issues/139."""
    seen = await here.propose("box.add", {"n": 4})
    await say(here, "lee", seen, f"/approve {short(seen)}\nwith n = 400, please")
    await here.over(seen)
    [line] = (box.folder / "runs").read_text().splitlines()
    given: dict[str, Any] = json.loads(line)
    assert digest(given["plan"]) == seen["digest"]
    assert (given["arguments"], box.value) == ({"n": 4}, 5)


async def test_what_was_applied_stays_applied_once_over_restarts(here: Town, box: Box) -> None:
    """K10, K107: a spent approval was forgotten and worked again.

    https://github.com/vishalsachdev/canvas-mcp/pull/258.
    """
    seen = await here.propose("box.add", {"n": 4})
    await review(here, "lee", seen)
    box.value = 1
    await here.stop()
    await here.start()
    for one in [d for d in here.world.deliveries.all if d.event == "pull_request_review"]:
        here.world.deliveries.again(one, here.world.new_id("delivery"))
    await review(here, "noor", seen)
    await say(here, "noor", seen, f"/approve {short(seen)}")
    assert (await here.seen(seen))["status"] == "applied"
    assert box.runs == 1


async def test_a_tool_that_changed_since_is_not_the_tool_approved(here: Town, box: Box) -> None:
    """K12: CVE-2025-54136 (MCPoison): what stands behind an approved name is swapped."""
    seen = await here.propose("box.add", {"n": 4})
    await here.stop()
    config = here.stage.config
    config.write_text(config.read_text().replace('{type = "integer"}', '{type = "number"}'))
    await here.start()
    await review(here, "lee", seen)
    over = await here.over(seen)
    assert (over["status"], box.runs) == ("ended", 0)
    assert over["error"]["code"] in ("drifted", "tool_changed")
    assert any(d["pointer"].startswith("/tool/") for d in over["receipt"]["differences"])


def test_no_fact_of_a_decision_is_the_date_of_a_commit() -> None:
    """K16: a back-dated commit looked older than its approval, and `pushedDate` went away.

    https://github.com/github/branch-deploy/pull/315, https://github.com/palantir/policy-bot/pull/598.
    """
    dates = {f.name for f in fields(Facts) if f.type is datetime}
    assert dates == {"valid_from", "expires"}


@pytest.mark.parametrize("effect", [None, "lose"], ids=["delivered", "never-delivered"])
async def test_a_retarget_during_the_run_merges_into_no_other_branch(
    here: Town, box: Box, effect: Any
) -> None:
    """K102: "BaseRetargetDuringApplyDoesNotPublishSuccessCommitStatus" of runatlantis/atlantis."""
    seen = await here.propose("box.add", {"n": 4})
    git = here.world.repository(REPOSITORY).git
    if effect:
        here.world.faults.add(DeliveryFault("pull_request", effect, action="edited"))
    moments.after_the_start(here, seen, moments.retarget)
    await review(here, "lee", seen)
    assert (await here.over(seen))["status"] == "applied", "it had started"
    assert box.runs == 1
    pull = here.pull(seen)
    assert (pull.base_ref, pull.state, pull.merged_at) == ("elsewhere", "closed", None)
    assert git.contains(git.branch("placet/ledger") or "", git.branch("elsewhere") or "")
    assert any("aimed at" in said and "closed unmerged" in said for said in here.comments(seen))
    [found] = here.store.problems()
    assert (found.code, found.proposal) == ("merge_refused", seen["proposal"])


async def test_words_changed_during_the_run_are_put_back_before_the_merge(
    here: Town, box: Box
) -> None:
    """K102: what a merged page says is what was approved, whatever GitHub delivers of the edit."""
    seen = await here.propose("box.add", {"n": 4})
    shown = here.pull(seen).body
    here.world.faults.add(DeliveryFault("pull_request", "lose", action="edited", times=2))
    moments.after_the_start(here, seen, moments.rewrite)
    await review(here, "lee", seen)
    assert (await here.over(seen))["status"] == "applied"
    assert (here.pull(seen).body, box.runs) == (shown, 1)
    assert here.pull(seen).merged_at is not None


async def test_the_receipt_moves_no_head(here: Town) -> None:
    """K137: a receipt pushed to the approved head voids its approval: policy-bot#788."""
    seen = await here.propose("box.add", {"n": 4})
    pinned = here.pull(seen).head_sha
    await review(here, "lee", seen)
    assert (await here.over(seen))["status"] == "applied"
    assert here.pull(seen).head_sha == pinned
    assert here.pull(seen).merged_at is not None


async def test_what_happens_on_the_ledger_makes_no_page_stale(here: Town, box: Box) -> None:
    """K95: people asked to keep approvals on harmless updates: palantir/policy-bot#460.

    Ours never need an update: another proposal's end moves the ledger, and this one still merges.
    """
    one, two = await keyed(here, 4, "one"), await keyed(here, 5, "two")
    before = here.world.repository(REPOSITORY).git.branch("placet/ledger")
    await say(here, "lee", one, "/reject")
    assert (await here.over(one))["error"]["code"] == "rejected"
    assert here.world.repository(REPOSITORY).git.branch("placet/ledger") != before
    await review(here, "lee", two)
    assert (await here.over(two))["status"] == "applied"
    assert here.pull(two).merged_at is not None
    assert box.runs == 1


@pytest.mark.parametrize("here", [TWO], indirect=True, ids=["two-people"])
async def test_a_reworded_review_stays_the_approval_that_it_was(here: Town, box: Box) -> None:
    """K125: people lost approvals by mending a typo: palantir/policy-bot#1083."""
    seen = await here.propose("box.add", {"n": 4})
    lee = here.person("lee")
    said = await lee.review(REPOSITORY, here.number(seen), "APPROVE", "fnie")
    await lee.edit_review(REPOSITORY, said.id, "fine")
    await review(here, "noor", seen)
    assert (await here.over(seen))["status"] == "applied"
    assert box.runs == 1
