"""HTTP APIs as upstreams: a real server with ETags on a port of this machine."""

import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from proposals.canonical import JSON
from proposals.memo import Memo
from proposals.ports import Done, Order, Outcome, PlanFailed, Reading
from proposals.runner import Runner
from proposals.tools import BadDeclaration, Catalog, declared
from proposals.upstreams import Heard, Unreached, Unreturned
from tests.shop import Shop, served
from webhook_app.settings import Upstream
from webhook_app.toolkits.http import HttpUpstreams
from webhook_app.toolkits.recipes import RecipeToolkit

pytestmark = pytest.mark.anyio

ITEM: dict[str, Any] = {
    "id": {"type": "string"},
    "size": {"type": "integer"},
    "etag": {"type": "string"},
    "tags": {"type": "array"},
}
READ = {"effect": "read", "method": "GET", "path": "/items/{id}", "absent": "^404"}
PUT = {
    "effect": "write",
    "method": "PUT",
    "path": "/items/{id}",
    "headers": {"etag": "If-Match", "key": "Idempotency-Key"},
    "key_argument": "key",
    "forbid": ["etag"],
    "apply": {"set": {"etag": {"from": "/pre/etag"}}},
    "pre": [
        {
            "id": "old",
            "tool": "api.get",
            "args": {"id": {"from": "/arguments/id"}},
            "take": "/body/size",
            "keep": True,
        },
        {
            "id": "etag",
            "tool": "api.get",
            "args": {"id": {"from": "/arguments/id"}},
            "take": "/headers/etag",
        },
    ],
    "effects": [
        {
            "what": {"from": "/arguments/id"},
            "before": {"from": "/pre/old"},
            "after": {"from": "/arguments/size"},
        }
    ],
    "verify": [
        {
            "tool": "api.get",
            "args": {"id": {"from": "/arguments/id"}},
            "take": "/body/size",
            "equals": {"from": "/arguments/size"},
            "within": "2s",
        }
    ],
    "undo": [
        {
            "tool": "api.put",
            "args": {"id": {"from": "/arguments/id"}, "size": {"from": "/pre/old"}},
        }
    ],
}


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
def address(shop: Shop) -> Iterator[str]:
    with served(shop) as address:
        yield address


def catalog(**more: Any) -> Catalog:
    arguments = {"properties": ITEM | {"key": {"type": "string"}}}
    tools = {"get": READ, "put": PUT, **more}
    said = {name: {"arguments": arguments, "timeout": "1s", **tool} for name, tool in tools.items()}
    return Catalog.of(declared({"api": said}, {"api": "http"}))


@asynccontextmanager
async def opened(address: str, **more: Any) -> AsyncIterator[HttpUpstreams]:
    upstreams = HttpUpstreams({"api": Upstream(base_url=address, **more)}, {"KEY": "k-1"})
    try:
        yield upstreams
    finally:
        await upstreams.close()


class Till:
    """A runner over the API."""

    def __init__(self, upstreams: HttpUpstreams) -> None:
        self.tools = catalog()
        self.put = self.tools.find("api.put")
        toolkits: dict[str, Any] = {}
        self.runner = Runner(toolkits)
        toolkits["http"] = RecipeToolkit({"http": upstreams}, self.tools.find, self.runner.read)

    async def plan(self, size: int = 7, name: str = "a") -> Order:
        pinned = await self.runner.plan_twice(self.put, {"id": name, "size": size})
        return Order(pinned.plan, "p_1", pinned.kept)


@pytest.fixture
async def till(address: str) -> AsyncIterator[Till]:
    async with opened(address, headers_env={"Authorization": "KEY"}) as upstreams:
        yield Till(upstreams)


async def read(address: str, path: str = "/items/{id}", **arguments: JSON) -> Heard:
    return await reading(address, {"path": path}, **arguments)


async def reading(address: str, said: dict[str, str], **arguments: JSON) -> Heard:
    async with opened(address, max_answer=1_000_000) as upstreams:
        tool = catalog(get={**READ, **said}).find("api.get")
        return await upstreams.call(tool, arguments, None)


