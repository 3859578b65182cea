import hashlib
import hmac
from datetime import timedelta
from typing import Any

import pytest

from sandbox.github import DeliveryFault
from tests.sandbox.stage import PERMISSIONS, REPO, Stage

pytestmark = pytest.mark.anyio
DELIVERIES = "/app/hook/deliveries"


async def test_every_delivery_is_signed_and_says_whom_it_is_for(stage: Stage) -> None:
    await stage.pull()
    await stage.world.settled()
    for one in stage.hook.seen:
        digest = hmac.new(b"s3cret", one.raw, hashlib.sha256).hexdigest()
        assert one.headers["x-hub-signature-256"] == f"sha256={digest}"
        assert one.headers["x-github-hook-installation-target-id"] == str(stage.app.id)
        assert one.headers["x-github-hook-installation-target-type"] == "integration"
        assert one.headers["x-github-hook-id"] == str(stage.app.hook_id)
        assert one.headers["user-agent"].startswith("GitHub-Hookshot/")
    guids = [one.headers["x-github-delivery"] for one in stage.hook.seen]
    assert len(set(guids)) == len(guids)


async def test_the_app_hears_of_what_it_did_itself(stage: Stage) -> None:
    pull = await stage.pull()
    await stage.world.settled()
    assert stage.hook.events() == ["installation.created", "push", "pull_request.opened"]
    opened = stage.hook.last("pull_request.opened")
    assert opened["sender"]["login"] == "placet[bot]"
    assert opened["sender"]["type"] == "Bot"
    assert opened["sender"]["url"].endswith("/users/placet%5Bbot%5D")
    assert opened["installation"]["id"] == stage.installation.id
    assert opened["pull_request"]["id"] == pull["id"]


async def all_that_can_happen(stage: Stage) -> None:
    """Make every event once."""
    world, pull = stage.world, await stage.pull()
    number, ann, sam = pull["number"], world.person("ann"), world.person("sam")
    run = await stage.check(pull["head"]["sha"])
    await ann.press(run["id"], "approve")
    await ann.rerequest(run["id"])
    review = await sam.review(REPO, number, "APPROVE", "fine")
    await sam.edit_review(REPO, review.id, "fine!")
    await ann.dismiss(REPO, review.id)
    comment = await sam.comment(REPO, number, "/approve")
    await ann.edit_comment(REPO, comment.id, "/reject")
    await ann.delete_comment(REPO, comment.id)
    await stage.ask("POST", f"pulls/{number}/requested_reviewers", {"reviewers": ["ann"]})
    await ann.edit_pull(REPO, number, title="t")
    await ann.push(REPO, "plan", {"x": "y"})
    await ann.close(REPO, number)
    await ann.reopen(REPO, number)
    await ann.delete_branch(REPO, "plan")
    world.ping(stage.app)
    world.suspend(stage.installation)
    world.unsuspend(stage.installation)
    world.add_repository("acme/second")
    world.select_repositories(stage.installation, add=["acme/second"])
    world.select_repositories(stage.installation, remove=["acme/second"])
    world.uninstall(stage.installation)


async def test_every_event_agrees_with_githubs_description(stage: Stage) -> None:
    await all_that_can_happen(stage)
    await stage.world.settled()
    assert set(stage.hook.events()) == {
        "ping", "push", "installation.created", "installation.suspend", "installation.unsuspend",
        "installation.deleted", "installation_repositories.added",
        "installation_repositories.removed", "pull_request.opened", "pull_request.edited",
        "pull_request.synchronize", "pull_request.closed", "pull_request.reopened",
        "pull_request.review_requested", "pull_request_review.submitted",
        "pull_request_review.edited", "pull_request_review.dismissed", "issue_comment.created",
        "issue_comment.edited", "issue_comment.deleted", "check_run.created",
        "check_run.completed", "check_run.requested_action", "check_run.rerequested",
    }  # fmt: skip


async def test_an_app_hears_only_what_it_subscribes_to_where_it_is_installed(stage: Stage) -> None:
    world = stage.world
    world.add_organisation("elsewhere")
    quiet = world.add_app("quiet", permissions=PERMISSIONS, events=["push"])
    far = world.add_app("far", permissions=PERMISSIONS, events=["push", "pull_request"])
    world.install(quiet, "acme")
    world.install(far, "elsewhere")
    await stage.pull()
    heard = {slug: [d.event for d in world.deliveries.all if d.app.slug == slug]
             for slug in ("quiet", "far")}  # fmt: skip
    assert heard == {"quiet": ["installation", "push"], "far": ["installation"]}


async def test_edits_say_what_was_there_before(stage: Stage) -> None:
    number, ann = (await stage.pull())["number"], stage.world.person("ann")
    await ann.push(REPO, "other", {"x": "y"})
    await ann.edit_pull(REPO, number, base="other")
    comment = await stage.world.person("sam").comment(REPO, number, "/approve")
    await ann.edit_comment(REPO, comment.id, "/reject")
    await stage.world.settled()
    assert stage.hook.last("pull_request.edited")["changes"]["base"]["ref"] == {"from": "main"}
    edited = stage.hook.last("issue_comment.edited")
    assert edited["changes"]["body"] == {"from": "/approve"}
    assert (edited["sender"]["login"], edited["comment"]["user"]["login"]) == ("ann", "sam")
    assert edited["issue"]["pull_request"]["url"].endswith(f"/pulls/{number}")


