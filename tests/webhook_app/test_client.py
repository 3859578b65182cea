"""The client for agents, in both its forms: what it sends, and what it makes of any answer."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from webhook_app.client import AsyncPlacet, Placet, PlacetError, StillWaiting

URL = "http://placet.test"
Answer = Callable[[httpx.Request], httpx.Response]
Ask = Callable[[str, tuple[Any, ...], dict[str, Any], Answer], Any]


def direct(method: str, given: tuple[Any, ...], named: dict[str, Any], answer: Answer) -> Any:
    with Placet(URL, "t", session="s-1", transport=httpx.MockTransport(answer)) as placet:
        return getattr(placet, method)(*given, **named)


def awaited(method: str, given: tuple[Any, ...], named: dict[str, Any], answer: Answer) -> Any:
    async def asked() -> Any:
        transport = httpx.MockTransport(answer)
        async with AsyncPlacet(URL, "t", session="s-1", transport=transport) as placet:
            return await getattr(placet, method)(*given, **named)

    return asyncio.run(asked())


both = pytest.mark.parametrize("ask", [direct, awaited])


@both
@pytest.mark.parametrize(
    ("method", "given", "named", "sent"),
    [
        ("status", ("p_1",), {}, "GET /v1/proposals/p_1"),
        ("status", ("../agents",), {}, "GET /v1/proposals/..%2Fagents"),
        ("explain", ("p_1",), {}, "GET /v1/proposals/p_1/explanation"),
        ("withdraw", ("p_1",), {"reason": "no"}, "POST /v1/proposals/p_1/withdraw"),
        ("undo", ("p_1",), {}, "POST /v1/proposals/p_1/undo"),
        ("discard", ("d_1",), {}, "POST /v1/drafts/d_1/discard"),
        ("turn", ("look",), {}, "POST /v1/turns"),
        ("propose", ("a.b", {"n": 1}), {"key": "k"}, "POST /v1/proposals"),
        ("call", ("a.b", {"n": 1}), {"confirm_token": "c"}, "POST /v1/calls"),
    ],
)
def test_both_clients_send_the_same(
    ask: Ask, method: str, given: tuple[Any, ...], named: dict[str, Any], sent: str
) -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"ok": True})

    assert ask(method, given, named, answer) == {"ok": True}
    [request] = seen
    assert f"{request.method} {request.url.raw_path.decode()}" == sent
    assert request.headers["authorization"] == "Bearer t"
    assert request.headers["placet-session"] == "s-1"
    assert request.headers.get("idempotency-key") == named.get("key")
    body = json.loads(request.content or "{}")
    assert body.get("confirm_token") == named.get("confirm_token")


@both
@pytest.mark.parametrize(
    ("status", "said", "code"),
    [
        pytest.param(422, {"code": "x", "detail": "y", "hint": "z"}, "x", id="no"),
        pytest.param(502, "<html>", "not_placet", id="a-proxy"),
        pytest.param(200, ["x"], "not_placet", id="a-list"),
    ],
)
def test_an_answer_that_is_none_says_who_must_act(
    ask: Ask, status: int, said: Any, code: str
) -> None:
    with pytest.raises(PlacetError) as caught:
        ask("status", ("p_1",), {}, lambda _: httpx.Response(status, json=said))
    assert (caught.value.code, caught.value.status) == (code, status)
    assert str(caught.value).startswith(f"{code}: {caught.value.message}")


@both
def test_no_answer_is_told_apart_from_a_refusal(ask: Ask) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("", request=request)

    with pytest.raises(PlacetError) as caught:
        ask("tools", (), {}, answer)
    assert (caught.value.code, caught.value.status) == ("unreachable", 0)


@both
def test_waiting_ends_when_it_is_over_or_when_time_is_up(ask: Ask) -> None:
    stood = ["planning", "awaiting_approval", "applied"]

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"proposal": "p_1", "status": stood.pop(0)})

    assert ask("wait", ("p_1", 60), {"every": 0}, answer)["status"] == "applied"
    stood.append("awaiting_approval")
    with pytest.raises(StillWaiting, match="p_1 is awaiting_approval"):
        ask("wait", ("p_1", 0), {}, answer)


@both
def test_a_list_is_read_out_of_its_answer(ask: Ask) -> None:
    said = {"proposals": [{"proposal": "p_1"}]}
    assert ask("proposals", (), {}, lambda _: httpx.Response(200, json=said)) == said["proposals"]


@pytest.mark.parametrize("client", [Placet, AsyncPlacet])
@pytest.mark.parametrize(
    ("url", "token", "code"),
    [
        pytest.param("http://[::1", "t", "bad_url", id="address"),
        pytest.param(URL, "t\r\nX: y", "bad_header", id="token"),
    ],
)
def test_what_cannot_be_sent_is_refused_at_once(
    client: Callable[[str, str], object], url: str, token: str, code: str
) -> None:
    with pytest.raises(PlacetError) as caught:
        client(url, token)
    assert caught.value.code == code


def test_a_session_that_no_header_holds_is_refused_and_not_left_out() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json={}))
    with (
        Placet(URL, "t", transport=transport) as placet,
        pytest.raises(PlacetError, match="bad_header: Placet-Session"),
    ):
        placet.within("zwölf").turn("look")


def test_conversations_share_connections_and_are_told_apart() -> None:
    seen: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("placet-session"))
        return httpx.Response(200, json={})

    with Placet(URL, "t", transport=httpx.MockTransport(answer)) as placet:
        first, second = placet.within("one"), placet.within("two")
        for each in (first, second, placet, first):
            each.turn("look")
    assert seen == ["one", "two", None, "one"]
