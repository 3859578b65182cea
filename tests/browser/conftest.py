"""A real Chromium for tests that look at pages, and real servers for it to look at."""

import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
import uvicorn
from playwright.async_api import Browser, ConsoleMessage, Error, Page, async_playwright

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 15_000
"""Milliseconds that a page may take before a test calls it broken."""

Serving = Callable[[Any, socket.socket], AbstractAsyncContextManager[None]]


@pytest.fixture(scope="module")
async def browser(chromium: str) -> AsyncIterator[Browser]:
    """One headless Chromium for the tests of a module."""
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield opened
        await opened.close()


@pytest.fixture
async def page(browser: Browser) -> AsyncIterator[Page]:
    """A fresh window without cookies; it fails the test if a page breaks its own CSP."""
    context = await browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE)
    broken: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            broken.append(message.text)

    def failed(error: Error) -> None:
        broken.append(str(error))

    context.on("console", heard)
    window = await context.new_page()
    window.on("pageerror", failed)
    yield window
    await context.close()
    assert not broken


@pytest.fixture
def screenshots(tmp_path: Path) -> Path:
    """Where pictures go: the folder PLACET_SCREENSHOTS names, else the test's own."""
    folder = Path(os.environ.get("PLACET_SCREENSHOTS") or tmp_path / "screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


# A click may just have left the old page: the new one has no elements for a moment.
WIDTH = "() => document.readyState === 'complete' && document.documentElement.scrollWidth"


@pytest.fixture
def picture(page: Page, screenshots: Path) -> Callable[..., Any]:
    """Photograph the page at a desk and on a phone: `await picture("checks")`."""

    async def taken(name: str) -> None:
        for width in (390, 1280):
            await page.set_viewport_size({"width": width, "height": 900})
            wide = await (await page.wait_for_function(WIDTH)).json_value()
            assert wide <= width, f"{name}: the page is {wide} pixels wide on {width}"
            await page.screenshot(path=screenshots / f"{name}-{width}.png", full_page=True)

    return taken


@pytest.fixture
def port() -> socket.socket:
    """A free port of this machine, already taken, so that its address can be written down."""
    return listening()


def listening() -> socket.socket:
    """Take a free port of 127.0.0.1."""
    found = socket.socket()
    found.bind(("127.0.0.1", 0))
    return found


def address(of: socket.socket) -> str:
    """Write where a port is reached."""
    return f"http://127.0.0.1:{of.getsockname()[1]}"


@pytest.fixture
def serving() -> Serving:
    """Serve an ASGI application on a port: `async with serving(app, port)`."""
    return served


@asynccontextmanager
async def served(app: Any, on: socket.socket) -> AsyncIterator[None]:
    """Serve as in production, in this event loop, until the block ends."""
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve, [on])
        while not server.started:  # noqa: ASYNC110 - uvicorn tells it no other way
            await anyio.sleep(0.01)
        yield
        server.should_exit = True
