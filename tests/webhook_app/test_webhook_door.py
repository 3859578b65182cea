import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.running import Running, running, signed

pytestmark = pytest.mark.anyio
BODY = json.dumps(
    {"ref": "refs/heads/main", "repository": {"id": 99, "owner": {"id": 9919}}}
).encode()
ODD_BODY = '{"text":  "Größe \\ud83d\\ude80 🚀 \\/ <b>" ,\n"id":1.0}'.encode()
OLD = "the-secret-before-this-one"


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    async with running(tmp_path_factory.mktemp("placet")) as placet:
        yield placet


@pytest.fixture
def placet(server: Running) -> Running:
    """The server of this module; every test delivers under a guid of its own."""
    server.guid.append(f"guid-{len(server.guid)}")
    return server


def problem(response: httpx.Response) -> tuple[int, str]:
    assert response.headers["content-type"] == "application/problem+json"
    said = response.json()
    assert said.keys() >= {"type", "title", "status", "code", "detail", "hint"}
    assert said["status"] == response.status_code
    assert said["hint"]
    return response.status_code, said["code"]


async def test_a_delivery_is_kept_before_it_is_acknowledged(placet: Running) -> None:
    response = await placet.deliver(BODY)
    assert (response.status_code, response.json()) == (202, {"status": "accepted"})
    assert placet.store.seen(placet.guid[-1])


async def test_the_same_guid_is_taken_once(placet: Running) -> None:
    await placet.deliver(BODY)
    again = await placet.deliver(BODY)
    assert (again.status_code, again.json()) == (202, {"status": "seen"})


async def test_a_refused_delivery_does_not_use_up_its_guid(placet: Running) -> None:
    await placet.deliver(BODY, x_hub_signature_256="sha256=" + "0" * 64)
    assert (await placet.deliver(BODY)).json() == {"status": "accepted"}


async def test_the_signature_is_over_the_raw_bytes(placet: Running) -> None:
    assert (await placet.deliver(ODD_BODY)).status_code == 202
    placet.guid.append("guid-of-odd-bodies")
    for other in (ODD_BODY + b" ", json.dumps(json.loads(ODD_BODY)).encode()):
        mac = signed(ODD_BODY)["x-hub-signature-256"]
        assert problem(await placet.deliver(other, x_hub_signature_256=mac)) == (
            401,
            "bad_signature",
        )


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(None, id="missing"),
        pytest.param("", id="empty"),
        pytest.param("sha256=", id="no-digits"),
        pytest.param("sha256=" + "0" * 64, id="wrong"),
        pytest.param("sha256=" + "é" * 64, id="not-ascii"),
        pytest.param("sha256=" + "0" * 63, id="too-short"),
        pytest.param("sha1=" + "0" * 40, id="older-algorithm"),
        pytest.param(
            signed(BODY, "another-secret-of-16")["x-hub-signature-256"], id="other-secret"
        ),
        pytest.param(signed(BODY, "")["x-hub-signature-256"], id="empty-secret"),
        pytest.param(str(signed(BODY)["x-hub-signature-256"])[7:], id="no-algorithm"),
    ],
)
async def test_a_wrong_signature_is_refused(placet: Running, header: str | None) -> None:
    sent = {n: v for n, v in signed(BODY).items() if v and n != "x-hub-signature-256"}
    headers: list[tuple[str, str | bytes]] = list(sent.items())
    if header is not None:
        headers.append(("x-hub-signature-256", header.encode()))
    response = await placet.http.post("/webhook", content=BODY, headers=headers)  # type: ignore[arg-type]
    assert problem(response) == (401, "bad_signature")
    assert not placet.store.seen(placet.guid[-1])


async def test_two_signatures_are_refused(placet: Running) -> None:
    headers = [(n, v) for n, v in signed(BODY).items() if v]
    headers.append(("x-hub-signature-256", "sha256=" + "0" * 64))
    response = await placet.http.post("/webhook", content=BODY, headers=headers)
    assert problem(response) == (401, "bad_signature")


@pytest.mark.parametrize(
    ("until", "status"),
    [
        pytest.param("2999-01-01T00:00:00Z", 202, id="before-its-end"),
        pytest.param("2020-01-01T00:00:00Z", 401, id="after-its-end"),
    ],
)
async def test_the_previous_secret_counts_until_its_end(
    tmp_path: Path, until: str, status: int
) -> None:
    extra = f'webhook_secret_previous = "{OLD}"\nwebhook_secret_previous_until = {until}\n'
    async with running(tmp_path, extra) as placet:
        old = signed(BODY, OLD)["x-hub-signature-256"]
        assert (await placet.deliver(BODY, x_hub_signature_256=old)).status_code == status
        assert (await placet.deliver(BODY)).status_code == 202


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        pytest.param({"content_type": None}, 415, "not_json_type", id="no-type"),
        pytest.param(
            {"content_type": "application/x-www-form-urlencoded"}, 415, "not_json_type", id="form"
        ),
        pytest.param({"x_github_event": None}, 400, "bad_headers", id="no-event"),
        pytest.param({"x_github_event": "PUSH; --"}, 400, "bad_headers", id="odd-event"),
        pytest.param({"x_github_delivery": None}, 400, "bad_headers", id="no-guid"),
        pytest.param({"x_github_delivery": "g" * 101}, 400, "bad_headers", id="long-guid"),
        pytest.param(
            {"x_github_hook_installation_target_id": "5"}, 403, "other_hook", id="another-app"
        ),
        pytest.param(
            {"x_github_hook_installation_target_id": None}, 403, "other_hook", id="no-target"
        ),
    ],
)
async def test_what_is_signed_but_not_ours(
    placet: Running, headers: dict[str, str | None], status: int, code: str
) -> None:
    assert problem(await placet.deliver(BODY, **headers)) == (status, code)
    assert not placet.store.seen(placet.guid[-1])


