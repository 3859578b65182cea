"""From a request to an answer: version, route, faults, caller, body, handler, schema, log."""

import asyncio
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs

from sandbox.github import graph
from sandbox.github.auth import authenticate
from sandbox.github.caller import Caller
from sandbox.github.core import Core
from sandbox.github.faults import Fault
from sandbox.github.log import Entry
from sandbox.github.refusal import DOCS, Refused, not_found
from sandbox.github.schema import API_VERSIONS, Description, Known, Schema, api

from .call import ROUTES, Call, Reply, admit
from .limits import rate_headers
from .operations import Operation, find, request_schema, response_schema

NEWEST = "2026-03-10"
UNVERSIONED = "2022-11-28"
"""GitHub serves unversioned requests with the oldest supported version."""


@dataclass(frozen=True, slots=True)
class Question:
    """One HTTP request, as bytes and strings."""

    method: str
    path: str
    """Still escaped, as it came over the wire."""
    query: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer; None in its place means that the connection breaks."""

    status: int
    body: bytes
    headers: dict[str, str]


async def answer(world: Core, question: Question) -> Answer | None:
    """Answer a REST or GraphQL request as GitHub would, or as a fault wants it."""
    version = question.headers.get("x-github-api-version") or UNVERSIONED
    known = version in API_VERSIONS
    hit = find(version if known else NEWEST, question.method, question.path)
    if hit and (hit[0].method, hit[0].template) not in ROUTES:
        hit = None  # the sandbox lacks it: written down as unknown, so that no test relies on it
    by_graph = question.method == "POST" and question.path in graph.PATHS
    template = hit[0].template if hit else None
    template = graph.template_of(question.body) if by_graph else template
    faults = world.faults.for_request(question.method, template, question.path)
    desk = _Desk(world, question, version if known else NEWEST)
    reply = await _disturb(faults, "before")
    if reply is None and not any(f.drop and f.when == "before" for f in faults):
        past = next((fault.stale for fault in faults if fault.stale), None)
        then = world.at(past) if past else world
        reply = desk.graph(then) if by_graph else desk.reply(hit, known=known, world=then)
        reply = await _disturb(faults, "after") or reply
    if reply is None or any(fault.drop for fault in faults):
        desk.note(template, 0)
        return None
    desk.note(template, reply.status)
    extra = {name: text for fault in faults for name, text in fault.headers.items()}
    return desk.finished(reply, hit[0] if hit else None, extra)


async def _disturb(faults: list[Fault], when: str) -> Reply | None:
    reply = None
    for fault in faults:
        if fault.when != when:
            continue
        if fault.delay:
            await asyncio.sleep(fault.delay)
        if fault.run:
            await fault.run()
        if fault.status:
            reply = _refusal(Refused(fault.status, fault.message))
    return reply


def _refusal(refused: Refused) -> Reply:
    return Reply(
        Known(
            message=refused.message,
            documentation_url=DOCS,
            status=str(refused.status),
            **({"errors": refused.errors} if refused.errors else {}),
            # Without it, GitHub's description cannot tell two of its own errors apart.
            **({"url": DOCS} if refused.status == HTTPStatus.CONFLICT else {}),
        ),
        refused.status,
    )


def fitting(description: Description, schema: Schema, errors: list[Any]) -> list[Any]:
    """Write errors as this answer's schema wants them: as words or as objects with a code."""
    members: Schema = description.resolve(schema).get("properties", {})
    words = members.get("errors", {}).get("items", {}).get("type") == "string"
    if words:
        return [e if isinstance(e, str) else e.get("message", e["code"]) for e in errors]
    return [e if isinstance(e, dict) else {"code": "custom", "message": e} for e in errors]


