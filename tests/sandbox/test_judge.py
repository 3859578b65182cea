"""The judge must be able to say no: one wrongness of each kind."""

import json
from typing import Any

import httpx
import pytest

from tests.judge import Judge
from tests.judged import JudgedApp, Message, Receive, Scope, Send
from tests.openapi import reached

pytestmark = pytest.mark.anyio

NEW = {"x-github-api-version": "2026-03-10"}
JSON = {"content-type": "application/json; charset=utf-8"}
R = "/repos/acme/infra"
SHA = "0" * 40
LABEL = {
    "id": 7,
    "node_id": "x",
    "url": "http://127.0.0.1/labels/x",
    "name": "x",
    "description": None,
    "color": "ff0000",
    "default": False,
}
GOOD = ("POST", f"{R}/labels", {"name": "x"}, 201, LABEL)
Exchange = tuple[str, str, Any, int, Any]


def judged(judge: Judge, exchange: Exchange, headers: dict[str, str] = NEW) -> list[str]:
    method, url, asked, status, answered = exchange
    sent = b"" if asked is None else json.dumps(asked).encode()
    got = b"" if answered is None else json.dumps(answered).encode()
    return judge.exchange(method, url, headers, sent, status, JSON, got)


def ref(name: str) -> dict[str, Any]:
    url = "http://127.0.0.1/x"
    return {
        "ref": name, "node_id": "x", "url": url,
        "object": {"type": "commit", "sha": SHA, "url": url},
    }  # fmt: skip


ERROR = {"message": "Not Found", "documentation_url": "https://docs.github.com", "status": "404"}


@pytest.mark.parametrize(
    "exchange",
    [
        pytest.param(GOOD, id="a-label"),
        pytest.param(
            ("GET", f"{R}/git/ref/heads/placet/p/1", None, 200, ref("refs/heads/placet/p/1")),
            id="a-ref-with-slashes",
        ),
        pytest.param(
            ("GET", f"{R}/git/ref/heads%2Fx", None, 200, ref("refs/heads/x")), id="escaped-slash"
        ),
        pytest.param(("GET", f"{R}/labels?per_page=100&page=2", None, 200, []), id="known-query"),
        pytest.param(("GET", f"{R}/labels/x", None, 404, ERROR), id="error-that-repeats-status"),
        pytest.param(
            ("PUT", f"{R}/pulls/1/merge", {"sha": SHA}, 409, ERROR), id="conflict-with-status"
        ),
        pytest.param(("DELETE", f"{R}/git/refs/heads/x", None, 204, None), id="no-content"),
        pytest.param(("GET", f"{R}/labels", None, 401, ERROR), id="bad-credentials-anywhere"),
    ],
)
def test_what_github_describes_passes(judge: Judge, exchange: Exchange) -> None:
    assert judged(judge, exchange) == []


def without(value: dict[str, Any], name: str) -> dict[str, Any]:
    return {k: v for k, v in value.items() if k != name}


CHECK = {"conclusions": "success"}


@pytest.mark.parametrize(
    ("exchange", "says"),
    [
        pytest.param(
            ("GET", f"{R}/labels?colour=red", None, 200, []),
            "'colour' is not a", id="unknown-query",
        ),
        pytest.param(
            ("GET", f"{R}/labels?page=one", None, 200, []), "'page' .: \"one\"", id="query-type"
        ),
        pytest.param(
            ("GET", f"{R}/labels?page=1&page=2", None, 200, []), "twice", id="query-given-twice"
        ),
        pytest.param(
            ("GET", f"{R}/pulls/one/merge", None, 204, None), "path 'pull_number'", id="path-type"
        ),
        pytest.param(
            ("POST", f"{R}/labels", {"name": "x", "color": "f", "colour": "f"}, 201, LABEL),
            "'colour' was unexpected", id="misspelt-body-member",
        ),
        pytest.param(
            ("PATCH", f"{R}/check-runs/1", CHECK, 404, ERROR),
            "'conclusions' was unexpected", id="misspelt-member-beside-alternatives",
        ),
        pytest.param(
            ("POST", f"{R}/labels", {"color": "f"}, 201, LABEL),
            '"name" is a required', id="missing-body-member",
        ),
        pytest.param(("POST", f"{R}/labels", None, 201, LABEL), "body is missing", id="no-body"),
        pytest.param(
            ("GET", f"{R}/labels", {"a": 1}, 200, []), "operation that has none", id="body-on-get"
        ),
        pytest.param(
            ("POST", f"{R}/labels", {"name": "x"}, 200, LABEL),
            "status is not documented", id="undocumented-status",
        ),
        pytest.param(
            ("POST", f"{R}/labels", {"name": "x"}, 201, without(LABEL, "color")),
            '"color" is a required', id="missing-response-member",
        ),
        pytest.param(
            ("POST", f"{R}/labels", {"name": "x"}, 201, {**LABEL, "colour": "f"}),
            "'colour' was unexpected", id="invented-response-member",
        ),
        pytest.param(
            ("GET", f"{R}/labels", None, 401, {**ERROR, "hint": "x"}),
            "'hint' was unexpected", id="invented-error-member",
        ),
        pytest.param(
            ("GET", f"{R}/labels", None, 200, [{**LABEL, "url": "/labels/a b"}]),
            "0/url", id="relative-url",
        ),
        pytest.param(
            ("DELETE", f"{R}/git/refs/heads/x", None, 204, {"a": 1}),
            "body where none", id="body-where-none-is-documented",
        ),
        pytest.param(("GET", f"{R}/labels", None, 200, None), "not JSON", id="no-answer-body"),
        pytest.param(("GET", f"{R}/colours", None, 200, []), "no such op", id="unknown-route"),
    ],
)  # fmt: skip
def test_each_wrongness_is_told(judge: Judge, exchange: Exchange, says: str) -> None:
    assert says in "\n".join(judged(judge, exchange))


