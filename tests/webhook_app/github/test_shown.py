"""The page by GraphQL: the dates of what was done to its words, or no answer at all."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from proposals.plan import Proposal
from proposals.ports import Refused, Unavailable
from tests.webhook_app.github.stage import REPO, Stage
from webhook_app.github import GitHubForge
from webhook_app.github.kept import graphql
from webhook_app.github.shapes import Comment
from webhook_app.github.tied_facts import edited

pytestmark = pytest.mark.anyio

Change = Callable[[Any], Any]
MINUTE = timedelta(minutes=1)


class Changed(httpx.ASGITransport):
    """A GitHub whose answers to queries are changed on the way."""

    def __init__(self, app: Any, change: Change) -> None:
        super().__init__(app)
        self.change = change

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        if request.url.path != "/graphql":
            return response
        told = self.change(json.loads(await response.aread()))
        content = told if isinstance(told, bytes) else json.dumps(told).encode()
        headers = {"date": response.headers["date"], "content-type": "application/json"}
        return httpx.Response(200, headers=headers, content=content)


def changing(stage: Stage, change: Change) -> GitHubForge:
    transport = Changed(stage.judged, change)
    return GitHubForge(stage.settings(), stage.words, stage.world.clock.now, transport=transport)


def page(**members: Any) -> Change:
    def change(told: Any) -> Any:
        told["data"]["repository"]["pullRequest"] |= members
        return told

    return change


def repository(**members: Any) -> Change:
    def change(told: Any) -> Any:
        told["data"]["repository"] |= members
        return told

    return change


def without(name: str) -> Change:
    def change(told: Any) -> Any:
        del told["data"]["repository"]["pullRequest"][name]
        return told

    return change


def errors(kind: str | None, message: str = "It went wrong.") -> Change:
    said = {"message": message} | ({"type": kind} if kind else {})
    return lambda told: told | {"errors": [said]}


@pytest.mark.parametrize(
    ("change", "error"),
    [
        pytest.param(errors(None), Unavailable, id="data-and-errors"),
        pytest.param(lambda told: told | {"errors": []}, Unavailable, id="data-and-no-error-named"),
        pytest.param(lambda told: told | {"errors": None}, Unavailable, id="data-and-errors-null"),
        pytest.param(lambda _: {"errors": [{"message": "x"}]}, Unavailable, id="errors-alone"),
        pytest.param(lambda _: {"data": None}, Unavailable, id="data-null"),
        pytest.param(lambda _: {}, Unavailable, id="nothing"),
        pytest.param(lambda _: [], Unavailable, id="a-list"),
        pytest.param(lambda _: b"<html>", Unavailable, id="no-json"),
        pytest.param(lambda _: b"[" * 99_999, Unavailable, id="too-deep"),
        pytest.param(lambda _: {"data": {"repository": None}}, Unavailable, id="repository-null"),
        pytest.param(repository(pullRequest=None), Unavailable, id="page-null"),
        pytest.param(repository(databaseId=1), Unavailable, id="another-repository"),
        pytest.param(repository(databaseId=None), Unavailable, id="repository-without-id"),
        pytest.param(repository(isPrivate=False), Refused, id="public"),
        pytest.param(repository(isPrivate="yes"), Unavailable, id="private-in-words"),
        pytest.param(page(number=99), Unavailable, id="another-page"),
        pytest.param(without("lastEditedAt"), Unavailable, id="without-the-date"),
        pytest.param(page(lastEditedAt="today"), Unavailable, id="date-in-words"),
        pytest.param(page(lastEditedAt="2026-11-30T12:00:00"), Unavailable, id="date-of-no-zone"),
        pytest.param(page(lastEditedAt=1_796_040_981), Unavailable, id="date-as-a-number"),
        pytest.param(without("timelineItems"), Unavailable, id="without-the-renamings"),
        pytest.param(page(timelineItems={"nodes": None}), Unavailable, id="renamings-null"),
        pytest.param(page(timelineItems={"nodes": [None]}), Unavailable, id="renaming-null"),
        pytest.param(page(timelineItems={"nodes": [{}]}), Unavailable, id="another-thing"),
        pytest.param(page(reviews=None), Unavailable, id="reviews-null"),
        pytest.param(page(state="open"), Unavailable, id="a-state-of-rest"),
        pytest.param(page(isDraft=0), Unavailable, id="draft-as-a-number"),
        pytest.param(page(merged=None), Unavailable, id="merged-null"),
        pytest.param(page(headRefOid="main"), Unavailable, id="head-that-is-no-commit"),
        pytest.param(page(body=None), Unavailable, id="body-null"),
        pytest.param(errors("NOT_FOUND"), Unavailable, id="not-found"),
        pytest.param(errors("FORBIDDEN"), Refused, id="forbidden"),
        pytest.param(errors("INTERNAL"), Unavailable, id="their-fault"),
    ],
)
async def test_an_answer_that_is_not_whole_is_none(
    stage: Stage, proposal: Proposal, change: Change, error: type[Exception]
) -> None:
    async with changing(stage, change) as forge:
        with pytest.raises(error):
            await forge.look(proposal, [], frozenset())


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(errors("RATE_LIMITED", "Too many points"), id="primary"),
        pytest.param(errors(None, "You have exceeded a secondary rate limit."), id="secondary"),
    ],
)
async def test_a_limit_that_is_told_with_status_200_is_waited_for(
    stage: Stage, proposal: Proposal, change: Change
) -> None:
    async with changing(stage, change) as forge:
        with pytest.raises(Unavailable) as limit:
            await forge.glance(proposal, [])
        assert limit.value.retry_after == 60
        with pytest.raises(Unavailable, match="asked to wait"):
            await forge.policy(proposal.repository)


async def test_warnings_beside_the_data_are_no_errors(stage: Stage, proposal: Proposal) -> None:
    async with changing(stage, lambda told: told | {"extensions": {"warnings": []}}) as forge:
        assert (await forge.glance(proposal, [])).is_open


@pytest.mark.parametrize(
    "words",
    [
        pytest.param({"body": "Adds nothing."}, id="text"),
        pytest.param({"title": "Nothing"}, id="title"),
        pytest.param({"title": "Nothing", "body": "Adds nothing."}, id="both"),
    ],
)
async def test_the_last_edit_is_seen_though_the_words_are_back(
    stage: Stage, forge: GitHubForge, proposal: Proposal, words: dict[str, str]
) -> None:
    assert (await forge.glance(proposal, [])).edited is None
    stage.world.clock.freeze()
    pull, ann = stage.repo.pulls[proposal.at.number], stage.world.person("ann")
    before = {name: getattr(pull, name) for name in words}
    for change in (words, before):
        stage.world.clock.advance(MINUTE)
        await ann.edit_pull(REPO, pull.number, **change)
    stage.world.clock.advance(MINUTE)
    sight = await forge.glance(proposal, [])
    assert sight.view_intact
    assert sight.edited == stage.world.clock.now() - MINUTE


async def test_our_own_restoring_is_an_edit_no_later_than_it_says(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    stage.world.clock.freeze()
    ann = stage.world.person("ann")
    await ann.edit_pull(REPO, proposal.at.number, title="Nothing", body="Adds nothing.")
    stage.world.clock.advance(MINUTE)
    restored = await forge.restore(proposal)
    sight = await forge.glance(proposal, [])
    assert sight.edited == restored


async def test_an_answer_from_before_a_delivered_review_is_none(
    stage: Stage, forge: GitHubForge, proposal: Proposal
) -> None:
    before = stage.world.moment()
    review = await stage.world.person("ann").review(REPO, proposal.at.number, "APPROVE")
    voice = stage.said("ann", f"review:{review.id}", head=proposal.at.head)
    stage.fail("POST", "/graphql", stale=before)
    with pytest.raises(Unavailable, match="before a review"):
        await forge.look(proposal, [voice], frozenset())
    assert (await forge.look(proposal, [voice], frozenset())).is_open


@pytest.mark.parametrize(
    ("api", "where"),
    [
        pytest.param("https://api.github.com", "https://api.github.com/graphql", id="github.com"),
        pytest.param("https://g.test/api/v3/", "https://g.test/api/graphql", id="enterprise"),
        pytest.param("https://g.test/api/v3", "https://g.test/api/graphql", id="without-a-slash"),
        pytest.param("http://127.0.0.1:8000/", "http://127.0.0.1:8000/graphql", id="sandbox"),
    ],
)
def test_where_graphql_is(api: str, where: str) -> None:
    assert str(graphql(httpx.URL(api))) == where


async def test_an_enterprise_server_is_asked_beside_its_v3(
    stage: Stage, proposal: Proposal
) -> None:
    stage.counts()
    async with GitHubForge(
        stage.settings(api_url="https://api.github.test/api/v3"),
        stage.words,
        stage.world.clock.now,
        transport=httpx.ASGITransport(stage.judged),
    ) as forge:
        assert (await forge.glance(proposal, [])).is_open
    assert [e.path for e in stage.world.log.entries if e.template == "/graphql#Page"] == [
        "/api/graphql"
    ]


@pytest.mark.parametrize(
    ("after", "seen"),
    [
        pytest.param(timedelta(0), False, id="never"),
        pytest.param(timedelta(seconds=1), False, id="a-second-that-githubs-dates-differ-by"),
        pytest.param(timedelta(seconds=2), True, id="edited"),
    ],
)
def test_a_comments_two_dates_tell_of_an_edit(after: timedelta, *, seen: bool) -> None:
    made = datetime(2026, 11, 30, 12, tzinfo=UTC)
    comment = Comment(id=1, created_at=made, updated_at=made + after)
    assert edited(comment) == (made + after if seen else None)


@pytest.mark.parametrize("lacks", ["created_at", "updated_at"])
def test_a_comment_without_its_dates_tells_nothing(lacks: str) -> None:
    made = datetime(2026, 11, 30, 12, tzinfo=UTC)
    dates = {"created_at": made, "updated_at": made} | {lacks: None}
    with pytest.raises(Refused, match="no dates"):
        edited(Comment(id=1, **dates))  # type: ignore[arg-type]
