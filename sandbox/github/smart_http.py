"""`git clone` and `git fetch` over HTTP, through git's own http-backend; nobody pushes here."""

import asyncio
import os

from fastapi import APIRouter, Request, Response

from .auth import authenticate
from .core import Core
from .refusal import Refused

router = APIRouter()
READS = ("info/refs", "git-upload-pack")


@router.api_route("/{owner}/{name}.git/{rest:path}", methods=["GET", "POST"])
async def smart_http(owner: str, name: str, rest: str, request: Request) -> Response:
    """Serve one request of git's smart protocol: a private repository takes a token."""
    world: Core = request.app.state.world
    service = request.query_params.get("service", "git-upload-pack")
    if rest not in READS or service != "git-upload-pack":
        return Response("This GitHub takes no pushes over HTTP: use its API.\n", 403)
    try:
        repo = world.repository(f"{owner}/{name}")
        caller = authenticate(world, request.headers.get("authorization"))
        visible = caller.sees(world, repo) and caller.kind != "app"
    except Refused as refused:
        return Response(refused.message, refused.status, {"www-authenticate": 'Basic realm="git"'})
    if not visible:
        return Response("Repository not found.\n", 401, {"www-authenticate": 'Basic realm="git"'})
    return await _backend(world, f"/{repo.id}.git/{rest}", request)


async def _backend(world: Core, path: str, request: Request) -> Response:
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(world.root),
        "GIT_PROJECT_ROOT": str(world.root),
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        "PATH_INFO": path,
        "REQUEST_METHOD": request.method,
        "QUERY_STRING": request.url.query,
        "REMOTE_ADDR": "127.0.0.1",
        "CONTENT_TYPE": request.headers.get("content-type", ""),
        "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
        "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
    }
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        "git", "http-backend", env=environment, stdin=pipe, stdout=pipe
    )
    out, _ = await process.communicate(await request.body())
    head, _, body = out.partition(b"\r\n\r\n")
    pairs = [line.split(": ", 1) for line in head.decode("latin-1").split("\r\n") if ": " in line]
    headers = {name: value for name, value in pairs}  # noqa: C416
    status = int(headers.pop("Status", "200").split()[0])
    return Response(body, status, headers)