class _Desk:
    """Where one request is handled: remembers who asked and which links the answer has."""

    def __init__(self, world: Core, question: Question, version: str) -> None:
        self.world = world
        self.question = question
        self.version = version
        self.caller = Caller("nobody")
        self.call: Call | None = None

    def reply(
        self, hit: tuple[Operation, dict[str, str]] | None, *, known: bool, world: Core
    ) -> Reply:
        """Run the handler, or say why not."""
        if not known:
            asked = self.question.headers["x-github-api-version"]
            return _refusal(Refused(400, f"Unsupported API version: {asked[:40]!r}"))
        try:
            self.caller = authenticate(self.world, self.question.headers.get("authorization"))
            if hit is None:
                return _refusal(not_found())
            route = ROUTES[hit[0].method, hit[0].template]
            self.call = self._call(world, hit[1])
            admit(self.call, route.needs, hit[0].template)
            if self.call.found and self.call.found.archived and hit[0].method != "GET":
                return _refusal(Refused(403, "Repository was archived so is read-only."))
            self.call.body = self._body(hit[0])
            return route.handler(self.call)
        except Refused as refused:
            return _refusal(refused)

    def graph(self, world: Core) -> Reply:
        """Answer a GraphQL query, which has neither route nor version."""
        try:
            self.caller = authenticate(self.world, self.question.headers.get("authorization"))
            shown = graph.answered(world, self.caller, self.question.body)
        except Refused as refused:
            return _refusal(refused)
        return Reply(raw=json.dumps(shown, separators=(",", ":")).encode())

    def _call(self, world: Core, path: dict[str, str]) -> Call:
        query = parse_qs(self.question.query, keep_blank_values=True)
        return Call(
            world=world,
            caller=self.caller,
            url=f"{world.url}{self.question.path}",
            path=path,
            query={name: values[-1] for name, values in query.items()},
            body={},
            accept=self.question.headers.get("accept", ""),
        )

    def _body(self, operation: Operation) -> dict[str, Any]:
        schema = request_schema(operation)
        required = operation.spec.get("requestBody", {}).get("required")
        if schema is None or not (self.question.body or required):
            return {}
        try:
            value = json.loads(self.question.body or b"{}")
        except (ValueError, RecursionError) as bad:
            raise Refused(400, "Problems parsing JSON") from bad
        if wrong := list(api(self.version).misfits(schema, value)):
            raise Refused(422, "Invalid request.\n\n" + "\n".join(wrong))
        if value is not None and not isinstance(value, dict):
            raise Refused(400, "Body should be a JSON object")
        return value or {}

    def finished(self, reply: Reply, operation: Operation | None, extra: dict[str, str]) -> Answer:
        """Build the body by GitHub's schema and add GitHub's headers."""
        headers = self._headers() | extra
        if reply.raw is not None:
            return Answer(reply.status, reply.raw, headers | {"content-type": reply.media})
        schema = {"$ref": "#/components/schemas/basic-error"}
        if operation:
            schema = response_schema(self.version, operation, reply.status) or {}
        if not schema:
            return Answer(reply.status, b"", headers)
        value = reply.value
        if isinstance(value, Known) and "errors" in value:
            value["errors"] = fitting(api(self.version), schema, value["errors"])
        built = api(self.version).build(schema, value)
        body = json.dumps(built, separators=(",", ":")).encode()
        return Answer(reply.status, body, headers | {"content-type": reply.media})

    def _headers(self) -> dict[str, str]:
        links = self.call.links if self.call else {}
        shown = ", ".join(f'<{url}>; rel="{rel}"' for rel, url in links.items())
        return {
            "date": self.world.clock.date_header(),
            "server": "github.com",
            "x-github-request-id": uuid.uuid4().hex[:20].upper(),
            "x-github-media-type": "github.v3; format=json",
            "x-github-api-version-selected": self.version,
            **rate_headers(self.world),
            **({"link": shown} if shown else {}),
        }

    def note(self, template: str | None, status: int) -> None:
        """Write the request into the route log."""
        app = self.caller.app
        asked, now = self.question, self.world.clock.now()
        number = app.id if app else None
        entry = Entry(asked.method, template, asked.path, status, self.caller.kind, number, now)
        self.world.log.add(entry)
