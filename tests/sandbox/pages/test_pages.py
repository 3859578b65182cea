"""The pages do what the API does, as the person who signed in."""

import pytest

from sandbox.github import World
from sandbox.github.model import App, Pull
from tests.sandbox.pages.conftest import REPO, Browser, events, run

pytestmark = pytest.mark.anyio


async def test_signing_in_says_who_one_is(world: World, browser: Browser) -> None:
    assert REPO not in await browser.open("/")
    page = await browser.sign_in(world.account("bob").id)
    assert "You are <strong>bob</strong>" in page
    assert REPO in page


async def test_a_cookie_cannot_be_forged(world: World, browser: Browser) -> None:
    browser.http.cookies.set("sandbox_session", f"{world.account('ann').id}.nonce.{'0' * 64}")
    assert "You are not signed in" in await browser.open("/")


async def test_what_one_may_not_see_does_not_exist(pull: Pull, browser: Browser) -> None:
    assert "may not see it" in await browser.open(f"/{REPO}/pull/{pull.number}", 404)


async def test_an_approval_on_the_page_is_the_same_review(
    world: World, pull: Pull, browser: Browser
) -> None:
    await browser.sign_in(world.account("ann").id)
    await browser.open(f"/{REPO}/pull/1")
    page = await browser.submit(
        f"/{REPO}/pull/1/review", event="APPROVE", body="fine", commit_id=pull.head_sha
    )
    assert "approved these changes" in page
    [review] = world.repository(REPO).reviews.values()
    assert (review.state, review.commit_id, review.body) == ("APPROVED", pull.head_sha, "fine")
    assert review.author_id == world.account("ann").id


async def test_an_approval_is_of_the_commit_the_page_showed(
    world: World, pull: Pull, browser: Browser
) -> None:
    shown = pull.head_sha
    await browser.sign_in(world.account("ann").id)
    assert f'name="commit_id" value="{shown}"' in await browser.open(f"/{REPO}/pull/1")
    await world.person("bob").push(REPO, "topic/x", {"plan.json": "{}"})
    await browser.submit(f"/{REPO}/pull/1/review", event="APPROVE", commit_id=shown)
    [review] = world.repository(REPO).reviews.values()
    assert review.commit_id == shown != pull.head_sha


@pytest.mark.parametrize(
    ("who", "event", "body", "says"),
    [
        pytest.param("bob", "APPROVE", "", "approve your own", id="author-cannot-approve"),
        pytest.param("ann", "COMMENT", "", "can&#39;t be blank", id="comment-needs-words"),
        pytest.param("ann", "REQUEST_CHANGES", "", "can&#39;t be blank", id="no-needs-words"),
        pytest.param("ann", "DANCE", "", "can&#39;t be blank", id="unknown-event-is-a-comment"),
    ],
)
async def test_a_refused_review_is_told_in_githubs_words(  # each argument is a word of the sentence
    world: World, pull: Pull, browser: Browser, who: str, event: str, body: str, says: str
) -> None:
    await browser.sign_in(world.account(who).id)
    await browser.open(f"/{REPO}/pull/{pull.number}")
    page = await browser.submit(f"/{REPO}/pull/1/review", 422, event=event, body=body)
    assert says in page
    assert not world.repository(REPO).reviews


async def test_what_one_typed_survives_a_refusal(
    world: World, pull: Pull, browser: Browser
) -> None:
    await browser.sign_in(world.account("bob").id)
    await browser.open(f"/{REPO}/pull/{pull.number}")
    page = await browser.submit(f"/{REPO}/pull/1/review", 422, event="APPROVE", body="my <words>")
    assert "my &lt;words&gt;</textarea>" in page


async def test_a_comment_arrives_as_it_was_typed(
    world: World, pull: Pull, browser: Browser
) -> None:
    await browser.sign_in(world.account("cid").id)
    await browser.open(f"/{REPO}/pull/{pull.number}")
    page = await browser.submit(f"/{REPO}/pull/1/comment", body="/approve\r\nplease")
    [comment] = world.repository(REPO).comments.values()
    assert comment.body == "/approve\nplease"
    assert f'id="issuecomment-{comment.id}"' in page


async def test_merging_and_closing(world: World, pull: Pull, browser: Browser) -> None:
    await browser.sign_in(world.account("bob").id)
    await browser.open(f"/{REPO}/pull/{pull.number}")
    assert "Reopen" in await browser.submit(f"/{REPO}/pull/1/close", body="")
    assert "Reopen" not in await browser.submit(f"/{REPO}/pull/1/reopen", body="")
    page = await browser.submit(f"/{REPO}/pull/1/merge", 409, sha="0" * 40)
    assert "Head branch was modified" in page
    page = await browser.submit(f"/{REPO}/pull/1/merge", sha=pull.head_sha)
    assert "Merged and closed" in page
    assert pull.merged_by == world.account("bob").id