async def test_pushes_say_whether_they_create_force_or_delete(stage: Stage) -> None:
    ann = stage.world.person("ann")
    first = await ann.push(REPO, "b", {"x": "1"})
    second = await ann.push(REPO, "b", {"x": "2"})
    third = await ann.push(REPO, "b", {"x": "3"}, force=True)
    await ann.delete_branch(REPO, "b")
    await stage.world.settled()
    seen = [one.body for one in stage.hook.seen if one.event == "push"]
    flags = [(p["created"], p["forced"], p["deleted"]) for p in seen]
    assert flags == [(True, False, False), (False, False, False), (False, True, False),
                     (False, False, True)]  # fmt: skip
    assert [p["after"] for p in seen] == [first, second, third, "0" * 40]
    assert [c["modified"] for c in seen[1]["commits"]] == [["x"]]
    assert seen[3]["head_commit"] is None


async def test_a_review_is_lower_case_in_the_payload_and_upper_case_in_rest(stage: Stage) -> None:
    number = (await stage.pull())["number"]
    await stage.world.person("sam").review(REPO, number, "REQUEST_CHANGES", "no")
    await stage.world.settled()
    sent = stage.hook.last("pull_request_review.submitted")["review"]
    assert sent["state"] == "changes_requested"
    assert (await stage.get(f"pulls/{number}/reviews"))[0]["state"] == "CHANGES_REQUESTED"


async def listed(stage: Stage, query: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = await stage.get(f"{DELIVERIES}{query}", as_=stage.jwt())
    return found


async def test_the_log_tells_what_was_sent_and_answered(stage: Stage) -> None:
    await stage.pull()
    await stage.world.settled()
    newest = (await listed(stage))[0]
    assert (newest["event"], newest["action"], newest["status"], newest["status_code"]) == (
        "pull_request", "opened", "OK", 202,
    )  # fmt: skip
    whole = await stage.get(f"{DELIVERIES}/{newest['id']}", as_=stage.jwt())
    assert whole["request"]["payload"] == stage.hook.seen[-1].body
    assert whole["request"]["headers"]["X-GitHub-Delivery"] == newest["guid"]
    assert whole["response"]["payload"] == "thanks"


async def test_the_log_is_read_by_cursor(stage: Stage) -> None:
    await stage.pull()
    await stage.world.settled()
    answer = await stage.ask("GET", f"{DELIVERIES}?per_page=2", as_=stage.jwt())
    rest = await stage.ask("GET", answer.links["next"]["url"], as_=stage.jwt())
    ids = [d["id"] for d in answer.json() + rest.json()]
    assert (len(ids), ids) == (3, sorted(ids, reverse=True))
    assert "next" not in rest.links


async def test_a_failed_delivery_is_not_repeated_until_it_is_asked_for(stage: Stage) -> None:
    stage.hook.status = 500
    await stage.pull()
    await stage.world.settled()
    failed = (await listed(stage, "?status=failure"))[0]
    assert (failed["status_code"], len(stage.hook.seen)) == (500, 3)
    stage.hook.status = 202
    path = f"{DELIVERIES}/{failed['id']}/attempts"
    assert (await stage.ask("POST", path, as_=stage.jwt())).status_code == 202
    await stage.world.settled()
    again, first = stage.hook.seen[-1], stage.hook.seen[-2]
    assert (again.raw, again.headers["x-github-delivery"]) == (first.raw, failed["guid"])
    newest = (await listed(stage))[0]
    assert (newest["guid"], newest["redelivery"], newest["status_code"]) == (
        failed["guid"], True, 202,
    )  # fmt: skip
    assert newest["id"] != failed["id"]


async def test_a_suspended_app_hears_nothing_more(stage: Stage) -> None:
    stage.world.suspend(stage.installation)
    await stage.world.person("ann").push(REPO, "b", {"x": "1"})
    await stage.world.settled()
    assert stage.hook.events() == ["installation.created", "installation.suspend"]


@pytest.mark.parametrize(
    ("effect", "seen", "in_log"),
    [
        pytest.param("lose", 0, 0, id="lost-without-a-trace"),
        pytest.param("fail", 0, 1, id="failed-and-listed"),
        pytest.param("double", 2, 1, id="sent-twice"),
        pytest.param("forge", 1, 1, id="with-a-wrong-signature"),
    ],
)
async def test_deliveries_go_wrong_on_demand(
    stage: Stage, effect: Any, seen: int, in_log: int
) -> None:
    stage.world.faults.add(DeliveryFault("push", effect))
    await stage.branch()
    await stage.world.settled()
    assert stage.hook.events().count("push") == seen
    assert [d["event"] for d in await listed(stage)].count("push") == in_log
    if effect == "forge":
        assert stage.hook.seen[-1].headers["x-hub-signature-256"] == "sha256=" + "0" * 64


async def test_held_deliveries_come_late_and_in_any_order(stage: Stage) -> None:
    stage.world.faults.add(DeliveryFault("push", "hold", times=2))
    await stage.world.person("ann").push(REPO, "b", {"x": "1"})
    await stage.world.person("ann").push(REPO, "c", {"x": "1"})
    await stage.world.settled()
    assert "push" not in stage.hook.events()
    stage.world.clock.advance(timedelta(hours=1))
    stage.world.deliveries.release(backwards=True)
    await stage.world.settled()
    assert [one.body["ref"] for one in stage.hook.seen[-2:]] == ["refs/heads/c", "refs/heads/b"]
