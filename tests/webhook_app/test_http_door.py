import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from proposals.lifecycle import State
from tests.running import AGENT, OTHER_AGENT, Running, running
from tests.webhook_app.test_webhook_door import problem
from webhook_app.doors.hall import token_hash
from webhook_app.settings import SettingsError

pytestmark = pytest.mark.anyio
ASK = {"tool": "rows.update", "arguments": {"ids": [17, 23]}, "reason": "they bounced"}


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def placet(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    async with running(tmp_path_factory.mktemp("placet")) as placet:
        yield placet


def asking(**members: Any) -> dict[str, Any]:
    return ASK | members


async def test_a_call_is_planned_pinned_and_not_done(placet: Running) -> None:
    response = await placet.ask(asking(arguments={"ids": [1]}))
    said = response.json()
    assert (response.status_code, said["status"], said["executed"]) == (200, "pinned", False)
    assert said["summary"] == "Set rows [1]"
    assert said["effects"] == [{"what": "row 1", "before": True, "after": False}]
    assert said["digest"].startswith("sha256:")
    assert said["say_to_user"].startswith("Nothing has been changed yet.")
    stored = placet.store.proposal(said["proposal"])
    assert stored
    assert (stored.agent, stored.said, stored.identities) == (
        "cleanup-bot", "they bounced", frozenset({8}),
    )  # fmt: skip


async def test_the_same_key_gives_the_same_proposal_and_another_call_a_conflict(
    placet: Running,
) -> None:
    one = await placet.ask(asking(arguments={"ids": [2]}), idempotency_key="k-1")
    same = await placet.ask(asking(arguments={"ids": [2.0]}), idempotency_key="k-1")
    assert one.json()["proposal"] == same.json()["proposal"]
    other = await placet.ask(asking(arguments={"ids": [3]}), idempotency_key="k-1")
    assert problem(other) == (409, "key_conflict")


async def test_the_same_live_call_without_a_key_gives_the_same_proposal(placet: Running) -> None:
    call = asking(arguments={"ids": [4]})
    assert (await placet.ask(call)).json()["proposal"] == (await placet.ask(call)).json()[
        "proposal"
    ]


async def test_a_plan_that_takes_long_goes_on_without_its_caller(placet: Running) -> None:
    hurried = replace(placet.hall, patience=0.0)
    placet.app.state.hall = hurried
    try:
        response = await placet.ask(asking(arguments={"ids": [5], "sleep": 0.2}))
    finally:
        placet.app.state.hall = placet.hall
    said = response.json()
    assert (response.status_code, said["status"], said["digest"]) == (202, "planning", None)
    await asyncio.gather(*placet.hall.tasks)
    stored = placet.store.proposal(said["proposal"])
    assert stored
    assert stored.state is State.PINNED


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param(b"", "not_json", id="empty"),
        pytest.param(b"{", "not_json", id="half"),
        pytest.param(
            b'{"tool":"a.b","tool":"rows.update","arguments":{}}', "duplicate_key", id="twice"
        ),
        pytest.param(
            b'{"tool":"rows.update","arguments":{"ids":[1],"ids":[2]}}',
            "duplicate_key",
            id="deep-twice",
        ),
        pytest.param(b'{"tool":"rows.update","arguments":{"ids":[NaN]}}', "not_a_number", id="nan"),
        pytest.param(
            b'{"tool":"rows.update","arguments":{"ids":[9007199254740993]}}',
            "number_too_large",
            id="2**53+1",
        ),
        pytest.param(
            b'{"tool":"rows.update","arguments":{"ids":[' + b"9" * 5000 + b"]}}",
            "number_too_large",
            id="5000-digits",
        ),
        pytest.param(
            b'{"tool":"rows.update","arguments":{"ids":[1e400]}}', "not_a_number", id="overflow"
        ),
        pytest.param(
            b'{"tool":"rows.update","arguments":{"ids":["\\ud800"]}}',
            "lone_surrogate",
            id="surrogate",
        ),
        pytest.param(b'{"tool":"\xff","arguments":{}}', "not_utf8", id="not-utf-8"),
        pytest.param(b"[" * 100_000, "too_deep", id="depth-bomb"),
        pytest.param(asking(argument=1), "unknown_member", id="unknown-member"),
        pytest.param(
            asking(target={"repository": "acme/shop", "pull_request": 3}),
            "target_not_allowed",
            id="target",
        ),
        pytest.param(asking(arguments=[1]), "bad_request", id="arguments-as-list"),
        pytest.param(asking(tool=5), "bad_request", id="tool-as-number"),
        pytest.param({"tool": "rows.update"}, "bad_request", id="no-arguments"),
        pytest.param(asking(reason="x" * 2001), "bad_request", id="long-reason"),
        pytest.param(asking(tool="rows.updat"), "unknown_tool", id="unknown-tool"),
        pytest.param(asking(tool="rows.read"), "not_gated", id="read-tool"),
        pytest.param(asking(arguments={"ids": ["1"]}), "bad_arguments", id="string-for-number"),
        pytest.param(
            asking(arguments={"ids": [1], "x": 1}), "unknown_argument", id="unknown-argument"
        ),
        pytest.param(asking(arguments={}), "missing_argument", id="missing-argument"),
    ],
)
async def test_what_cannot_be_asked_says_why_and_what_to_send(
    placet: Running, body: Any, code: str
) -> None:
    before = placet.store.counts()
    response = await placet.ask(body)
    said = response.json()
    assert (response.status_code, said["code"]) == (422, code)
    assert said["detail"]
    assert placet.store.counts() == before