async def test_the_etag_that_was_planned_with_is_sent_with_the_change(
    till: Till, shop: Shop
) -> None:
    order = await till.plan()
    assert order.plan["preconditions"] == {"old": {"value": 1}, "etag": {"value": '"1"'}}
    returned = await till.runner.apply(till.put, order)
    assert (returned.outcome, shop.sizes["a"]) == (Outcome.DONE, 7)
    method, path, headers, body = shop.seen[-1]
    assert (method, path, json.loads(body)) == ("PUT", "/v1/items/a", {"size": 7})
    assert (headers["if-match"], headers["idempotency-key"]) == ('"1"', "p_1")
    assert headers["authorization"] == "k-1"
    checked = await till.runner.verify(till.put, order, returned.result)
    assert checked.reading is Reading.VERIFIED


async def test_what_changed_right_before_the_change_stops_it(till: Till, shop: Shop) -> None:
    order = await till.plan()
    shop.versions["a"] += 1
    returned = await till.runner.apply(till.put, order)
    assert (returned.outcome, shop.sizes["a"]) == (Outcome.DID_NOTHING, 1)
    assert "412 Precondition Failed" in returned.why


async def test_an_agent_does_not_set_what_the_operator_sets(till: Till) -> None:
    for name in ("etag", "key"):
        with pytest.raises(ValueError, match=f'"{name}"'):
            await till.runner.plan_twice(till.put, {"id": "a", "size": 7, name: "x"})


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        pytest.param("400", Outcome.DID_NOTHING, id="the-api-says-no"),
        pytest.param("428", Outcome.DID_NOTHING, id="a-condition-is-missing"),
        pytest.param("303", Outcome.LOST, id="a-redirect-may-mean-done"),
        pytest.param("500", Outcome.LOST, id="a-fault-may-come-after-the-change"),
        pytest.param("504", Outcome.LOST, id="a-gateway-does-not-know"),
    ],
)
async def test_only_a_clear_no_did_nothing(
    till: Till, shop: Shop, fault: str, outcome: Outcome
) -> None:
    order = await till.plan()
    shop.fault = fault
    assert (await till.runner.apply(till.put, order)).outcome is outcome
    assert [seen[0] for seen in shop.seen].count("PUT") == 1


async def test_a_world_that_is_slow_to_show_it_is_waited_for(till: Till, shop: Shop) -> None:
    order = await till.plan()
    returned = await till.runner.apply(till.put, order)
    shop.stale = 2
    checked = await till.runner.verify(till.put, order, returned.result)
    assert checked.reading is Reading.VERIFIED


async def test_an_undo_carries_the_etag_of_its_own_day(till: Till, shop: Shop) -> None:
    order = await till.plan()
    returned = await till.runner.apply(till.put, order)
    checked = await till.runner.verify(till.put, order, returned.result)
    done = Done(order.plan, returned.result, {"after": checked.after}, order.kept)
    pinned = await till.runner.plan_twice(till.put, order.plan["arguments"], done)
    undo = Order(pinned.plan, "p_2", pinned.kept)
    returned = await till.runner.apply(till.put, undo)
    assert (returned.outcome, shop.sizes["a"]) == (Outcome.DONE, 1)
    assert shop.seen[-1][2]["if-match"] == '"2"'
    assert (await till.runner.verify(till.put, undo, returned.result)).reading is Reading.VERIFIED


async def test_what_is_not_there_is_no_plan(till: Till) -> None:
    with pytest.raises(PlanFailed, match="there is nothing at '/pre/etag'"):
        await till.plan(name="nobody")


async def test_a_value_stays_in_its_place_in_the_path(address: str, shop: Shop) -> None:
    assert (await read(address, id="b/../c")).value["body"]["size"] == 2  # type: ignore[index, call-overload]
    assert shop.seen[-1][1] == "/v1/items/b%2F..%2Fc"
    await read(address, id="a?b=c#d%2e\n")
    assert shop.seen[-1][1] == "/v1/items/a%3Fb%3Dc%23d%252e%0A"


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("..", id="the-way-up"),
        pytest.param(".", id="here"),
        pytest.param("", id="nothing"),
        pytest.param(None, id="null"),
        pytest.param({"a": 1}, id="an-object"),
    ],
)
async def test_a_value_that_would_leave_its_place_is_never_sent(
    address: str, shop: Shop, value: JSON
) -> None:
    with pytest.raises(Unreached):
        await read(address, id=value)
    assert shop.seen == []