async def test_a_charset_is_fine(placet: Running) -> None:
    response = await placet.deliver(BODY, content_type="application/json; charset=utf-8")
    assert response.status_code == 202


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param(b"", "not_json", id="empty"),
        pytest.param(b"{", "not_json", id="half"),
        pytest.param(b"[1]", "not_an_object", id="a-list"),
        pytest.param(b'{"a":"\xff"}', "not_utf8", id="not-utf-8"),
        pytest.param(b'{"a":' * 1000 + b"1" + b"}" * 1000, "too_deep", id="depth-1000"),
        pytest.param(b"[" * 200_000, "too_deep", id="depth-bomb"),
        pytest.param(b'{"id":' + b"9" * 5000 + b"}", "not_json", id="5000-digits"),
        pytest.param(b'{"id": Infinity}', "not_json", id="infinity"),
    ],
)
async def test_a_malformed_body_is_refused_and_the_server_lives(
    placet: Running, body: bytes, code: str
) -> None:
    assert problem(await placet.deliver(body)) == (400, code)
    assert (await placet.deliver(BODY)).status_code == 202


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"repository": {"id": 999999999999999999999999}}', id="huge-id"),
        pytest.param(b'{"repository": {"id": 9223372036854775808}}', id="beyond-a-database"),
        pytest.param(b'{"repository": {"id": -1}}', id="negative-id"),
        pytest.param(b'{"action": "\\ud800"}', id="lone-surrogate"),
        pytest.param(b'{"action": {"a": 1}, "sender": [], "repository": "x"}', id="other-types"),
        pytest.param(b'{"action": "never_heard_of", "ref": 5}', id="unknown-action"),
    ],
)
async def test_odd_members_are_taken_and_kept(placet: Running, body: bytes) -> None:
    response = await placet.deliver(body, x_github_event="never_heard_of")
    assert response.json() == {"status": "accepted"}


@pytest.mark.parametrize("owner", [1, 9920])
async def test_an_account_that_is_not_listed_is_ignored(placet: Running, owner: int) -> None:
    body = json.dumps({"repository": {"id": 99, "owner": {"id": owner}}}).encode()
    assert (await placet.deliver(body)).json() == {"status": "ignored"}
    assert not placet.store.seen(placet.guid[-1])


async def test_a_body_over_the_cap_is_refused_by_its_stated_length(tmp_path: Path) -> None:
    async with running(tmp_path, "max_body = 2000\n") as placet:
        assert problem(await placet.deliver(b" " * 2001)) == (413, "too_large")
        fits = BODY + b" " * (2000 - len(BODY))
        assert (await placet.deliver(fits)).status_code == 202


async def test_nothing_is_read_of_a_body_that_says_it_is_too_large(placet: Running) -> None:
    read = []

    async def endless() -> AsyncIterator[bytes]:
        read.append(1)
        yield b" "

    headers = {n: v for n, v in signed(b"").items() if v} | {"content-length": "25000001"}
    response = await placet.http.post("/webhook", content=endless(), headers=headers)
    assert (problem(response), read) == ((413, "too_large"), [])


async def test_a_body_without_a_length_is_counted_while_it_comes(tmp_path: Path) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 1_000_000:
            sent += 500
            yield b" " * 500

    async with running(tmp_path, "max_body = 2000\n") as placet:
        headers = {n: v for n, v in signed(b"").items() if v}
        response = await placet.http.post("/webhook", content=endless(), headers=headers)
    assert problem(response) == (413, "too_large")
    assert sent < 10_000


@pytest.mark.parametrize("length", ["-1", "1e3", "9" * 5000, "²"])
async def test_an_odd_length_is_no_fault_of_ours(placet: Running, length: str) -> None:
    headers = [(n, v.encode()) for n, v in signed(BODY).items() if v]
    headers.append(("content-length", length.encode()))
    response = await placet.http.post("/webhook", content=BODY, headers=headers)  # type: ignore[arg-type]
    assert problem(response) == (413, "too_large")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_other_methods_are_no_fault_of_ours(placet: Running, method: str) -> None:
    assert problem(await placet.http.request(method, "/webhook")) == (405, "method_not_allowed")


async def test_deliveries_are_counted(placet: Running) -> None:
    await placet.deliver(BODY)
    await placet.deliver(BODY, x_github_event=None)
    text = (await placet.http.get("/metrics")).text
    assert 'placet_deliveries_total{answer="accepted"}' in text
    assert 'placet_deliveries_total{answer="bad_headers"}' in text
    assert 'placet_stored{what="inbox"}' in text