async def test_an_unknown_tool_names_the_nearest(placet: Running) -> None:
    said = (await placet.ask(asking(tool="rows.updat"))).json()
    assert 'Did you mean "rows.update"?' in said["detail"]
    assert "placet.toml" in said["hint"]


async def test_a_body_that_is_too_large(placet: Running) -> None:
    assert problem(await placet.ask(b" " * 1_000_001)) == (413, "too_large")


async def test_a_body_that_is_no_json_by_its_type(placet: Running) -> None:
    response = await placet.ask(ASK, content_type="text/plain")
    assert problem(response) == (415, "not_json_type")


@pytest.mark.parametrize("key", ["", " ", "a b", "k" * 256, "ü"])
async def test_a_bad_idempotency_key(placet: Running, key: str) -> None:
    headers = {
        "content-type": "application/json",
        "authorization": f"Bearer {AGENT}",
        "idempotency-key": key.encode(),
    }
    response = await placet.http.post(
        "/v1/proposals",
        content=json.dumps(ASK),
        headers=list(headers.items()),  # type: ignore[arg-type]
    )
    assert problem(response) == (422, "bad_idempotency_key")


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(None, id="none"),
        pytest.param("Bearer", id="no-token"),
        pytest.param("Bearer ", id="empty-token"),
        pytest.param("Bearer placet_wrong", id="wrong-token"),
        pytest.param(f"Basic {AGENT}", id="another-scheme"),
        pytest.param(f"Bearer {AGENT} ", id="a-space-more"),
        pytest.param("Bearer plac\xe9t", id="not-ascii"),
    ],
)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/proposals"),
        ("GET", "/v1/proposals"),
        ("GET", "/v1/proposals/p_1"),
        ("POST", "/v1/proposals/p_1/withdraw"),
        ("GET", "/v1/tools"),
    ],
)
async def test_without_a_valid_token_every_answer_is_the_same(
    placet: Running, header: str | None, method: str, path: str
) -> None:
    headers = [] if header is None else [("authorization", header.encode("latin-1"))]
    response = await placet.http.request(method, path, headers=headers)  # type: ignore[arg-type]
    assert problem(response) == (401, "unauthorized")
    assert response.headers["www-authenticate"] == 'Bearer realm="placet"'
    bare = await placet.http.request(method, path)
    assert response.content == bare.content


