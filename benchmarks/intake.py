"""Durable acknowledgements a second at 64 connections, against a bare handler that commits each.

    make bench            (or .venv/bin/python benchmarks/intake.py)

Both servers run one after the other as processes of their own, on this machine, with the same
signed 26 kB deliveries; only the ratio means anything elsewhere. Every delivery that was
acknowledged is looked for in the database afterwards.
"""

import asyncio
import contextlib
import hashlib
import hmac
import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from sandbox.stage import free_port

CONNECTIONS, SECONDS = 64, 5.0
SECRET, APP = "a-secret-of-this-machine-only", 1234
PLACET = "from webhook_app.cli import main; main()"
BARE = """
import hashlib, hmac, json, sqlite3, sys
import uvicorn
from fastapi import FastAPI, HTTPException, Request
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA journal_mode=WAL"); db.execute("PRAGMA synchronous=FULL")
db.execute("CREATE TABLE delivery(guid TEXT PRIMARY KEY, body TEXT)")
app = FastAPI()
@app.post("/webhook", status_code=202)
async def webhook(request: Request):
    raw = await request.body()
    mac = hmac.digest(sys.argv[3].encode(), raw, hashlib.sha256).hex()
    if not hmac.compare_digest("sha256=" + mac, request.headers["x-hub-signature-256"]):
        raise HTTPException(401)
    json.loads(raw)
    db.execute("BEGIN IMMEDIATE")
    db.execute("INSERT INTO delivery VALUES (?, ?) ON CONFLICT DO NOTHING",
               (request.headers["x-github-delivery"], raw.decode()))
    db.execute("COMMIT")
    return {"status": "accepted"}
uvicorn.run(app, port=int(sys.argv[2]), log_config=None, access_log=False)
"""


def body() -> bytes:
    """A review of the size that GitHub sends."""
    said = {
        "action": "submitted",
        "sender": {"id": 8, "login": "lee", "type": "User"},
        "repository": {"id": 99, "owner": {"id": 9919}},
        "pull_request": {"number": 7, "body": "x" * 25_000},
        "review": {"id": 3, "state": "approved", "user": {"id": 8, "login": "lee"}},
    }
    return json.dumps(said).encode()


def request(raw: bytes, guid: str) -> bytes:
    """One signed delivery as it goes over the wire."""
    mac = hmac.digest(SECRET.encode(), raw, hashlib.sha256).hex()
    head = (
        "POST /webhook HTTP/1.1\r\nHost: placet\r\nContent-Type: application/json\r\n"
        f"X-GitHub-Event: pull_request_review\r\nX-GitHub-Delivery: {guid}\r\n"
        f"X-GitHub-Hook-Installation-Target-Id: {APP}\r\nX-Hub-Signature-256: sha256={mac}\r\n"
        f"Content-Length: {len(raw)}\r\n\r\n"
    )
    return head.encode() + raw


async def one(port: int, name: int, until: float, took: list[float]) -> list[str]:
    """Deliver over one connection, one after the other; the guids that were acknowledged."""
    raw = body()
    acknowledged: list[str] = []
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.monotonic() < until:
        guid = f"{name}-{len(acknowledged)}"
        began = time.perf_counter()
        writer.write(request(raw, guid))
        head = await reader.readuntil(b"\r\n\r\n")
        fields = dict(h.split(b": ", 1) for h in head.lower().split(b"\r\n")[1:] if b": " in h)
        await reader.readexactly(int(fields[b"content-length"]))
        if not head.startswith(b"HTTP/1.1 202"):
            raise SystemExit(f"not acknowledged: {head!r}")
        took.append(time.perf_counter() - began)
        acknowledged.append(guid)
    writer.close()
    return acknowledged


async def measure(port: int) -> tuple[float, list[float], list[str]]:
    """Acknowledgements a second, how long each took, and which they were."""
    took: list[float] = []
    await one(port, CONNECTIONS, time.monotonic() + 0.5, [])
    began = time.monotonic()
    until = began + SECONDS
    lists = await asyncio.gather(*(one(port, n, until, took) for n in range(CONNECTIONS)))
    acknowledged = [guid for guids in lists for guid in guids]
    return len(acknowledged) / (time.monotonic() - began), took, acknowledged


def configured(folder: Path, port: int) -> Path:
    """A server without tools whose GitHub is down."""
    key = rsa.generate_private_key(65537, 2048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    (folder / "app.pem").write_bytes(pem)
    path = folder / "placet.toml"
    path.write_text(
        f'[server]\nurl = "http://127.0.0.1:{port}"\nport = {port}\napp_id = {APP}\n'
        f'private_key_file = "app.pem"\nwebhook_secret = "{SECRET}"\naccounts = [9919]\n'
        'store = "placet.db"\napi_url = "http://127.0.0.1:9"\n'
    )
    return path


@contextlib.contextmanager
def served(argv: list[str], port: int, log: Path) -> Iterator[None]:
    """Run a server as its own process until the end."""
    with log.open("wb") as file:
        process = subprocess.Popen([sys.executable, "-c", *argv], stdout=file, stderr=file)
    try:
        asyncio.run(_listens(port))
        yield
    finally:
        process.terminate()
        process.wait()


async def _listens(port: int) -> None:
    for _ in range(2000):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.01)
        else:
            writer.close()
            return
    raise SystemExit("the server does not listen")


def kept(database: Path, acknowledged: list[str]) -> int:
    """How many of the acknowledged deliveries are in the database."""
    with contextlib.closing(sqlite3.connect(database)) as db:
        there = {guid for (guid,) in db.execute("SELECT guid FROM delivery")}
    return sum(guid in there for guid in acknowledged)


def run(name: str, argv: list[str], port: int, database: Path) -> float:
    """Measure one server and print its line; its acknowledgements a second."""
    with served(argv, port, database.with_suffix(".log")):
        rate, took, acknowledged = asyncio.run(measure(port))
    cuts = statistics.quantiles(took, n=100)
    lost = len(acknowledged) - kept(database, acknowledged)
    print(
        f"{name:28} {rate:8.0f} durable acks/s   p50 {cuts[49] * 1e3:6.1f} ms   "
        f"p99 {cuts[98] * 1e3:6.1f} ms   acknowledged and lost: {lost}"
    )
    return rate


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="placet-bench-") as name:
        folder, ports = Path(name), [free_port(), free_port()]
        bare = folder / "bare.db"
        base = run(
            "bare FastAPI, commit each", [BARE, str(bare), str(ports[0]), SECRET], ports[0], bare
        )
        config = configured(folder, ports[1])
        argv = [PLACET, "serve", "--config", str(config)]
        ours = run("placet serve", argv, ports[1], folder / "placet.db")
    print(f"{'ratio':28} {ours / base:8.2f} of the bare handler, {CONNECTIONS} connections")


if __name__ == "__main__":
    main()
