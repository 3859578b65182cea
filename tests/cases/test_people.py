"""Who approves: roles, logins, Apps, the agent's own people, and policies that change."""

from dataclasses import replace
from typing import Any

import pytest

from checks.facts import Person, Voice
from checks.reasons import Reason
from checks.verdict import Decision
from sandbox.github import DeliveryFault, Fault, secondary_limit
from sandbox.stage import REPOSITORY, SHOP
from sandbox.testing import Town
from tests.cases.acting import TWO, review, say, short, waits, why_not
from tests.cases.saying import COMMENT, REVIEW, changed, heard_in
from tests.checks.scene import ANN, APP, BOB, BOSS, CI, FACTS, able, button, comment, judged, said
from tests.system.conftest import POLICY, Box

pytestmark = pytest.mark.anyio

PERMISSION = ("GET", "/repos/{owner}/{repo}/collaborators/{username}/permission")


@pytest.mark.parametrize("association", ["OWNER", "MEMBER", "CONTRIBUTOR", "NONE", None])
@pytest.mark.parametrize(
    ("event", "payload", "member"),
    [
        pytest.param("pull_request_review", REVIEW, "review", id="review"),
        pytest.param("issue_comment", COMMENT, "comment", id="comment"),
    ],
)
def test_what_the_payload_says_of_an_authors_role_is_not_even_read(
    event: str, payload: dict[str, Any], member: str, association: str | None
) -> None:
    """K18: members shown as CONTRIBUTOR, readers as COLLABORATOR: tetherto/qvac#191."""
    told = changed(payload, **{f"{member}__author_association": association})
    assert heard_in(event, told) == heard_in(event, payload)


async def test_while_permissions_cannot_be_read_nobody_is_refused_and_nothing_runs(
    here: Town, box: Box
) -> None:
    """K17, K19: GitHub changed who may read permissions: https://github.com/channable/hoff/pull/91."""
    seen = await here.propose("box.add", {"n": 4})
    here.world.faults.add(Fault(*PERMISSION, status=403, message="Nope", times=50))
    await review(here, "lee", seen)
    assert await waits(here, seen)
    assert box.runs == 0
    assert "access_unknown" in await why_not(here, seen)
    assert any("looks again by itself" in said for said in here.comments(seen))
    here.world.faults.clear()
    await here.stop()
    await here.start()
    assert (await here.over(seen))["status"] == "applied"


async def test_a_rate_limit_in_the_middle_of_a_decision_is_neither_yes_nor_no(
    here: Town, box: Box
) -> None:
    """K141: https://github.com/palantir/policy-bot/issues/136."""
    seen = await here.propose("box.add", {"n": 4})
    here.world.faults.add(secondary_limit(*PERMISSION, retry_after=1))
    await review(here, "lee", seen)
    assert await waits(here, seen)
    assert await why_not(here, seen) >= {"access_unknown"}
    await here.stop()
    await here.start()
    assert (await here.over(seen))["status"] == "applied"
    assert box.runs == 1


@pytest.mark.parametrize("way", ["comment", "button", "review"])
async def test_a_reader_approves_on_no_surface(here: Town, box: Box, way: str) -> None:
    """K29, K115, K119: one way in skipped the owners' list: runatlantis/atlantis#4962."""
    seen = await here.propose("box.add", {"n": 4})
    sam = here.person("sam")
    if way == "button":
        await sam.press(here.check(seen).id, "approve")
    elif way == "comment":
        await sam.comment(REPOSITORY, here.number(seen), f"/approve {short(seen)}")
    else:
        await sam.review(REPOSITORY, here.number(seen), "APPROVE")
    assert await waits(here, seen)
    assert "permission_too_low" in await why_not(here, seen)
    assert box.runs == 0


@pytest.mark.parametrize("way", [said, comment, button], ids=["review", "comment", "button"])
@pytest.mark.parametrize(
    ("who", "reason"),
    [
        pytest.param(BOSS, Reason.REQUESTER, id="requester"),
        pytest.param(CI, Reason.MACHINE_ACCOUNT, id="machine"),
        pytest.param(APP, Reason.NOT_A_PERSON, id="bot"),
        pytest.param(BOB, Reason.PERMISSION_TOO_LOW, id="reader"),
        pytest.param(Person(5, "eve"), Reason.ACCESS_UNKNOWN, id="never-looked-up"),
    ],
)
def test_every_surface_asks_the_same_questions(way: Any, who: Person, reason: Reason) -> None:
    """K112, K119: one approving path of several skipped the list: runatlantis/atlantis#4962."""
    voice: Voice = way(who, 10)
    verdict = judged(replace(able(BOB, "read"), voices=(voice,)))
    assert verdict.decision is not Decision.APPROVED
    told = {f.reason for f in verdict.findings} | {h.reason for h in verdict.heard}
    assert reason in told
    assert judged(replace(FACTS, voices=(way(ANN, 10),))).decision is Decision.APPROVED


