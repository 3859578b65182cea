"""A small HTTP API with ETags, really served on a port of this machine."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


class Shop:
    """A small API; `seen` are the requests it got, `fault` what is wrong with the next change.

    `stale`: how many reads still show what was before; `down`: how many requests it does not take.
    """

    def __init__(self) -> None:
        self.sizes = {"a": 1, "b/../c": 2}
        self.versions = dict.fromkeys(self.sizes, 1)
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []
        self.fault = ""
        self.stale = 0
        self.down = 0
        self.app = Starlette(
            routes=[Route("/{path:path}", self.any, methods=["GET", "PUT", "POST"])]
        )

    async def any(self, request: Request) -> Response:
        body = await request.body()
        raw = request.scope["raw_path"].decode() + "?" + request.url.query
        self.seen.append((request.method, raw.rstrip("?"), dict(request.headers), body))
        fault, self.fault = (self.fault, "") if request.method == "PUT" else ("", self.fault)
        if fault.isdigit():
            return Response("go away", int(fault), headers={"location": "http://127.0.0.1:9/"})
        if self.down:
            self.down -= 1
            return Response("come back later", 503)
        path = request.url.path
        if path == "/v1/big":
            return Response("x" * 2_000_000)
        if path == "/v1/moved":
            return Response(status_code=302, headers={"location": "http://127.0.0.1:9/"})
        if path == "/v1/slow":
            await asyncio.sleep(5.2)  # longer than httpx waits of itself
        if path == "/v1/broken":
            return Response(b"{", media_type="application/json")
        answer = self._item(request, path.removeprefix("/v1/items/"), body)
        return Response("it broke afterwards", 502) if fault == "after" else answer

    def _item(self, request: Request, name: str, body: bytes) -> Response:
        if name not in self.sizes:
            return JSONResponse({"error": "no such item"}, 404)
        etag = f'"{self.versions[name]}"'
        if request.method != "PUT":
            size = self.sizes[name] - (self.stale > 0)
            self.stale = max(0, self.stale - 1)
            return JSONResponse({"id": name, "size": size}, headers={"etag": etag})
        if request.headers.get("if-match") != etag:
            return JSONResponse({"error": "it has changed"}, 412)
        self.sizes[name] = json.loads(body)["size"]
        self.versions[name] += 1
        return JSONResponse({"id": name, "size": self.sizes[name]})


@contextmanager
def served(shop: Shop) -> Iterator[str]:
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(shop.app, log_level="error", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
