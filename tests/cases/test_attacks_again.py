"""A second attacker tries to get a plan applied, starting from the README and the docs.

The eyes were not fully fresh: this attacker had seen code of Placet before.
"""

import contextlib
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest

from sandbox.github import DeliveryFault
from sandbox.github.deliveries import new_guid
from sandbox.github.refusal import Refused
from sandbox.stage import REPOSITORY, SECRET, SHOP
from sandbox.testing import Town
from tests.cases.acting import TWO, branch, keyed, review, say, short, waits
from tests.system.conftest import Box
from tests.system.test_check_run_form import asked, opened

pytestmark = pytest.mark.anyio

SECOND = timedelta(seconds=1)
LOOSE = """\
version: 1
rules:
  - tools: ["*"]
    require: [{approvals: 1}]
    permission: read
"""
POLICY_FILE = ".github/placet.yml"


async def sent_again(here: Town, event: str, nth: int = -1) -> None:
    """What somebody does who has seen a delivery go by: the same signed bytes under another id."""
    await here.world.settled()
    listed = here.world.deliveries.listed(here.stage.app)
    old = sorted((d for d in listed if d.event == event), key=lambda d: d.id)[nth]
    transport: Any = httpx.ASGITransport(app=here.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://placet") as http:
        headers = dict(old.headers) | {"X-GitHub-Delivery": new_guid()}
        answer = await http.post("/webhook", content=old.raw, headers=headers)
    assert answer.status_code == 202
    await here.rest()


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("\uff0fapprove", id="fullwidth-slash"),
        pytest.param("/\u0430pprove", id="cyrillic-a"),
        pytest.param("<!-- /approve -->", id="html-comment"),
        pytest.param("<!--\n/approve\n-->", id="html-comment-of-lines"),
        pytest.param("```\n/approve\n```", id="fence"),
        pytest.param("~~~\n/approve", id="open-fence"),
        pytest.param("    /approve", id="indented-code"),
        pytest.param("\t/approve", id="tab"),
        pytest.param("> /approve", id="quote"),
        pytest.param("`/approve`", id="code"),
        pytest.param("Please don't /approve", id="in-a-sentence"),
        pytest.param("/approve not", id="and-more"),
        pytest.param("/approve\u200b", id="zero-width"),
        pytest.param("/approve\u2028/reject", id="line-separator"),
        pytest.param("/approve /reject", id="both"),
        pytest.param("/approve\n/reject", id="both-lines"),
        pytest.param("/reject\n/approve", id="the-other-way"),
        pytest.param("<details>\n\n/approve\n\n</details>", id="folded"),
        pytest.param("I would never say\n/approve\nwithout reading", id="inside-text"),
        pytest.param("/approve 000000000000", id="wrong-digest"),
        pytest.param("[](/approve)", id="link"),
        pytest.param("/approve?", id="question"),
        pytest.param("/ approve", id="blank"),
        pytest.param("\\/approve", id="escaped"),
        pytest.param("&#47;approve", id="entity"),
    ],
)
async def test_words_that_only_look_like_a_yes(here: Town, box: Box, words: str) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await say(here, "lee", seen, words)
    assert box.runs == 0


