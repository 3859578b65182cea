"""A whole Placet in this process for the tests of its doors; GitHub is not reachable from it."""

import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from fastapi import FastAPI

from proposals.store import Store
from webhook_app.app import create_app
from webhook_app.doors.hall import Hall, token_hash
from webhook_app.settings import load

SECRET = "a-secret-of-more-than-16"
APP = 1234
PEM = (
    rsa.generate_private_key(65537, 2048)
    .private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    .decode()
)
SERVER = f"""
[server]
url = "https://placet.acme.example"
app_id = {APP}
private_key_file = "app.pem"
webhook_secret = "{SECRET}"
accounts = [9919]
api_url = "http://127.0.0.1:9"
"""
TOOLS = """
[repository.default]
id = 99
[tool.rows.read]
kind = "command"
effect = "read"
read = ["./rows.py", "read"]
[tool.rows.update]
kind = "command"
effect = "write"
plan = ["./rows.py", "plan"]
apply = ["./rows.py", "apply"]
summary = "Set rows {/arguments/ids}"
[tool.rows.update.arguments]
type = "object"
required = ["ids"]
[tool.rows.update.arguments.properties.ids]
type = "array"
items = {type = "integer"}
[tool.rows.update.arguments.properties.sleep]
type = "number"
"""
ROWS = """#!/usr/bin/env python3
import json, sys, time
asked = json.load(sys.stdin)
arguments = asked["arguments"]
time.sleep(arguments.get("sleep", 0))
if sys.argv[1] == "plan":
    effects = [{"what": f"row {i}", "before": True, "after": False} for i in arguments["ids"]]
    print(json.dumps({"effects": effects, "preconditions": {}}))
elif sys.argv[1] == "read":
    print(json.dumps({"result": "rows"}))
else:
    print(json.dumps({"ok": True, "result": len(arguments["ids"])}))
"""
AGENT = "placet_token-of-the-cleanup-bot"
OTHER_AGENT = "placet_token-of-another-bot"


@dataclass(frozen=True, slots=True)
class Running:
    """The application, a client for its doors, and the hall behind them."""

    app: FastAPI
    http: httpx.AsyncClient
    hall: Hall
    guid: list[str] = field(default_factory=lambda: ["guid-1"])

    @property
    def store(self) -> Store:
        return self.hall.store

    async def deliver(self, body: bytes, **headers: str | None) -> httpx.Response:
        """Deliver as GitHub does, under the last guid; a header given as None is left out."""
        sent = signed(body) | {"x-github-delivery": self.guid[-1]}
        sent |= {name.replace("_", "-"): v for name, v in headers.items()}
        kept = {name: value for name, value in sent.items() if value is not None}
        return await self.http.post("/webhook", content=body, headers=kept)

    async def ask(self, body: Any, token: str = AGENT, **headers: str) -> httpx.Response:
        """POST /v1/proposals as an agent does; bytes are sent as they are."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"content-type": "application/json", "authorization": f"Bearer {token}"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.http.post("/v1/proposals", content=raw, headers=sent)

    async def get(self, path: str, token: str = AGENT) -> httpx.Response:
        """GET as an agent does."""
        return await self.http.get(path, headers={"authorization": f"Bearer {token}"})


def signed(body: bytes, secret: str = SECRET) -> dict[str, str | None]:
    mac = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {
        "content-type": "application/json",
        "x-github-event": "push",
        "x-github-delivery": "guid-1",
        "x-github-hook-installation-target-id": str(APP),
        "x-hub-signature-256": f"sha256={mac}",
    }


def written(folder: Path, extra: str = "") -> Path:
    """Everything a server starts from, in a folder; the path of placet.toml."""
    (folder / "app.pem").write_text(PEM)
    (folder / "rows.py").write_text(ROWS)
    (folder / "rows.py").chmod(0o755)
    path = folder / "placet.toml"
    path.write_text(SERVER + extra + TOOLS)
    return path


@asynccontextmanager
async def running(folder: Path, extra: str = "") -> AsyncIterator[Running]:
    """Start it in a folder, `extra` being more lines of [server], with two agents."""
    app = create_app(load(written(folder, extra)))
    async with app.router.lifespan_context(app):
        hall = app.state.hall
        for name, token, identities in (
            ("cleanup-bot", AGENT, {8}),
            ("other-bot", OTHER_AGENT, {9}),
        ):
            hall.store.add_agent(name, token_hash(token), frozenset(identities), hall.now())
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://placet") as http:
            yield Running(app, http, hall)