async def test_editing_and_dismissing_are_the_same_events(
    world: World, app: App, pull: Pull, browser: Browser
) -> None:
    [installation] = world.installations_on(world.repository(REPO))
    installation.events += ["pull_request", "pull_request_review", "issue_comment"]
    comment = await world.person("cid").comment(REPO, pull.number, "one")
    review = await world.person("ann").review(REPO, pull.number, "APPROVE")
    await browser.sign_in(world.account("bob").id)
    await browser.open(f"/{REPO}/pull/1")
    assert "New title" in await browser.submit(f"/{REPO}/pull/1/edit", title="New title", body="b")
    await browser.submit(f"/{REPO}/pull/1/comment/{comment.id}/edit", body="two")
    assert "blank" in await browser.submit(f"/{REPO}/pull/1/review/{review.id}/dismiss", 422)
    await browser.submit(f"/{REPO}/pull/1/review/{review.id}/dismiss", message="stale")
    assert (pull.title, pull.body, comment.body) == ("New title", "b", "two")
    assert review.state == "DISMISSED"
    assert events(world)[-3:] == [
        ("pull_request", "edited"),
        ("issue_comment", "edited"),
        ("pull_request_review", "dismissed"),
    ]
    assert app.id == installation.app_id


async def test_a_reader_edits_nothing_of_others(world: World, pull: Pull, browser: Browser) -> None:
    comment = await world.person("bob").comment(REPO, pull.number, "one")
    await browser.sign_in(world.account("cid").id)
    page = await browser.open(f"/{REPO}/pull/1")
    assert "<summary>Edit</summary>" not in page
    await browser.submit(f"/{REPO}/pull/1/edit", 403, title="mine now")
    await browser.submit(f"/{REPO}/pull/1/comment/{comment.id}/edit", 403, body="mine now")
    await browser.submit(f"/{REPO}/pull/1/close", 403)
    assert (pull.title, pull.state, comment.body) == ("Change <things>", "open", "one")


async def test_the_merge_box_says_why_it_is_blocked(
    world: World, pull: Pull, browser: Browser
) -> None:
    rule: dict[str, object] = {
        "type": "pull_request",
        "parameters": {"required_approving_review_count": 1},
    }
    world.add_ruleset(REPO, "main", branches=["main"], rules=[rule])
    pull.draft = True
    await browser.sign_in(world.account("cid").id)
    page = await browser.open(f"/{REPO}/pull/1")
    assert "Merging needs write access" in page
    assert "still a draft" in page
    assert "At least 1 approving review is required" in page


async def test_pressing_a_button_sends_requested_action(
    world: World, app: App, pull: Pull, browser: Browser
) -> None:
    made = run(world, app, pull.head_sha)
    await browser.sign_in(world.account("bob").id)
    page = await browser.open(f"/{REPO}/pull/1/checks")
    assert "Waiting for 1 approval" in page
    assert "<strong>1</strong> approval" in page
    await browser.submit(f"/{REPO}/runs/{made.id}/press", identifier="yes")
    await browser.submit(f"/{REPO}/runs/{made.id}/rerun")
    assert events(world)[-2:] == [("check_run", "requested_action"), ("check_run", "rerequested")]
    sent = world.deliveries.all[-2].payload
    assert sent["requested_action"] == {"identifier": "yes"}
    assert sent["sender"]["login"] == "bob"
    await browser.submit(f"/{REPO}/runs/{made.id}/press", 404, identifier="no")


async def test_a_bare_commit_has_its_buttons_too(world: World, app: App, browser: Browser) -> None:
    head = world.repository(REPO).git.branch("main")
    assert head
    made = run(world, app, head)
    await browser.sign_in(world.account("ann").id)
    assert f"/runs/{made.id}" in await browser.open(f"/{REPO}/commit/{head}")
    assert 'value="yes"' in await browser.open(f"/{REPO}/runs/{made.id}")


async def test_deliveries_are_for_the_people_who_run_the_app(
    world: World, app: App, pull: Pull, browser: Browser
) -> None:
    run(world, app, pull.head_sha)
    await world.settled()
    await browser.sign_in(world.account("bob").id)
    await browser.open("/settings/apps/placet/deliveries", 404)
    await browser.sign_in(world.account("ann").id)
    page = await browser.open("/settings/apps/placet/deliveries")
    assert "X-Hub-Signature-256: sha256=" in page
    last, before = world.deliveries.listed(app)[0], len(world.deliveries.all)
    await browser.submit(f"/settings/apps/placet/deliveries/{last.id}/redeliver")
    again = world.deliveries.all[-1]
    assert len(world.deliveries.all) == before + 1
    assert (again.guid, again.raw, again.redelivery) == (last.guid, last.raw, True)
    await world.settled()


async def test_links_of_a_pull_request_lead_to_files_at_its_commit(
    world: World, pull: Pull, browser: Browser
) -> None:
    await browser.sign_in(world.account("cid").id)
    page = await browser.open(f"/{REPO}/pull/{pull.number}/files")
    link = f"/{REPO}/blob/{pull.head_sha}/docs/a%20b.md"
    assert link in page
    assert "<h1>hi</h1>" in await browser.open(link)
    assert '"a": 1'.replace('"', "&#34;") in await browser.open(f"/{REPO}/blob/topic/x/plan.json")
    for path in ("", "/tree/topic/x", "/tree/topic/x/docs", "/commits/topic/x", "/pulls"):
        assert "infra" in await browser.open(f"/{REPO}{path}")
    for path in ("/acme", "/cid", f"/{REPO}/commit/{pull.head_sha}", f"/{REPO}/pull/1/commits"):
        await browser.open(path)
