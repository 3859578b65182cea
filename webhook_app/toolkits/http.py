"""HTTP APIs as upstreams: declared requests to one declared address, and no redirects.

A 2xx is an answer, a 4xx the API's own error. Whatever else follows a change (a redirect, a 5xx, no
answer) leaves open what happened.
"""

import asyncio
import re
from collections.abc import Mapping
from urllib.parse import quote

import httpx

from proposals.canonical import JSON, NotCanonical, canonical, loads
from proposals.tools import BadDeclaration, Tool
from proposals.tools.request import Request
from proposals.upstreams import Heard, Unreached, Unreturned
from webhook_app.settings import Upstream
from webhook_app.toolkits.process import environment

SHOWN = ("content-type", "etag", "last-modified", "location")  # the headers that are told
REFUSED = frozenset({412, 428})  # the API did not even begin: what it was sent for has changed
_WORDS = 500  # characters of an error's body
_NOT_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
)


class HttpUpstreams:
    """All HTTP APIs of placet.toml, by the first part of their tools' names."""

    def __init__(self, declared: Mapping[str, Upstream], server: Mapping[str, str]) -> None:
        self._declared = {name: up for name, up in declared.items() if up.kind == "http"}
        self._headers = {n: _headers(n, up, server) for n, up in self._declared.items()}
        # A connection that was kept may be dead: a write on it would be lost without a trace.
        self._http = httpx.AsyncClient(
            follow_redirects=False,
            trust_env=False,
            timeout=httpx.Timeout(None),  # each call has the time that its tool declares
            limits=httpx.Limits(max_keepalive_connections=0),
        )

    async def ready(self, tool: Tool) -> None:
        """Whether an address answers shows when it is asked."""

    async def call(self, tool: Tool, arguments: dict[str, JSON], key: str | None) -> Heard:
        """Send the tool's request once; Unreached or Unreturned."""
        name = tool.name.partition(".")[0]
        upstream = self._declared.get(name)
        if upstream is None or upstream.base_url is None or tool.request is None:
            raise Unreached("unknown_upstream", f"There is no [upstream.{name}] with a base_url.")
        if key is not None and tool.key_argument:
            arguments = arguments | {tool.key_argument: key}
        request = self._request(tool.request, upstream.base_url, arguments, self._headers[name])
        seconds = tool.timeout.total_seconds()
        try:
            async with asyncio.timeout(seconds):
                response, body = await self._sent(request, upstream.max_answer)
        except _NOT_SENT as error:
            raise Unreached("upstream_down", f"{name} was not reached: {_why(error)}") from None
        except (httpx.HTTPError, TimeoutError) as error:
            why = _why(error) if str(error) else f"none within {seconds:g} s"
            raise Unreturned(f"{tool.name} was sent, and no answer came: {why}") from None
        return _heard(tool, response, body)

    async def close(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    def _request(
        self, said: Request, address: str, arguments: dict[str, JSON], own: Mapping[str, str]
    ) -> httpx.Request:
        placed = {*said.holes, *said.query, *said.headers}
        rest = {k: v for k, v in arguments.items() if k not in placed}
        asked = [k for k in said.query if k in arguments]
        if said.method == "GET":
            asked, rest = [*asked, *rest], {}
        given = {h: _header(arguments[a]) for a, h in said.headers.items() if a in arguments}
        headers = {"accept": "application/json", "accept-encoding": "identity"}
        headers |= {name.lower(): value for name, value in (given | dict(own)).items()}
        body = canonical(rest) if rest else None
        if body is not None:
            headers["content-type"] = "application/json"
        return self._http.build_request(
            said.method,
            address.rstrip("/") + _path(said, arguments),
            params=[pair for name in asked for pair in _query(name, arguments[name])] or None,
            headers=headers,
            content=body,
        )

    async def _sent(self, request: httpx.Request, most: int) -> tuple[httpx.Response, bytes]:
        response = await self._http.send(request, stream=True)
        try:
            if response.headers.get("content-encoding", "identity") != "identity":
                raise httpx.DecodingError("its answer is compressed, which was not asked for")
            body = bytearray()
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > most:
                    raise httpx.DecodingError(f"its answer is larger than {most:,} bytes")
            return response, bytes(body)
        finally:
            await response.aclose()


def _headers(name: str, upstream: Upstream, server: Mapping[str, str]) -> dict[str, str]:
    said = {header: f"env:{source}" for header, source in upstream.headers_env.items()}
    values, lacking = environment(server, said)
    if lacking:
        raise BadDeclaration(
            f"[upstream.{name}] names the environment variable {lacking[0]}, which the server does"
            " not have; set it and start again."
        )
    return {header.lower(): values[header] for header in said}


def _heard(tool: Tool, response: httpx.Response, body: bytes) -> Heard:
    status = response.status_code
    headers: dict[str, JSON] = {h: response.headers[h] for h in SHOWN if h in response.headers}
    said = _body(response.headers.get("content-type", ""), body)
    value: JSON = {"status": status, "headers": headers, "body": said}
    if response.is_success:
        return Heard(value)
    words = f"{status} {response.reason_phrase}".strip()
    if response.is_client_error:
        text = body[: _WORDS * 4].decode(errors="replace")[:_WORDS]
        return Heard(value, f"{words}: {text}" if text else words, refused=status in REFUSED)
    if response.is_redirect and tool.effect == "read":
        return Heard(value, f"{words}: redirects are not followed")
    raise Unreturned(f"{tool.name} was answered with {words}, which leaves open what it did")


def _body(kind: str, body: bytes) -> JSON:
    """A body as JSON if it says so and is, as text otherwise, null when there is none."""
    if not body:
        return None
    if re.search(r"[/+]json\b", kind):
        try:
            return loads(body, limit=len(body))
        except NotCanonical:
            pass
    return body.decode(errors="replace")


def _path(said: Request, arguments: dict[str, JSON]) -> str:
    """The path, its holes filled so that no value can leave its place in it."""
    parts = {name: quote(_scalar(name, arguments.get(name)), safe="") for name in said.holes}
    path = said.at(parts)
    if "" in parts.values() or {".", ".."} & set(path.split("/")):
        raise Unreached("bad_argument", f"No request was made: {path!a:.200} leaves its place.")
    return path


def _query(name: str, value: JSON) -> list[tuple[str, str]]:
    if value is None:
        return []
    values = value if isinstance(value, list) else [value]
    return [(name, _scalar(name, one)) for one in values]


def _header(value: JSON) -> str:
    text = _scalar("a header", value)
    if not (text.isascii() and text.isprintable()):
        raise Unreached("bad_argument", "No request was made: a header has other characters.")
    return text


def _scalar(name: str, value: JSON) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return canonical(value).decode()
    raise Unreached("bad_argument", f"No request was made: {name} is neither text nor a number.")


def _why(error: Exception) -> str:
    return f"{str(error).rstrip('.')}." if str(error) else f"{type(error).__name__}."