async def test_two_values_cannot_make_a_way_up_together(address: str, shop: Shop) -> None:
    with pytest.raises(Unreached, match="leaves its place"):
        await read(address, "/items/{id}{size}/x", id=".", size=".")
    assert shop.seen == []


async def test_what_is_left_of_a_read_is_its_query(address: str, shop: Shop) -> None:
    await read(address, id="a", size=3, tags=["x&y", True])
    assert shop.seen[-1][1] == "/v1/items/a?size=3&tags=x%26y&tags=true"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        pytest.param("/moved", "302 Found: redirects are not followed", id="redirect"),
        pytest.param("/items/none", '404 Not Found: {"error":"no such item"}', id="not-found"),
    ],
)
async def test_an_error_is_told_in_the_api_s_own_words(address: str, path: str, words: str) -> None:
    assert (await read(address, path)).error == words


@pytest.mark.parametrize(
    ("path", "words"),
    [
        pytest.param("/big", "larger than 1,000,000 bytes", id="too-large"),
        pytest.param("/slow", "none within 1 s", id="too-slow"),
    ],
)
async def test_an_answer_that_cannot_be_taken_is_none(address: str, path: str, words: str) -> None:
    with pytest.raises(Unreturned, match=words):
        await read(address, path)


async def test_an_answer_has_the_whole_time_that_its_tool_declares(address: str) -> None:
    heard = await reading(address, {"path": "/slow", "timeout": "20s"})
    assert heard.error.startswith("404"), "it came, after more than five seconds"


async def test_a_body_that_is_not_the_json_it_says_is_text(address: str) -> None:
    value = (await read(address, "/broken")).value
    assert isinstance(value, dict)
    assert value["body"] == "{"


async def test_a_server_that_is_down_was_not_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(Unreached, match="was not reached"):
        await read(f"http://127.0.0.1:{port}", id="a")


@pytest.mark.parametrize("etag", ['"1"\r\nX-Evil: 1', '"é"', '"\x00"'])
async def test_a_header_of_an_argument_is_one_plain_line(till: Till, shop: Shop, etag: str) -> None:
    order = await till.plan()
    pins: Any = order.plan["preconditions"]
    pins["etag"]["value"] = etag
    assert (await till.runner.apply(till.put, order)).outcome is Outcome.DID_NOTHING
    assert [seen[0] for seen in shop.seen].count("PUT") == 0


def test_a_credential_that_the_server_lacks_refuses_the_start() -> None:
    said = Upstream(base_url="https://api.example", headers_env={"Authorization": "NONE"})
    with pytest.raises(BadDeclaration, match="NONE"):
        HttpUpstreams({"api": said}, {})


async def test_a_change_forgets_what_was_read_wherever_it_writes() -> None:
    post = {"effect": "write", "method": "POST", "path": "/a"}
    through = post | {"apply": {"tool": "b.set", "args": {}}, "undo": [{"tool": "c.set"}]}
    tools = {name: {"set": said} for name, said in {"a": through, "b": post, "c": post}.items()}
    kinds = dict.fromkeys(tools, "http")
    tool = Catalog.of(declared(tools, kinds)).find("a.set")
    memo, places = Memo(), [("s", f"{name}.get", "d") for name in "abcd"]
    for place in places:
        memo.keep(place, Heard(1), 60, memo.mark(place[1]))
    async with opened("http://127.0.0.1:9") as upstreams:
        toolkits: dict[str, Any] = {
            "http": RecipeToolkit({"http": upstreams}, lambda _: tool, None)
        }
        await Runner(toolkits, memo).apply(tool, Order({"arguments": {}}, "p_1"))
    assert [memo.recall(place) for place in places] == [None, None, None, Heard(1)]