async def test_a_comment_by_a_persons_token_through_an_app_does_not_count(
    here: Town, box: Box
) -> None:
    """K24, K113: a program acts as the person: objectstack-ai/objectstack#18168."""
    seen = await here.propose("box.add", {"n": 4})
    app = here.world.add_app("editor", permissions={"issues": "write"}, events=[])
    here.world.install(app, "acme", [REPOSITORY])
    lee = here.world.person("lee", via=app)
    await lee.comment(REPOSITORY, here.number(seen), f"/approve {short(seen)}")
    assert await waits(here, seen)
    assert "via_app" in await why_not(here, seen)
    assert box.runs == 0


async def test_a_policy_in_the_pull_request_itself_has_no_say(here: Town, box: Box) -> None:
    """K25: configuration was read from the head: https://github.com/runatlantis/atlantis/issues/432."""
    lax = POLICY.replace("    expires", "    permission: read\n    expires")
    await here.person("lee").push(SHOP, "basket", {".github/placet.yml": lax})
    pull = await here.person("lee").open_pull(SHOP, title="Let us in", head="basket")
    target = {"repository": SHOP, "pull_request": pull.number}
    seen = await here.propose("box.add", {"n": 4}, target=target)
    await here.person("sam").press(here.check(seen).id, "approve")
    assert await waits(here, seen)
    assert "permission_too_low" in await why_not(here, seen)
    assert box.runs == 0


@pytest.mark.parametrize(
    ("here", "then"),
    [pytest.param(POLICY, TWO, id="stricter"), pytest.param(TWO, POLICY, id="looser")],
    indirect=["here"],
)
async def test_a_policy_that_changed_while_it_waited_loosens_nothing(
    here: Town, box: Box, then: str
) -> None:
    """K25: policy and approvals are judged again at the start: winglang/wing#3389."""
    seen = await here.propose("box.add", {"n": 4})
    await here.person("noor").push(REPOSITORY, "main", {".github/placet.yml": then})
    await review(here, "lee", seen)
    assert await waits(here, seen)
    assert box.runs == 0
    await review(here, "noor", seen)
    assert (await here.over(seen))["status"] == "applied"


@pytest.mark.parametrize("here", [TWO], indirect=True, ids=["two-people"])
@pytest.mark.parametrize("role", ["read", "none"])
async def test_who_lost_access_since_no_longer_counts(here: Town, box: Box, role: str) -> None:
    """K31, K120: the role is read again at the start (design; no public report found)."""
    seen = await here.propose("box.add", {"n": 4})
    await review(here, "lee", seen)
    here.world.set_permission(REPOSITORY, "lee", role)
    await review(here, "noor", seen)
    assert await waits(here, seen)
    assert "permission_too_low" in await why_not(here, seen)
    assert box.runs == 0


@pytest.mark.parametrize("here", [TWO], indirect=True, ids=["two-people"])
@pytest.mark.parametrize("effect", ["double", "lose"], ids=["told", "nobody-told-us"])
@pytest.mark.parametrize(
    ("how", "code"),
    [
        pytest.param("request-changes", "blocked", id="changes-requested"),
        pytest.param("dismiss", "dismissed", id="dismissed"),
        pytest.param("edit", "gone", id="comment-edited"),
        pytest.param("delete", "gone", id="comment-deleted"),
    ],
)
async def test_an_approval_taken_back_before_the_start_counts_no_more(
    here: Town, box: Box, how: str, code: str, effect: Any
) -> None:
    """K27, K51, K104: https://github.com/runatlantis/atlantis/issues/934, openucx/ucx#8191."""
    seen = await here.propose("box.add", {"n": 4})
    lee, number = here.person("lee"), here.number(seen)
    if how in ("edit", "delete"):
        said = await lee.comment(REPOSITORY, number, "/approve")
    else:
        given = await lee.review(REPOSITORY, number, "APPROVE")
    await here.rest()
    for event in ("issue_comment", "pull_request_review"):
        here.world.faults.add(DeliveryFault(event, effect))
    match how:
        case "request-changes":
            await lee.review(REPOSITORY, number, "REQUEST_CHANGES", "wait")
        case "dismiss":
            await here.person("noor").dismiss(REPOSITORY, given.id)
        case "edit":
            await lee.edit_comment(REPOSITORY, said.id, "/approve?")
        case _:
            await lee.delete_comment(REPOSITORY, said.id)
    here.world.faults.clear()
    await review(here, "noor", seen)
    assert await waits(here, seen)
    assert code in await why_not(here, seen)
    assert box.runs == 0


