"""Durable acknowledgements a second at 64 connections, against a bare handler that commits each.

    make bench            (or .venv/bin/python benchmarks/intake.py)

Both servers run as processes of their own and take turns, on this machine, with the same
signed review of 24 kB that GitHub once sent; only the ratio means anything elsewhere. Every
delivery that was acknowledged is looked for in the database afterwards.
"""

import asyncio
import contextlib
import hashlib
import hmac
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from sandbox.stage import free_port

CONNECTIONS, TURNS, SECONDS = 64, 5, 2.0
SECRET, APP, ACCOUNT = "a-secret-of-this-machine-only", 1234, 9919
DATA = Path(__file__).parent.parent / "tests" / "data"
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


@cache
def body() -> bytes:
    """A review as GitHub really sent it, from an account that counts here."""
    recorded = json.loads((DATA / "webhooks-examples-subset.json").read_text())
    [reviews] = [e["examples"] for e in recorded if e["name"] == "pull_request_review"]
    said = next(e for e in reviews if e["action"] == "submitted")
    said["repository"]["owner"]["id"] = ACCOUNT
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


async def one(port: int, name: str, until: float, took: list[float]) -> list[str]:
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


async def measure(port: int, turn: int) -> tuple[float, list[float], list[str]]:
    """Acknowledgements a second, how long each took, and which they were."""
    took: list[float] = []
    await one(port, f"{turn}-warm", time.monotonic() + 0.3, [])
    began = time.monotonic()
    until = began + SECONDS
    all_ = (one(port, f"{turn}-{n}", until, took) for n in range(CONNECTIONS))
    acknowledged = [guid for guids in await asyncio.gather(*all_) for guid in guids]
    return len(acknowledged) / (time.monotonic() - began), took, acknowledged


def configured(folder: Path, port: int) -> Path:
    """A server without tools whose GitHub is down."""
    key = rsa.generate_private_key(65537, 2048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    (folder / "app.pem").write_bytes(pem)
    path = folder / "placet.toml"
    path.write_text(
        f'[server]\nurl = "http://127.0.0.1:{port}"\nport = {port}\napp_id = {APP}\n'
        f'private_key_file = "app.pem"\nwebhook_secret = "{SECRET}"\naccounts = [{ACCOUNT}]\n'
        'store = "placet.db"\napi_url = "http://127.0.0.1:9"\n'
    )
    return path


@contextlib.contextmanager
def served(argv: list[str], port: int, log: Path) -> Iterator[int]:
    """Run a server as its own process until the end; its process id."""
    with log.open("wb") as file:
        process = subprocess.Popen([sys.executable, "-c", *argv], stdout=file, stderr=file)
    try:
        asyncio.run(_listens(port))
        yield process.pid
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


def worked(pid: int) -> float:
    """Seconds of processor time that a process has used: on a busy machine the honest measure."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass
class Server:
    """One of the two, and what was measured of it in its turns."""

    name: str
    pid: int
    port: int
    database: Path
    rates: list[float] = field(default_factory=list)
    took: list[float] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)
    cpu: float = 0.0

    def turn(self, number: int) -> None:
        """Deliver to it for a while."""
        before = worked(self.pid)
        rate, took, acknowledged = asyncio.run(measure(self.port, number))
        self.rates.append(rate)
        self.took += took
        self.acknowledged += acknowledged
        self.cpu += worked(self.pid) - before

    @property
    def each(self) -> float:
        """Milliseconds of processor time for one acknowledgement."""
        return self.cpu / len(self.acknowledged) * 1e3

    def line(self) -> str:
        """What came of it, as a row."""
        cuts = statistics.quantiles(self.took, n=100)
        lost = len(self.acknowledged) - kept(self.database, self.acknowledged)
        return (
            f"{self.name:26} {statistics.median(self.rates):6.0f} durable acks/s   "
            f"p50 {cuts[49] * 1e3:6.1f} ms   p99 {cuts[98] * 1e3:6.1f} ms   "
            f"CPU {self.each:5.2f} ms each   acknowledged and lost: {lost}"
        )


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="placet-bench-") as name, ExitStack() as stack:
        folder, ports = Path(name), [free_port(), free_port()]
        bare = [BARE, str(folder / "bare.db"), str(ports[0]), SECRET]
        ours = [PLACET, "serve", "--config", str(configured(folder, ports[1]))]
        pids = [
            stack.enter_context(served(argv, port, folder / f"{port}.log"))
            for argv, port in zip((bare, ours), ports, strict=True)
        ]
        base = Server("bare FastAPI, commit each", pids[0], ports[0], folder / "bare.db")
        placet = Server("placet serve", pids[1], ports[1], folder / "placet.db")
        for number in range(TURNS):
            base.turn(number)
            placet.turn(number)
        print(base.line(), placet.line(), sep="\n")
    ratios = [p / b for p, b in zip(placet.rates, base.rates, strict=True)]
    print(
        f"{'ratio':26} {statistics.median(ratios):6.2f} of the bare handler at {CONNECTIONS} "
        f"connections, with {placet.each / base.each:.2f} of its CPU for each"
    )
    print(f"{'load of the machine':26} {os.getloadavg()[0]:6.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
