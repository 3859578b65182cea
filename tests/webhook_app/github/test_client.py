"""The way to GitHub: whose token, which errors, never a blind second write."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest

from proposals.plan import Proposal
from proposals.ports import Lost, Refused, Unavailable
from sandbox.github.faults import secondary_limit
from tests.webhook_app.github.stage import REPO, URL, Stage
from webhook_app.github import ForgeSettings, GitHubForge
from webhook_app.github.route import route

pytestmark = pytest.mark.anyio

COMMENT = "/repos/{owner}/{repo}/issues/{issue_number}/comments"
PAGE = "/graphql#Page"
TOKENS = "/app/installations/{installation_id}/access_tokens"


def minted(stage: Stage) -> int:
    return sum(e.template == TOKENS for e in stage.world.log.entries)


async def test_eight_first_calls_at_once_make_each_token_once(
    stage: Stage, proposal: Proposal
) -> None:
    async with stage.forge() as fresh:
        await asyncio.gather(*(fresh.glance(proposal, []) for _ in range(8)))
    assert minted(stage) == 2  # one to list repositories, one for this repository alone


async def test_tokens_are_for_one_repository_and_for_what_is_done_there(
    stage: Stage, proposal: Proposal
) -> None:
    held = [token for token in stage.world.state.tokens.values() if token.installation_id]
    assert proposal.repository == stage.repo.id
    assert {frozenset(t.permissions.items()) for t in held} == {
        frozenset({"metadata": "read"}.items()),
        frozenset(
            {
                "contents": "write",
                "pull_requests": "write",
                "checks": "write",
                "metadata": "read",
            }.items()
        ),
    }
    assert [t.repository_ids for t in held if "contents" in t.permissions] == [{stage.repo.id}]


async def test_the_app_signs_in_with_its_client_id_where_one_is_given(
    stage: Stage, proposal: Proposal
) -> None:
    async with stage.forge(client_id=stage.app.client_id) as known:
        assert (await known.glance(proposal, [])).is_open
    async with stage.forge(client_id="Iv23of-another-app") as unknown:
        with pytest.raises(Refused) as refused:
            await unknown.glance(proposal, [])
    assert refused.value.status == 401


async def test_a_token_that_is_no_longer_taken_is_made_again_once(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    stage.world.expire_tokens()
    await forge.reply(proposal, "k", "Text.", again=False)
    assert minted(stage) == 1
    assert len(stage.repo.comments) == 1
    stage.counts()
    stage.fail("POST", COMMENT, status=401, times=9)
    with pytest.raises(Refused) as refused:
        await forge.reply(proposal, "k", "Text.", again=False)
    assert refused.value.status == 401
    assert stage.counts()[f"POST {COMMENT}"] == 2


async def test_a_token_is_made_again_before_its_hour_is_over(
    stage: Stage, proposal: Proposal
) -> None:
    seconds = [0.0]
    forge = GitHubForge(
        stage.settings(),
        stage.words,
        stage.world.clock.now,
        transport=httpx.ASGITransport(stage.judged),
        clock=lambda: seconds[0],
    )
    async with forge:
        await forge.glance(proposal, [])
        seconds[0] = 3400
        await forge.glance(proposal, [])
        assert minted(stage) == 2
        seconds[0] = 3590
        await forge.glance(proposal, [])
        assert minted(stage) == 3


async def test_every_call_names_the_version_of_the_api(stage: Stage, proposal: Proposal) -> None:
    asked: list[tuple[str, str | None]] = []

    class Watch(httpx.ASGITransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            asked.append((request.url.path, request.headers.get("x-github-api-version")))
            return await super().handle_async_request(request)

    forge = GitHubForge(
        stage.settings(api_version="2026-03-10"),
        stage.words,
        stage.world.clock.now,
        transport=Watch(stage.judged),
    )
    async with forge:
        await forge.look(proposal, [], frozenset())
        await forge.settle(proposal)
    assert {version for _, version in asked} == {"2026-03-10"}
    assert any(path.endswith("access_tokens") for path, _ in asked)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_no_redirect_is_followed(
    stage: Stage, forge: GitHubForge, proposal: Proposal, status: int
) -> None:
    where = {"location": f"{URL}/repos/{REPO}/pulls/{proposal.at.number}"}
    stage.fail("POST", PAGE, status=status, headers=where)
    stage.fail("POST", COMMENT, status=status, headers=where)
    with pytest.raises(Unavailable, match="redirects are not followed"):
        await forge.glance(proposal, [])
    with pytest.raises(Unavailable, match="redirects are not followed"):
        await forge.reply(proposal, "k", "Text.", again=False)
    counts = stage.counts()
    assert (counts[f"POST {PAGE}"], counts[f"POST {COMMENT}"]) == (1, 1)
    stage.judged.problems = [p for p in stage.judged.problems if str(status) not in p]


async def test_a_renamed_repository_is_found_again_by_its_id(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    stage.world.rename_repository(REPO, "approvals-2")
    with pytest.raises(Unavailable, match="seems to be renamed"):
        await forge.glance(proposal, [])
    assert (await forge.glance(proposal, [])).is_open


async def test_another_repository_under_the_old_name_is_not_mistaken_for_it(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    stage.world.rename_repository(REPO, "approvals-2")
    other = stage.world.add_repository(REPO)
    stage.world.select_repositories(stage.installation, add=[REPO])
    with pytest.raises(Refused) as refused:  # the token is for the old repository alone
        await forge.reply(proposal, "k", "Text.", again=False)
    assert refused.value.status == 404
    assert not other.comments


ERRORS = [
    pytest.param({"status": 500}, Unavailable, Lost, id="500"),
    pytest.param({"status": 503}, Unavailable, Lost, id="503"),
    pytest.param({"drop": True}, Unavailable, Lost, id="broken"),
    pytest.param({"drop": True, "when": "after"}, Unavailable, Lost, id="broken-after"),
    pytest.param({"status": 404}, Refused, Refused, id="404"),
    pytest.param({"status": 410}, Refused, Refused, id="410-version-retired"),
    pytest.param({"status": 403, "message": "Nope"}, Refused, Refused, id="403-permission"),
    pytest.param({"status": 429}, Unavailable, Unavailable, id="429"),
    pytest.param(
        {"status": 403, "headers": {"x-ratelimit-remaining": "0"}},
        Unavailable,
        Unavailable,
        id="403-primary-limit",
    ),
    pytest.param(
        {"status": 403, "headers": {"retry-after": "Mon, 30 Nov 2037 12:00:00 GMT"}},
        Unavailable,
        Unavailable,
        id="403-retry-after-a-date",
    ),
    pytest.param(
        {"status": 403, "message": "You have exceeded a secondary rate limit."},
        Unavailable,
        Unavailable,
        id="403-secondary-limit",
    ),
]


@pytest.mark.parametrize(("fault", "read", "write"), ERRORS)
async def test_every_failure_is_one_of_three_and_is_not_tried_again(
    stage: Stage,
    forge: GitHubForge,
    proposal: Proposal,
    fault: dict[str, object],
    read: type[Exception],
    write: type[Exception],
) -> None:
    stage.fail("POST", COMMENT, **fault)
    with pytest.raises(write) as wrote:
        await forge.reply(proposal, "k", "Text.", again=False)
    assert type(wrote.value).__mro__[1] is not Exception
    assert stage.counts()[f"POST {COMMENT}"] == 1
    stage.fail("POST", PAGE, **fault)
    async with stage.forge() as fresh:  # one that no limit has closed
        with pytest.raises(read):
            await fresh.glance(proposal, [])
    assert stage.counts()[f"POST {PAGE}"] == 1
    if stage.judged.problems:
        stage.judged.expect(str(fault["status"]))


@pytest.mark.parametrize(
    ("after", "pause"), [(7, 7.0), (None, 60.0)], ids=["as-github-says", "a-minute"]
)
async def test_a_secondary_limit_says_how_long_to_wait(
    stage: Stage, forge: GitHubForge, proposal: Proposal, after: int | None, pause: float
) -> None:
    stage.world.faults.add(secondary_limit("POST", COMMENT, after))
    with pytest.raises(Unavailable) as limit:
        await forge.reply(proposal, "k", "Text.", again=False)
    assert limit.value.retry_after == pause


async def test_what_takes_too_long_is_lost_when_it_writes(stage: Stage, proposal: Proposal) -> None:
    stage.fail("*", f"{COMMENT}", delay=5)
    stage.fail("POST", PAGE, delay=5)
    async with stage.forge(deadline=0.2) as hasty:
        with pytest.raises(Lost):
            await hasty.reply(proposal, "k", "Text.", again=False)
        with pytest.raises(Unavailable):
            await hasty.glance(proposal, [])


@pytest.mark.parametrize(
    "error",
    [httpx.ConnectError("refused"), httpx.ConnectTimeout("slow"), httpx.PoolTimeout("full")],
    ids=lambda e: type(e).__name__,
)
async def test_what_was_never_sent_is_not_lost(
    stage: Stage, proposal: Proposal, error: Exception
) -> None:
    down = [False]

    class Down(httpx.ASGITransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            if down[0]:
                raise error
            return await super().handle_async_request(request)

    forge = GitHubForge(
        stage.settings(), stage.words, stage.world.clock.now, transport=Down(stage.judged)
    )
    async with forge:
        await forge.glance(proposal, [])
        down[0] = True
        with pytest.raises(Unavailable):
            await forge.reply(proposal, "k", "Text.", again=False)


async def test_other_tasks_use_the_same_connections(stage: Stage, proposal: Proposal) -> None:
    """githubkit alone would open a client for every call of a task that it does not know."""
    closed = [0]

    class Counting(httpx.ASGITransport):
        async def aclose(self) -> None:
            closed[0] += 1

    forge = GitHubForge(
        stage.settings(), stage.words, stage.world.clock.now, transport=Counting(stage.judged)
    )
    ready, done = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        async with forge:
            ready.set()
            await done.wait()

    holder = asyncio.create_task(hold())
    await ready.wait()
    await forge.glance(proposal, [])
    assert closed == [0]
    done.set()
    await holder
    assert closed == [2]


@pytest.mark.parametrize(
    "part",
    ["", ".", "..", "a/b", "a?b", "a#b", "a b", "a%2fb", "a\\b", "a\n", "é", "a" * 256, "[bot]"],
)
def test_a_part_that_could_be_more_than_a_name_is_refused(part: str) -> None:
    with pytest.raises(Refused):
        route("repos", part)


def test_a_bots_account_is_written_as_github_writes_it() -> None:
    assert route("users", "placet[bot]", 7) == "users/placet%5Bbot%5D/7"


async def test_an_enterprise_server_answers_below_its_own_path(stage: Stage) -> None:
    async with stage.forge(api_url=f"{URL}/api/v3") as forge:
        assert await forge.our_user_id() == stage.app.bot_id
        assert (await forge.policy(stage.repo.id)).text


async def test_our_own_account_is_known_by_its_number(stage: Stage, forge: GitHubForge) -> None:
    assert await forge.slug() == "placet"
    assert await forge.our_user_id() == stage.app.bot_id
    stage.counts()
    assert await forge.our_user_id() == stage.app.bot_id
    assert not stage.counts()


async def test_our_own_account_is_learned_from_the_first_page(
    stage: Stage, forge: GitHubForge
) -> None:
    await forge.slug()
    await forge.publish(stage.proposal(), b"{}\n")
    stage.counts()
    assert await forge.our_user_id() == stage.app.bot_id
    assert not stage.counts()


async def test_settings_never_show_the_key(stage: Stage) -> None:
    shown = repr(stage.settings())
    assert "PRIVATE" not in shown
    assert str(stage.app.id) in shown


async def test_a_key_from_an_environment_with_escaped_lines_works(stage: Stage) -> None:
    escaped = stage.app.private_key.replace("\n", "\\n")
    async with stage.forge(private_key_pem=escaped) as forge:
        assert await forge.slug() == "placet"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"private_key_pem": "no key"}, "private key", id="no-key"),
        pytest.param({"api_url": "http://github.test"}, "https://", id="no-tls"),
        pytest.param({"api_version": "latest"}, "date", id="no-version"),
        pytest.param({"writes_per_minute": 0.0}, "greater than 0", id="no-writes"),
    ],
)
async def test_settings_that_cannot_work_are_refused_at_once(
    stage: Stage, change: dict[str, object], words: str
) -> None:
    settings: ForgeSettings = stage.settings()
    with pytest.raises(ValueError, match=words):
        replace(settings, **change)  # type: ignore[arg-type]


async def test_the_delivery_log_is_read_sent_again_and_shown(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    await stage.world.settled()
    now = stage.world.clock.now()
    listed = await forge.log.since(now - timedelta(hours=1))
    opened = next(d for d in listed if (d.event, d.action) == ("pull_request", "opened"))
    assert opened.repository_id == stage.repo.id
    payload = await forge.log.payload(opened.id)
    assert payload["number"] == proposal.at.number
    await forge.log.redeliver(opened.id)
    await stage.world.settled()
    again = (await forge.log.since(now - timedelta(hours=1)))[0]
    assert (again.guid, again.redelivery) == (opened.guid, True)
    assert await forge.log.since(now + timedelta(hours=1)) == []
