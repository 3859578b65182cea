"""The judge of GraphQL must be able to say no: one wrongness of each kind."""

import copy
import json
from typing import Any

import pytest

from tests.graph_judge import complaints
from webhook_app.github.shown import PAGE

ANN = {"__typename": "User", "login": "ann", "databaseId": 9}
SAID = {
    "fullDatabaseId": "82",
    "body": "/approve",
    "createdAt": "2026-11-30T12:00:00Z",
    "author": ANN,
}
GOOD: dict[str, Any] = {
    "data": {
        "repository": {
            "databaseId": 7,
            "isPrivate": True,
            "pullRequest": {
                "number": 1,
                "headRefOid": "a" * 40,
                "baseRefName": "placet/ledger",
                "state": "OPEN",
                "isDraft": False,
                "merged": False,
                "title": "Add 4",
                "body": "",
                "comments": {"totalCount": 2, "nodes": [SAID, SAID | {"author": None}]},
                "reviews": {"nodes": [{"fullDatabaseId": "81"}]},
                "lastEditedAt": None,
                "timelineItems": {"nodes": [{"createdAt": "2026-11-30T12:00:00Z"}]},
            },
        }
    }
}


def judged(answer: Any, query: str = PAGE, **more: Any) -> str:
    asked = {"query": query, "variables": {}, **more}
    return "\n".join(complaints(json.dumps(asked).encode(), 200, json.dumps(answer).encode()))


def changed(**members: Any) -> Any:
    answer = copy.deepcopy(GOOD)
    answer["data"]["repository"]["pullRequest"] |= members
    return answer


def by(**author: Any) -> Any:
    return changed(comments={"totalCount": 1, "nodes": [SAID | {"author": ANN | author}]})


def test_what_githubs_schema_describes_passes() -> None:
    assert judged(GOOD) == ""


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        pytest.param(changed(state="open"), "is no PullRequestState", id="enum"),
        pytest.param(changed(headRefOid="main"), "is no GitObjectID", id="sha"),
        pytest.param(changed(number="1"), "is no Int", id="number"),
        pytest.param(changed(isDraft=0), "is no Boolean", id="boolean"),
        pytest.param(changed(lastEditedAt="yesterday"), "is no DateTime", id="date"),
        pytest.param(changed(title=None), "may not be null", id="null"),
        pytest.param(changed(more=1), "was not asked for", id="more"),
        pytest.param(changed(comments={}), "totalCount is missing", id="less"),
        pytest.param(by(__typename="Bot", login=None), "may not be null", id="interface"),
        pytest.param(by(__typename="Organization"), "is not", id="no-such-kind"),
        pytest.param(changed(reviews={"nodes": [{"fullDatabaseId": 1}]}), "BigInt", id="big-int"),
        pytest.param(
            changed(timelineItems={"nodes": [{"createdAt": "x"}]}), "createdAt", id="union"
        ),
        pytest.param(GOOD | {"errors": []}, "at least one", id="no-errors"),
        pytest.param(GOOD | {"errors": [{}]}, "has words", id="error-without-words"),
        pytest.param(GOOD | {"more": 1}, "is no member", id="beside-data"),
        pytest.param({"data": None}, "neither data nor errors", id="nothing"),
    ],
)
def test_each_wrong_answer_is_told(answer: Any, says: str) -> None:
    assert says in judged(answer)


@pytest.mark.parametrize(
    ("query", "more", "says"),
    [
        pytest.param("{ viewer { login } }", {}, "Cannot query field", id="field"),
        pytest.param("{ repository(owner: 1) { isPrivate } }", {}, "cannot represent", id="value"),
        pytest.param("{", {}, "Syntax Error", id="syntax"),
        pytest.param(PAGE, {"extra": 1}, "no member of a query", id="member"),
    ],
)
def test_each_wrong_query_is_told(query: str, more: dict[str, Any], says: str) -> None:
    assert says in judged(GOOD, query, **more)


def test_null_is_fine_where_an_error_says_why() -> None:
    errors = [{"message": "no", "path": ["repository", "pullRequest"]}]
    data = {"repository": {"databaseId": 7, "isPrivate": True, "pullRequest": None}}
    assert judged({"data": data, "errors": errors}) == ""
