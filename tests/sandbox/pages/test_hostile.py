"""What must not work: forms from elsewhere, text that acts, addresses and forms that are odd."""

import asyncio
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from sandbox.github import World, create_app
from sandbox.github.model import App, Pull
from tests.sandbox.pages.conftest import HOSTILE, REPO, Browser, run

pytestmark = pytest.mark.anyio

FORMS = [
    "/_pages/sign-in",
    f"/{REPO}/pull/1/comment",
    f"/{REPO}/pull/1/review",
    f"/{REPO}/pull/1/merge",
    f"/{REPO}/pull/1/close",
    f"/{REPO}/runs/1/press",
    "/settings/apps/placet/deliveries/1/redeliver",
]


@pytest.mark.parametrize(
    ("path", "token"),
    [
        *(pytest.param(path, None, id=path) for path in FORMS),
        pytest.param(FORMS[1], "", id="empty-token"),
        pytest.param(FORMS[1], "0" * 64, id="wrong-token"),
        pytest.param(FORMS[1], "é", id="odd-token"),
    ],
)
async def test_a_form_from_elsewhere_is_refused(
    world: World, pull: Pull, browser: Browser, path: str, token: str | None
) -> None:
    await browser.sign_in(world.account("ann").id)
    fields = {"body": "x", "event": "APPROVE"} | ({} if token is None else {"csrf": token})
    answer = await browser.http.post(path, data=fields)
    assert answer.status_code == 403
    assert "not from this session" in answer.text
    repo = world.repository(REPO)
    assert (pull.state, repo.reviews, repo.comments) == ("open", {}, {})


async def test_a_token_of_another_session_is_refused(
    world: World, pull: Pull, browser: Browser
) -> None:
    await browser.sign_in(world.account("ann").id)
    old = await browser.open(f"/{REPO}/pull/{pull.number}")
    await browser.sign_in(world.account("bob").id)
    browser.page = old
    await browser.submit(f"/{REPO}/pull/1/comment", 403, body="x")


async def test_hostile_text_stays_text(
    world: World, app: App, pull: Pull, browser: Browser
) -> None:
    bob = world.person("bob")
    await bob.comment(REPO, pull.number, HOSTILE)
    await bob.review(REPO, pull.number, "COMMENT", HOSTILE)
    run(world, app, pull.head_sha, output={"title": "<b>t", "summary": HOSTILE, "text": HOSTILE})
    await browser.sign_in(world.account("cid").id)  # no edit forms, which hold the source
    for tab in ("", "/checks", "/files", "/commits"):
        page = await browser.open(f"/{REPO}/pull/1{tab}")
        for bad in (
            "<script", "onerror", "onclick", "onload", 'javascript:alert(1)"', "hidden words",
            "style=", "<iframe", "<svg onload", "<base", "http-equiv", 'href="data:', "target=",
            'name="csrf">', 'class="merge ready"', 'pull/1/merge"><button>',
        ):  # fmt: skip
            assert bad not in page, (tab, bad)
        assert "Change &lt;things&gt;" in page


@pytest.mark.parametrize(
    "path",
    [
        "/nobody",
        "/nobody/nothing",
        "/%00/%ff",
        f"/{REPO}/pull/99",
        f"/{REPO}/pull/x",
        f"/{REPO}/pull/{'9' * 5000}",
        f"/{REPO}/pull/²",
        f"/{REPO}/blob/main/../../../etc/passwd",
        f"/{REPO}/blob/main/no%00pe",
        f"/{REPO}/blob/main",
        f"/{REPO}/blob/",
        f"/{REPO}/tree/main/README.md",
        f"/{REPO}/tree/~^:%0a",
        f"/{REPO}/tree/@%7B1%7D",
        f"/{REPO}/commits/nope",
        f"/{REPO}/commit/-x",
        f"/{REPO}/runs/1",
        "/settings/apps/nope/deliveries",
        "/settings/apps/placet/deliveries/x",
        "/_pages/nope",
        "/apps/%5Bbot%5D",
    ],
)
async def test_an_odd_address_is_a_friendly_404(world: World, browser: Browser, path: str) -> None:
    await browser.sign_in(world.account("ann").id)
    assert "Repositories and people" in await browser.open(path, 404)


ODD = st.text() | st.sampled_from(["0", "1", "main", "blob", "tree", "pull", "..", ".git", "@"])
WAYS = [
    f"/{REPO}/blob/",
    f"/{REPO}/tree/main/",
    f"/{REPO}/pull/",
    f"/{REPO}/commit/",
    f"/{REPO}/",
    "/",
]


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    world = World(tmp_path_factory.mktemp("busy"), "http://sandbox")
    world.add_user("ann")
    world.add_organisation("acme", owners=["ann"])
    world.add_repository(REPO, private=False)
    yield create_app(world)
    asyncio.run(world.aclose())


@given(way=st.sampled_from(WAYS), parts=st.lists(ODD, max_size=4), query=ODD)
def test_no_address_breaks_a_page(busy: FastAPI, way: str, parts: list[str], query: str) -> None:
    path = way + "/".join(quote(part, safe="", errors="replace") for part in parts)

    async def status() -> int:
        transport = httpx.ASGITransport(busy)
        async with httpx.AsyncClient(transport=transport, base_url="http://sandbox") as http:
            answer = await http.get(f"http://sandbox{path}?{quote(query, errors='replace')}")
            return answer.status_code

    assert asyncio.run(status()) in (200, 404)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        pytest.param("multipart/form-data; boundary=x", b"--x\r\nbroken", id="broken-multipart"),
        pytest.param("multipart/form-data", b"", id="no-boundary"),
        pytest.param("application/x-www-form-urlencoded", b"\xff=%ff&&&=", id="broken-urlencoded"),
        pytest.param("application/json", b"{}", id="json"),
    ],
)
async def test_a_broken_form_is_a_page(browser: Browser, kind: str, body: bytes) -> None:
    answer = await browser.http.post(
        "/_pages/sign-in", content=body, headers={"content-type": kind}
    )
    assert answer.status_code in (400, 403)
    assert "That was not done" in answer.text
