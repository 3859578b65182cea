"""A person with a real browser: sign in, read, approve, press, merge."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from sandbox.github import World, create_app
from sandbox.github.actions import checks
from sandbox.github.caller import Caller
from tests.browser.conftest import address, listening, served

pytestmark = pytest.mark.anyio

REPO = "acme/approvals"
BODY = """> **If you approve, Placet changes 3 rows of `customers` in `crm.db`.** Nothing is done.
> Asked by agent `cleanup-bot`, working for @dana. Can be undone: yes. Waits for 4 hours.

**Yes:** submit an *Approve* review, or comment `/approve`. **No:** *Request changes*, or `/reject`.

| customer | active | |
|---|---|---|
| `17` | `true` | → `false` |
| `23` | `true` | → `false` |

<details><summary>The exact plan (sha256:3f9a1c0de4b2…, 1,204 bytes)</summary>

```json
{"tool": "db.update_rows", "arguments": {"table": "customers", "where": {"bounced": 3}}}
```
</details>

<script>document.title = "owned"</script><img src="x" onerror="document.title = 'owned'">
"""
SUMMARY = """**Nothing has been changed.** 1 approval is needed. 0 count so far.

| who | what | counts | why |
|---|---|---|---|
| @dana | approved (review) | no | the agent `cleanup-bot` works for @dana |

> [!NOTE]
> Can still approve: @ann, @lee.
"""
BUTTONS = [
    {"label": "Approve", "description": "Approve exactly this plan", "identifier": "approve"},
    {"label": "Reject", "description": "Nothing will be changed", "identifier": "reject"},
    {"label": "Plan again", "description": "Show what would happen now", "identifier": "replan"},
]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    port = listening()
    found = World(tmp_path, address(port))
    for login in ("ann", "dana", "lee"):
        found.add_user(login)
    found.add_organisation("acme", owners=["ann"])
    found.add_repository(REPO, collaborators={"dana": "write", "lee": "read"})
    async with served(create_app(found), port):
        yield found


@pytest.fixture
async def pull(world: World) -> str:
    permissions = {"checks": "write", "contents": "write", "pull_requests": "write"}
    app = world.add_app("placet", permissions=permissions, events=["check_run"], owner="acme")
    world.install(app, "acme")
    dana = world.person("dana")
    plan = {
        "proposals/2026/11/p_1f0c/plan.json": '{\n  "tool": "db.update_rows",\n  "rows": 3\n}\n'
    }
    sha = await dana.push(REPO, "placet/p/1f0c", plan, message="Propose: deactivate 3 customers")
    title = "Deactivate 3 customers in crm.db"
    await dana.open_pull(REPO, title=title, head="placet/p/1f0c", body=BODY)
    by = Caller("installation", world.state.accounts[app.bot_id], app)
    output = {"title": "Waiting for 1 approval from acme/data · 3 h left", "summary": SUMMARY}
    wanted = {"name": "placet", "head_sha": sha, "conclusion": "neutral", "actions": BUTTONS}
    checks.create(world, world.repository(REPO), by, wanted | {"output": output})
    await dana.comment(REPO, 1, "Checked with sales: these three bounced **three** times.")
    return f"{world.url}/{REPO}/pull/1"


async def sign_in(page: Page, world: World, login: str) -> None:
    await page.goto(world.url)
    await page.get_by_role("button", name=login).click()
    await expect(page.get_by_role("status")).to_contain_text(f"You are {login}")


async def test_ann_reads_approves_and_sees_it(
    page: Page, world: World, pull: str, picture: Callable[[str], Any]
) -> None:
    await page.goto(world.url)
    await picture("1-home")
    await sign_in(page, world, "ann")
    await page.get_by_role("link", name=REPO).click()
    await page.get_by_role("link", name="Pull requests").click()
    await picture("2-pulls")
    await page.get_by_role("link", name="Deactivate 3 customers").click()
    assert page.url == pull
    await picture("3-conversation")
    await page.get_by_label("Review comment").fill("Looks right to me")
    await page.get_by_role("radio", name="Approve").check()
    await page.get_by_role("button", name="Submit review").click()
    await expect(page.get_by_text("ann approved these changes")).to_be_visible()
    await picture("4-approved")
    [review] = world.repository(REPO).reviews.values()
    assert (review.state, review.body) == ("APPROVED", "Looks right to me")
    assert await page.title() != "owned"


async def test_ann_presses_a_button_on_the_checks_tab(
    page: Page, world: World, pull: str, picture: Callable[[str], Any]
) -> None:
    await sign_in(page, world, "ann")
    await page.goto(pull)
    await page.get_by_role("link", name="Details and buttons").click()
    await picture("5-checks")
    await page.get_by_role("button", name="Reject").click()
    await expect(page.get_by_role("heading", name="placet")).to_be_visible()
    sent = world.deliveries.all[-1]
    assert (sent.event, sent.action) == ("check_run", "requested_action")
    assert sent.payload["requested_action"] == {"identifier": "reject"}
    await world.settled()
    await page.goto(f"{world.url}/settings/apps/placet/deliveries")
    await page.get_by_text("check_run.requested_action").click()
    await picture("6-deliveries")


async def test_the_author_is_told_that_authors_cannot_approve(
    page: Page, world: World, pull: str
) -> None:
    await sign_in(page, world, "dana")
    await page.goto(pull)
    await expect(page.get_by_role("radio", name="Approve")).to_be_disabled()


async def test_dana_comments_and_merges(
    page: Page, world: World, pull: str, picture: Callable[[str], Any]
) -> None:
    await sign_in(page, world, "dana")
    await page.goto(pull)
    await page.get_by_label("Comment", exact=True).first.fill("/approve")
    await page.get_by_role("button", name="Comment", exact=True).click()
    await expect(page.get_by_role("article").filter(has_text="/approve").last).to_be_visible()
    await page.get_by_role("button", name="Merge pull request").click()
    await expect(page.get_by_text("Merged and closed")).to_be_visible()
    await picture("7-merged")
    for number, tab in enumerate(("files", "commits"), 8):
        await page.goto(f"{pull}/{tab}")
        await picture(f"{number}-{tab}")
    await page.get_by_role("link", name="Code").click()
    await picture("10-code")
    await page.goto(f"{world.url}/{REPO}/blob/main/proposals/2026/11/p_1f0c/plan.json")
    await picture("11-blob")
    await page.goto(f"{world.url}/{REPO}/pull/99")
    await picture("12-not-found")


async def test_a_reader_sees_why_merging_is_blocked(
    page: Page, world: World, pull: str, picture: Callable[[str], Any]
) -> None:
    needed = {"required_approving_review_count": 1}
    rule: dict[str, object] = {"type": "pull_request", "parameters": needed}
    world.add_ruleset(REPO, "main", branches=["main"], rules=[rule])
    await sign_in(page, world, "lee")
    await page.emulate_media(color_scheme="dark")
    await page.goto(pull)
    await expect(page.get_by_role("button", name="Merge pull request")).to_be_disabled()
    await expect(page.get_by_text("At least 1 approving review")).to_be_visible()
    await picture("13-blocked-dark")