async def test_running_a_check_again_decides_nothing(here: Town, box: Box) -> None:
    """K30: what Re-run means changed: https://github.com/github/rest-api-description/issues/4765."""
    seen = await here.propose("box.add", {"n": 4})
    await here.person("lee").rerequest(here.check(seen).id)
    assert await waits(here, seen)
    await say(here, "lee", seen, "/reject")
    await here.over(seen)
    await here.person("lee").rerequest(here.check(seen).id)
    await here.rest()
    assert (await here.seen(seen))["error"]["code"] == "rejected"
    assert box.runs == 0


async def test_a_draft_is_not_approved(here: Town, box: Box) -> None:
    """K126: "DRAFT" of github/branch-deploy."""
    seen = await here.propose("box.add", {"n": 4})
    here.pull(seen).draft = True
    await review(here, "lee", seen)
    assert await waits(here, seen)
    assert "draft" in await why_not(here, seen)
    assert box.runs == 0


@pytest.mark.parametrize("here", [TWO], indirect=True, ids=["two-people"])
async def test_a_login_taken_over_since_takes_its_approval_away(here: Town, box: Box) -> None:
    """K20: https://github.com/gitterHQ/gitter/issues/1670, QwenLM/qwen-code#7727."""
    seen = await here.propose("box.add", {"n": 4})
    await review(here, "lee", seen)
    here.world.rename_user("lee", "lee-as-was")
    here.world.add_user("lee")
    here.world.set_permission(REPOSITORY, "lee", "write")
    await review(here, "lee", seen)
    assert await waits(here, seen)
    assert box.runs == 0
    assert "identity_changed" in await why_not(here, seen)


FINANCE = """\
version: 1
rules:
  - tools: ["box.*"]
    require: [{approvals: 1, from: ["team:acme/finance"]}]
"""


@pytest.mark.parametrize("here", [FINANCE], indirect=True, ids=["finance"])
@pytest.mark.parametrize(
    ("team", "state", "counts"),
    [
        pytest.param("finance", "active", True, id="member"),
        pytest.param("finance", "pending", False, id="invited"),
        pytest.param("payroll", "active", True, id="member-of-a-team-within"),
        pytest.param("finance-friends", "active", False, id="of-a-team-of-a-similar-name"),
    ],
)
async def test_only_active_members_of_the_team_named_count(
    here: Town, box: Box, team: str, state: str, *, counts: bool
) -> None:
    """K117, K118: pending and nested members: runatlantis/atlantis#4619, #6107, #5509."""
    here.world.add_team("acme", "finance")
    here.world.add_team("acme", "payroll", parent="finance")
    here.world.add_team("acme", "finance-friends")
    here.world.set_team_member("acme", team, "lee", state)
    seen = await here.propose("box.add", {"n": 4})
    await review(here, "lee", seen)
    await here.rest()
    assert (await here.seen(seen))["status"] == ("applied" if counts else "awaiting_approval")
    assert box.runs == counts


async def test_words_put_into_anothers_mouth_do_not_count(here: Town, box: Box) -> None:
    """K121: one person's act told of as another's: https://github.com/vercel/eve/pull/1370.

    Whoever may write can edit anybody's comment, the agent's own people too.
    """
    seen = await here.propose("box.add", {"n": 4})
    said = await here.person("lee").comment(REPOSITORY, here.number(seen), "Why 4?")
    await here.person("dana").edit_comment(REPOSITORY, said.id, "/approve")
    assert await waits(here, seen)
    assert box.runs == 0


async def test_a_renamed_default_branch_is_followed(here: Town, box: Box) -> None:
    """K57: a hard-coded branch name broke bots: waka-readme#34."""
    seen = await here.propose("box.add", {"n": 4})
    noor = here.person("noor")
    await noor.push(REPOSITORY, "trunk", {".github/placet.yml": TWO})
    here.world.repository(REPOSITORY).default_branch = "trunk"
    await review(here, "lee", seen)
    assert await waits(here, seen)
    await review(here, "noor", seen)
    assert (await here.over(seen))["status"] == "applied"
    assert box.runs == 1