async def test_an_agent_sees_its_own_proposals_alone(placet: Running) -> None:
    mine = (await placet.ask(asking(arguments={"ids": [6]}))).json()["proposal"]
    assert (await placet.get(f"/v1/proposals/{mine}")).json()["proposal"] == mine
    assert problem(await placet.get(f"/v1/proposals/{mine}", OTHER_AGENT)) == (404, "not_found")
    other = await placet.get("/v1/proposals/p_nothing", OTHER_AGENT)
    same = await placet.get(f"/v1/proposals/{mine}", OTHER_AGENT)
    assert other.content == same.content
    listed = (await placet.get("/v1/proposals")).json()["proposals"]
    assert mine in {p["proposal"] for p in listed}
    assert (await placet.get("/v1/proposals", OTHER_AGENT)).json() == {"proposals": []}


@pytest.mark.parametrize("query", ["state=nonsense", "limit=0", "limit=201", "limit=x"])
async def test_an_odd_question_is_no_fault_of_ours(placet: Running, query: str) -> None:
    assert problem(await placet.get(f"/v1/proposals?{query}")) == (422, "bad_request")


async def withdrawn(placet: Running, proposal: str, token: str = AGENT) -> httpx.Response:
    headers = {"authorization": f"Bearer {token}"}
    return await placet.http.post(f"/v1/proposals/{proposal}/withdraw", headers=headers)


async def test_an_agent_takes_its_proposal_back_once(placet: Running) -> None:
    mine = (await placet.ask(asking(arguments={"ids": [7]}))).json()["proposal"]
    assert problem(await withdrawn(placet, mine, OTHER_AGENT)) == (404, "not_found")
    said = (await withdrawn(placet, mine)).json()
    assert (said["status"], said["executed"], said["error"]["code"]) == (
        "ended",
        False,
        "withdrawn",
    )
    assert said["receipt"]["reason"] == "withdrawn"
    assert (await withdrawn(placet, mine)).status_code == 409


async def test_a_revoked_agent_is_shut_out(placet: Running) -> None:
    placet.store.add_agent("brief", token_hash("placet_brief"), frozenset({5}), placet.hall.now())
    assert (await placet.get("/v1/tools", "placet_brief")).status_code == 200
    placet.store.revoke_agent("brief", placet.hall.now())
    assert (await placet.get("/v1/tools", "placet_brief")).status_code == 401


async def test_tools_are_listed_without_their_commands(placet: Running) -> None:
    said = (await placet.get("/v1/tools")).json()["tools"]
    assert [(t["name"], t["gated"]) for t in said] == [("rows.read", False), ("rows.update", True)]
    assert "rows.py" not in json.dumps(said)
    assert [t["wire"] for t in said] == ["rows__read", "rows__update"]
    assert "calling it changes nothing" in said[1]["description"]
    assert "Placet" not in said[0]["description"]


async def test_the_description_names_every_way_in(placet: Running) -> None:
    said = (await placet.http.get("/openapi.json")).json()
    assert set(said["paths"]) == {
        "/v1/proposals",
        "/v1/proposals/{proposal}",
        "/v1/proposals/{proposal}/explanation",
        "/v1/proposals/{proposal}/withdraw",
        "/v1/proposals/{proposal}/undo",
        "/v1/calls",
        "/v1/drafts/{draft}/discard",
        "/v1/tools",
        "/v1/turns",
    }


async def test_alive_and_ready_are_different_things(placet: Running) -> None:
    assert (await placet.http.get("/healthz")).json() == {"status": "ok"}
    ready = await placet.http.get("/readyz")
    assert ready.status_code == 503
    assert ready.json()["checks"] == {"store": True, "github": False, "worker": True}


