"""The sandbox's GraphQL: GitHub's own schema decides what may be asked and what is answered."""

from datetime import timedelta
from typing import Any

import pytest

from tests.sandbox.stage import REPO, Stage

pytestmark = pytest.mark.anyio

WORDS = """\
query Words($number: Int!) {
  repository(owner: "acme", name: "approvals") {
    databaseId
    isPrivate
    pullRequest(number: $number) {
      title
      body
      state
      lastEditedAt
      comments { totalCount }
      reviews(last: 2) { nodes { fullDatabaseId } }
      timelineItems(itemTypes: [RENAMED_TITLE_EVENT], last: 1) {
        nodes { ... on RenamedTitleEvent { createdAt previousTitle currentTitle } }
      }
    }
  }
}
"""


@pytest.fixture
async def number(stage: Stage) -> int:
    return int((await stage.pull())["number"])


async def asked(stage: Stage, number: int, **more: Any) -> dict[str, Any]:
    body = {"query": WORDS, "variables": {"number": number}}
    answer = await stage.ask("POST", "/graphql", body, **more)
    assert answer.status_code == 200
    value: dict[str, Any] = answer.json()
    return value


async def test_it_tells_when_words_were_changed_though_they_are_back(
    stage: Stage, number: int
) -> None:
    ann, world = stage.world.person("ann"), stage.world
    before = (await asked(stage, number))["data"]["repository"]["pullRequest"]
    assert before["lastEditedAt"] is None
    assert before["timelineItems"] == {"nodes": []}
    world.clock.freeze()
    for title, body in (("Lie", "A lie."), (before["title"], before["body"])):
        world.clock.advance(timedelta(seconds=10))
        await ann.edit_pull(REPO, number, title=title, body=body)
    after = (await asked(stage, number))["data"]["repository"]["pullRequest"]
    now = world.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    back = {"createdAt": now, "previousTitle": "Lie", "currentTitle": before["title"]}
    assert after == before | {"lastEditedAt": now, "timelineItems": {"nodes": [back]}}


async def test_what_changes_nothing_is_no_edit(stage: Stage, number: int) -> None:
    pull = stage.world.repository(REPO).pulls[number]
    await stage.world.person("ann").edit_pull(REPO, number, title=pull.title, body=pull.body)
    found = (await asked(stage, number))["data"]["repository"]["pullRequest"]
    assert (found["lastEditedAt"], found["timelineItems"]["nodes"]) == (None, [])


async def test_what_is_not_there_is_null_beside_an_error(stage: Stage) -> None:
    told = await asked(stage, 999)
    assert told["data"]["repository"]["pullRequest"] is None
    assert [(e["type"], e["path"]) for e in told["errors"]] == [
        ("NOT_FOUND", ["repository", "pullRequest"])
    ]


async def test_a_repository_out_of_reach_is_not_found(stage: Stage, number: int) -> None:
    stage.world.select_repositories(stage.installation, remove=[REPO])
    told = await asked(stage, number)
    assert told["data"] == {"repository": None}
    assert [e["type"] for e in told["errors"]] == ["NOT_FOUND"]


async def test_without_the_permission_a_pull_request_is_forbidden(
    stage: Stage, number: int
) -> None:
    for token in stage.world.state.tokens.values():
        token.permissions = {"contents": "write", "metadata": "read"}
    told = await asked(stage, number)
    assert told["data"]["repository"]["pullRequest"] is None
    assert [(e["type"], e["message"]) for e in told["errors"]] == [
        ("FORBIDDEN", "Resource not accessible by integration")
    ]


async def test_what_the_schema_does_not_know_is_refused_without_data(stage: Stage) -> None:
    answer = await stage.ask("POST", "/graphql", {"query": "{ repository(id: 1) { editors } }"})
    assert answer.status_code == 200
    assert answer.json().keys() == {"errors"}
    stage.judged.expect("Cannot query field 'editors'")
    stage.judged.problems.clear()


@pytest.mark.parametrize("token", ["", "ghs_made-up"])
async def test_it_answers_nobody_unknown(stage: Stage, token: str) -> None:
    body = {"query": WORDS, "variables": {"number": 1}}
    assert (await stage.ask("POST", "/graphql", body, as_=token)).status_code == 401


async def test_an_apps_own_key_is_no_token(stage: Stage) -> None:
    body = {"query": WORDS, "variables": {"number": 1}}
    assert (await stage.ask("POST", "/graphql", body, as_=stage.jwt())).status_code == 401


async def test_the_route_log_counts_it_by_the_name_of_the_query(stage: Stage, number: int) -> None:
    await asked(stage, number)
    assert stage.world.log.counts()["POST /graphql#Words"] == 1
    assert not stage.world.log.unknown()