async def test_edits_that_are_heard_of_late(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    number, words, noor = here.number(seen), here.pull(seen).body, here.person("noor")
    here.world.faults.add(DeliveryFault("pull_request", "hold", "edited", times=2))
    here.world.clock.advance(10 * SECOND)
    await noor.edit_pull(REPOSITORY, number, body="Adds nothing.")
    here.world.clock.advance(10 * SECOND)
    await here.person("lee").review(REPOSITORY, number, "APPROVE")
    await noor.edit_pull(REPOSITORY, number, body=words)
    await here.rest()
    assert box.runs == 0


async def test_a_title_lies_while_its_edit_is_under_way(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    here.world.faults.add(DeliveryFault("pull_request", "hold", "edited", times=1))
    await here.person("noor").edit_pull(REPOSITORY, here.number(seen), title="Nothing")
    await review(here, "lee", seen)
    assert box.runs == 0


async def test_an_admin_of_the_target_alone(here: Town, box: Box) -> None:
    here.world.set_permission(SHOP, "sam", "admin")
    seen = await asked(here, await opened(here))
    await here.person("sam").press(here.check(seen).id, "approve")
    await here.rest()
    await here.person("sam").comment(SHOP, here.kept(seen).at.number, f"/approve {short(seen)}")
    await here.rest()
    assert box.runs == 0


async def test_a_signed_review_sent_again_after_a_no(here: Town, box: Box) -> None:
    here.world.faults.add(DeliveryFault("check_run", "hold"))
    seen = await here.propose("box.add", {"n": 4})
    box.breaks("crash")
    await review(here, "lee", seen)
    await review(here, "lee", seen, "REQUEST_CHANGES")
    (box.folder / "fault").unlink()
    await sent_again(here, "pull_request_review", 0)
    here.world.clock.advance(timedelta(minutes=2))
    await here.rest()
    assert box.runs == 0


async def test_a_dismissal_by_one_who_may_not_decide(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await review(here, "lee", seen, "REQUEST_CHANGES")
    [said] = here.page(seen).reviews.values()
    await here.person("dana").dismiss(REPOSITORY, said.id)
    await review(here, "noor", seen)
    assert box.runs == 0


@pytest.mark.parametrize("who", ["sam", "dana"])
@pytest.mark.parametrize(
    "verb", ["/undo", "/replan", "/resolve", "/withdraw", "/approve", "/force"]
)
async def test_commands_of_those_who_may_not_decide(
    here: Town, box: Box, who: str, verb: str
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await say(here, who, seen, verb)
    await say(here, who, seen, f"{verb} {short(seen)} applied")
    assert box.runs == 0


async def test_the_policy_is_loosened_while_it_waits(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await here.person("dana").push(REPOSITORY, "main", {POLICY_FILE: LOOSE})
    await review(here, "sam", seen)
    await say(here, "sam", seen, "/approve")
    assert box.runs == 0


def of(require: str) -> str:
    return f"version: 1\nrules:\n  - tools: ['*']\n    require: {require}\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("version: 1\nrules: []\n", id="no-rules"),
        pytest.param(of("[]"), id="no-groups"),
        pytest.param(of("[{approvals: 0}]"), id="zero"),
        pytest.param(of("[{approvals: -1}]"), id="minus"),
        pytest.param(of("[{approvals: 0.5}]"), id="half"),
        pytest.param(of("[{approvals: true}]"), id="true"),
        pytest.param(of("[{approvals: 1, from: []}]"), id="from-nobody"),
        pytest.param(of("[{approvals: 1}]") + "    permission: none\n", id="no-permission"),
        pytest.param("version: 1\n---\nversion: 1\n", id="two-documents"),
        pytest.param("version: 1\nrules: &r [*r]\n", id="loop"),
        pytest.param("a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n", id="laughs"),
        pytest.param(LOOSE + "\0", id="nul"),
    ],
)
async def test_a_policy_that_is_none(here: Town, box: Box, text: str) -> None:
    await here.person("noor").push(REPOSITORY, "main", {POLICY_FILE: text})
    said = (await here.ask("box.add", {"n": 4})).json()
    await here.rest()
    if here.store.proposal(said.get("proposal", "")) and here.kept(said).place:
        for who in ("sam", "lee", "noor"):
            await review(here, who, said)
    assert box.runs == 0


async def test_closed_and_opened_again(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    number = here.number(seen)
    await say(here, "noor", seen, "/reject")
    await here.person("dana").reopen(REPOSITORY, number)
    await review(here, "lee", seen)
    await say(here, "lee", seen, f"/approve {short(seen)}")
    assert box.runs == 0


async def test_buttons_of_ended_and_of_strange_names(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    run = here.check(seen)
    await say(here, "noor", seen, "/reject")
    for name in ("approve", "Approve", "approve ", "apply", "undo", "replan"):
        with contextlib.suppress(Refused):  # a button that is not drawn
            await here.person("lee").press(run.id, name)
    await here.rest()
    assert box.runs == 0


async def test_another_app_draws_our_check(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    evil = here.world.add_app(
        "placet-2",
        permissions={"checks": "write"},
        events=("check_run",),
        webhook_secret=SECRET,
        hook_url="http://127.0.0.1:2/webhook",
    )
    here.world.install(evil, "acme", [REPOSITORY])
    real = here.check(seen)
    fake = replace(real, id=real.id + 7, app_id=evil.id)
    here.page(seen).checks[fake.id] = fake
    await here.person("lee").press(fake.id, "approve")
    await here.rest()
    assert box.runs == 0


async def test_what_the_ledger_says_is_written_first(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    kept = here.kept(seen)
    day = kept.created
    path = f"proposals/{day:%Y}/{day:%m}/{kept.id}"
    for name in ("start.json", "end.json"):
        await here.person("dana").push(REPOSITORY, "placet/ledger", {f"{path}/{name}": "{}"})
    await here.rest()
    assert box.runs == 0


async def test_an_undo_of_an_undo_and_a_replan_carry_no_yes(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await review(here, "noor", seen, "COMMENT")
    await say(here, "lee", seen, "/replan")
    await say(here, "lee", seen, "/approve")
    await here.rest()
    assert box.runs == 0


async def test_a_key_is_used_for_something_else(here: Town, box: Box) -> None:
    seen = await keyed(here, 4, "k")
    async with here.http() as http:
        body = {"tool": "box.add", "arguments": {"n": 400}}
        again = await http.post("/v1/proposals", json=body, headers={"Idempotency-Key": "k"})
    assert again.status_code == 409
    await review(here, "lee", seen)
    assert box.value == 5


async def test_the_doors_of_operators_are_not_on_the_web(here: Town) -> None:
    async with here.http() as http:
        for path in ("/status", "/freeze", "/unfreeze", "/agents", "/halt", "/v1/../status"):
            for method in ("GET", "POST"):
                answer = await http.request(method, path, json={})
                assert answer.status_code in (404, 405), path


@pytest.mark.parametrize(
    "more",
    [
        {"identities": []},
        {"agent": "other"},
        {"mode": "announce"},
        {"approved": True},
        {"policy": LOOSE},
        {"expires": "9999-01-01T00:00:00Z"},
        {"digest": "x"},
        {"target": {}},
        {"parent": "p_1"},
        {"target": {"repository": REPOSITORY, "commit": "main"}},
        {"target": {"repository": "../approvals", "pull_request": 1}},
        {"plan": {}},
    ],
    ids=str,
)
async def test_an_agent_asks_for_more(here: Town, box: Box, more: dict[str, Any]) -> None:
    answer = await here.ask("box.add", {"n": 4}, **more)
    assert answer.status_code in (400, 404, 409, 422)
    assert box.runs == 0


async def test_permission_goes_in_the_moment_of_the_yes(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    here.world.set_permission(REPOSITORY, "lee", "read")
    await review(here, "lee", seen)
    here.world.set_permission(REPOSITORY, "lee", "write")
    assert await waits(here, seen)
    assert box.runs == 0


async def test_a_head_moves_there_and_back(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    here.world.faults.add(DeliveryFault("push", "hold", times=2))
    here.world.faults.add(DeliveryFault("pull_request", "hold", "synchronize", times=2))
    await here.person("dana").push(REPOSITORY, branch(seen), {"x": "y"})
    await review(here, "lee", seen)
    assert box.runs == 0


async def test_lee_takes_it_back_while_it_is_planned_again(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    lee = here.person("lee")
    comment = await lee.comment(REPOSITORY, here.number(seen), "/approve")
    await lee.delete_comment(REPOSITORY, comment.id)
    await here.rest()
    assert box.runs == 0


async def test_a_comment_that_another_makes_a_yes(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    comment = await here.person("lee").comment(REPOSITORY, here.number(seen), "looks odd")
    await here.rest()
    await here.person("dana").edit_comment(REPOSITORY, comment.id, "/approve")
    await here.rest()
    await sent_again(here, "issue_comment")
    assert box.runs == 0


async def test_a_dozen_yeses_at_once_and_some_again(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    for who in ("lee", "noor", "lee", "noor"):
        await here.person(who).review(REPOSITORY, here.number(seen), "APPROVE")
        await here.person(who).comment(REPOSITORY, here.number(seen), "/approve")
    for nth in (-1, -2, -1):
        await sent_again(here, "pull_request_review", nth)
    await here.over(seen)
    assert box.runs == 1


async def test_headers_that_claim_to_be_from_the_socket(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    transport: Any = httpx.ASGITransport(app=here.app, raise_app_exceptions=False, client=("", 0))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        for path in (f"/v1/proposals/{seen['proposal']}", "/v1/tools"):
            assert (await http.get(path)).status_code == 401
            odd = {"Authorization": "Bearer null"}
            assert (await http.get(path, headers=odd)).status_code == 401
    assert box.runs == 0


@pytest.mark.parametrize("here", [TWO], indirect=True)
async def test_a_press_sent_again_after_a_no(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await here.person("lee").press(here.check(seen).id, "approve")
    await here.rest()
    here.world.clock.advance(SECOND)
    await review(here, "lee", seen, "REQUEST_CHANGES")
    here.world.clock.advance(SECOND)
    await sent_again(here, "check_run")
    await review(here, "noor", seen)
    assert await waits(here, seen)
    assert box.runs == 0


@pytest.mark.parametrize("here", [TWO], indirect=True)
async def test_one_person_on_every_surface(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await review(here, "lee", seen)
    await say(here, "lee", seen, "/approve")
    await here.person("lee").press(here.check(seen).id, "approve")
    await say(here, "lee", seen, f"/APPROVE {short(seen)}")
    await sent_again(here, "check_run")
    assert await waits(here, seen)
    assert box.runs == 0


async def test_a_server_whose_clock_is_behind_sees_no_end(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    here.world.clock.advance(timedelta(hours=5))
    here.skew = -timedelta(hours=5)
    await review(here, "lee", seen)
    assert box.runs == 0


@pytest.mark.parametrize("words", ["/undo", "/replan"])
async def test_a_later_proposal_knows_whom_the_agent_works_for(
    here: Town, box: Box, words: str
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    if words == "/undo":
        await review(here, "lee", seen)
        await here.over(seen)
    ran = box.runs
    await say(here, "lee", seen, words)
    await here.rest()
    for pull in list(here.world.repository(REPOSITORY).pulls.values()):
        if pull.state == "open":
            await here.person("dana").review(REPOSITORY, pull.number, "APPROVE")
            await here.person("dana").comment(REPOSITORY, pull.number, "/approve")
            await here.person("sam").comment(REPOSITORY, pull.number, "/approve")
    await here.rest()
    assert box.runs == ran


async def test_a_review_of_another_commit(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    base = here.world.repository(REPOSITORY).git.branch("placet/ledger")
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE", "", base)
    await here.rest()
    assert box.runs == 0


async def test_a_yes_to_the_page_of_one_is_none_to_its_twin(here: Town, box: Box) -> None:
    one, two = await keyed(here, 4, "a"), await keyed(here, 4, "b")
    assert one["digest"] == two["digest"]
    await say(here, "lee", one, f"/approve {short(two)}")
    await here.over(one)
    assert box.runs == 1
    assert (await here.seen(two))["status"] != "applied"