def test_a_version_github_does_not_have_is_no_operation(judge: Judge) -> None:
    assert judged(judge, GOOD, {"x-github-api-version": "2031-01-01"})
    assert not judged(judge, GOOD, {})


def test_each_version_has_its_own_members(judge: Judge) -> None:
    described = judge.versions
    pull = [d.document["components"]["schemas"]["pull-request"] for d in described.values()]
    assert "merge_commit_sha" not in pull[0]["properties"]
    assert "merge_commit_sha" in pull[1]["properties"]


def test_an_answer_in_another_media_type_is_told(judge: Judge) -> None:
    html = {"content-type": "text/html"}
    assert judge.exchange("GET", f"{R}/labels", NEW, b"", 200, html, b"<p>")


PING = {"zen": "x", "hook_id": 1}


@pytest.mark.parametrize(
    ("event", "body", "says"),
    [
        pytest.param("push", {"ref": "x"}, '"after" is a required', id="missing-member"),
        pytest.param("ping", {**PING, "hook_ids": 1}, "'hook_ids' was un", id="invented-member"),
        pytest.param("party", {}, "no such webhook", id="unknown-event"),
        pytest.param("check_run", {"action": "danced"}, "no such webhook", id="unknown-action"),
        pytest.param("ping", [], "not of type", id="not-an-object"),
    ],
)
def test_each_wrongness_of_a_webhook_is_told(
    judge: Judge, event: str, body: Any, says: str
) -> None:
    assert says in "\n".join(judge.webhook(event, body))


def test_members_are_closed_deep_inside_parts_that_stand_apart(judge: Judge) -> None:
    issue = {"user": {"login": "ann", "user_view_type": "public", "shoe_size": 44}}
    wrong = "\n".join(judge.webhook("issue_comment", {"action": "created", "issue": issue}))
    assert "issue/user: Additional properties are not allowed ('shoe_size'" in wrong
    assert "user_view_type" not in wrong


def test_a_delivery_without_its_headers_is_told(judge: Judge) -> None:
    assert "x-hub-signature-256 is missing" in "\n".join(judge.webhook("ping", PING, {}))


def answering(status: int, body: bytes) -> Any:
    async def app(_scope: Scope, receive: Receive, send: Send) -> None:
        message: Message = {"more_body": True}
        while message.get("more_body"):
            message = await receive()
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return app


async def calling(app: JudgedApp, method: str, path: str, **headers: str) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x") as http:
        await http.request(method, path, headers=headers)


@pytest.mark.parametrize(
    "path", ["/", "/acme/infra/pull/1", "/acme/infra.git/info/refs", "/_sandbox/x"]
)
async def test_pages_git_and_controls_are_not_judged(judge: Judge, path: str) -> None:
    app = JudgedApp(answering(200, b"[]"), judge)
    await calling(app, "GET", path)
    assert (app.problems, app.unverified) == ([], set())


async def test_a_program_that_asks_for_a_page_is_unverified(judge: Judge) -> None:
    app = JudgedApp(answering(200, b"[]"), judge)
    await calling(app, "GET", "/acme/infra", Authorization="Bearer x")
    assert app.unverified == {"GET /acme/infra"}


async def test_an_undescribed_route_is_unverified_not_passed(judge: Judge) -> None:
    app = JudgedApp(answering(200, b"[]"), judge)
    await calling(app, "GET", f"{R}/colours")
    assert app.unverified == {f"GET {R}/colours"}


@pytest.mark.parametrize("prefix", ["", "/api/v3"])
async def test_a_wrong_answer_is_a_problem(judge: Judge, prefix: str) -> None:
    app = JudgedApp(answering(200, b"[{}]"), judge)
    await calling(app, "GET", f"{prefix}{R}/labels?x=1")
    assert len(app.expect("'x' is not a parameter")) == 1
    assert len(app.expect("is a required property")) == len(LABEL)
    assert app.problems == []


async def test_a_receiver_of_webhooks_is_judged_too(judge: Judge) -> None:
    app = JudgedApp(answering(202, b""), judge)
    await calling(app, "POST", "/webhook", **{"X-GitHub-Event": "ping"})
    assert app.expect("body is not JSON")


def test_expecting_a_problem_that_is_not_there_fails(judge: Judge) -> None:
    with pytest.raises(AssertionError):
        JudgedApp(answering(200, b""), judge).expect("x")


def test_beside_a_schema_stands_only_what_it_refers_to() -> None:
    def to(name: str) -> dict[str, str]:
        return {"$ref": f"#/components/schemas/{name}"}

    named: dict[str, Any] = {
        "a": {"properties": {"next": to("b")}},
        "b": {"anyOf": [{"type": "null"}, to("a")]},
        "c": {"type": "string"},
    }
    beside = {"components": {"schemas": named}}
    assert set(reached({"items": to("a")}, beside)["components"]["schemas"]) == {"a", "b"}
    assert reached({"type": "string"}, beside) == {"components": {"schemas": {}}}