async def test_a_store_that_cannot_be_written_is_told_as_such(placet: Running) -> None:
    placet.store.db.execute("PRAGMA query_only = ON")
    try:
        response = await placet.ask(asking(arguments={"ids": [99]}))
        delivered = await placet.deliver(b"{}")
    finally:
        placet.store.db.execute("PRAGMA query_only = OFF")
    assert problem(response) == (503, "store_stopped")
    assert problem(delivered) == (503, "store_stopped")


async def test_a_fault_of_ours_leaks_nothing(placet: Running) -> None:
    broken = replace(placet.hall, ready={"store": lambda: 1 // 0 == 0})
    placet.app.state.hall = broken
    try:
        response = await placet.http.get("/readyz")
    finally:
        placet.app.state.hall = placet.hall
    assert problem(response) == (500, "fault")
    assert "division" not in response.text
    assert "Traceback" not in response.text


async def test_the_socket_is_for_its_owner_alone(tmp_path: Path) -> None:
    async with running(tmp_path) as placet:
        assert placet.hall.settings.store == tmp_path / "placet.db"
        for name in ("placet.db.sock", "placet.db.key", "placet.db"):
            assert (tmp_path / name).stat().st_mode & 0o777 == 0o600, name
        first = placet.hall.ports.signer.keyid
    assert not (tmp_path / "placet.db.sock").exists()
    (tmp_path / "placet.db").unlink()
    async with running(tmp_path) as placet:
        assert placet.hall.ports.signer.keyid == first


async def test_a_signing_key_that_others_can_read_refuses_the_start(tmp_path: Path) -> None:
    async with running(tmp_path):
        pass
    (tmp_path / "placet.db.key").chmod(0o640)
    with pytest.raises(SettingsError, match=r"others can read the signing key .* chmod 600"):
        async with running(tmp_path):
            pass


async def test_a_read_is_done_at_once(placet: Running) -> None:
    said = (await call_of(placet, {"tool": "rows.read", "arguments": {}})).json()
    assert (said["status"], said["executed"], said["proposal"]) == ("read", True, None)
    assert said["result"] == "rows"
    assert list(said) == list((await call_of(placet, asking(arguments={"ids": [70]}))).json())


async def test_a_gated_call_is_proposed(placet: Running) -> None:
    said = (await call_of(placet, asking(arguments={"ids": [71]}))).json()
    assert said["status"] in {"planning", "pinned"}, "however long the plan takes"
    assert said["executed"] is False
    again = (await placet.ask(asking(arguments={"ids": [71]}))).json()
    assert again["proposal"] == said["proposal"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param({"tool": "rows.Read", "arguments": {}}, "unknown_tool", id="other-case"),
        pytest.param({"tool": "read", "arguments": {}}, "unknown_tool", id="alias"),
        pytest.param({"tool": "call_tool", "arguments": {}}, "unknown_tool", id="generic"),
        pytest.param(
            {"tool": "rows.read", "arguments": {"a": 1}}, "unknown_argument", id="argument"
        ),
        pytest.param(asking(arguments={"ids": ["1"]}), "bad_arguments", id="gated-argument"),
        pytest.param(asking(approved=True), "unknown_member", id="a-flag-that-says-yes"),
    ],
)
async def test_a_call_that_is_not_taken(placet: Running, body: Any, code: str) -> None:
    before = len(placet.store.proposals(limit=200))
    assert problem(await call_of(placet, body)) == (422, code)
    assert len(placet.store.proposals(limit=200)) == before


async def test_calls_need_an_agent(placet: Running) -> None:
    response = await call_of(placet, {"tool": "rows.read", "arguments": {}}, token="wrong")
    assert problem(response) == (401, "unauthorized")


async def call_of(placet: Running, body: Any, token: str = AGENT) -> httpx.Response:
    """POST /v1/calls as an agent does, without waiting for a page that never stands here."""
    placet.app.state.hall = replace(placet.hall, patience=0.5)
    try:
        headers = {"authorization": f"Bearer {token}"}
        return await placet.http.post("/v1/calls", json=body, headers=headers)
    finally:
        placet.app.state.hall = placet.hall
