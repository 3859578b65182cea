"""The judge: does what goes over the wire agree with GitHub's own published descriptions?

Always on in tests. It knows nothing of our code; it reads only ``sandbox/github/descriptions``.
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import jsonschema_rs

from tests.openapi import (
    Operation,
    Schema,
    components,
    described,
    operations,
    reached,
    read,
    resolved,
)

ROOT = Path(__file__).parent.parent
DESCRIPTIONS = ROOT / "sandbox" / "github" / "descriptions"
FORMATS = {"repo.nwo": lambda text: bool(re.fullmatch(r"[^/]+/[^/]+", text))}
# GitHub's REST guides ("API versions"): without the header the API answers as this version.
UNVERSIONED = "2022-11-28"
# Statuses GitHub's guides ("Troubleshooting", "Rate limits") announce for every operation,
# though most operations do not list them.
ANYWHERE = {400, 401, 403, 404, 422, 429, 500, 502, 503, 504}
ERRORS = ("basic-error", "validation-error", "validation-error-simple")

Headers = dict[str, str]
Validator = jsonschema_rs.Draft202012Validator


def media_type(headers: Headers) -> str:
    """The content type without its parameters; header names in lower case."""
    return headers.get("content-type", "").split(";")[0].strip().lower()


def complaint(error: jsonschema_rs.ValidationError) -> str:
    """Where and what; for a choice of schemas, what the nearest choice complains of."""
    context = getattr(error.kind, "context", None)
    if context:
        nearest = min(context, key=lambda branch: (-max(_depths(branch)), len(branch)))
        own = [e for e in nearest if not _follows_from_another(e, nearest)]
        return "; ".join(complaint(e) for e in own[:5])
    where = "/".join(map(str, error.instance_path)) or "."
    return f"{where}: {error.message[-200:]}"


def _follows_from_another(
    error: jsonschema_rs.ValidationError, errors: list[jsonschema_rs.ValidationError]
) -> bool:
    """Whether members only look unexpected because the branch that names them failed."""
    path = error.instance_path
    return error.kind.name == "unevaluatedProperties" and any(
        e is not error and e.instance_path[: len(path)] == path for e in errors
    )


def _depths(branch: list[jsonschema_rs.ValidationError]) -> list[int]:
    return [len(e.instance_path) for e in branch] or [0]


@dataclass
class Description:
    """One description with its routes; validators are compiled when first needed."""

    document: Schema
    routes: list[Operation] = field(default_factory=list)
    beside: dict[bool, Schema] = field(default_factory=dict)
    compiled: dict[tuple[str, bool], Validator] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if "paths" in self.document:
            self.routes = operations(self.document)

    def complaints(self, key: str, schema: Schema, value: Any, *, close: bool = True) -> list[str]:
        """What is wrong with the value; the key names the schema in the cache."""
        if (key, close) not in self.compiled:
            if close not in self.beside:
                self.beside[close] = components(self.document, close=close)
            alone = described(self.document, schema, close=close)
            # With all components beside it, each of hundreds of validators would take 2 to 16 MB.
            whole = alone | reached(alone, self.beside[close])
            self.compiled[key, close] = Validator(whole, validate_formats=True, formats=FORMATS)
        errors = list(self.compiled[key, close].iter_errors(value))
        return [complaint(e) for e in errors if not _follows_from_another(e, errors)]


class Judge:
    """Says what is wrong with an exchange or a webhook, in sentences; silence is agreement."""

    def __init__(self, versions: dict[str, Schema], webhooks: Schema) -> None:
        self.versions = {version: Description(doc) for version, doc in versions.items()}
        self.webhooks = Description(webhooks)

    @classmethod
    def load(cls, folder: Path = DESCRIPTIONS) -> "Judge":
        versions = {
            "2026-03-10": read(folder / "github-api-subset.json"),
            "2022-11-28": read(folder / "github-api-subset-2022-11-28.json"),
        }
        return cls(versions, read(folder / "github-webhooks-subset.json"))

    def operation(
        self, method: str, url: str, headers: Headers
    ) -> tuple[Description, Operation, dict[str, str]] | None:
        """What GitHub calls this request, with the path's values; None when it says nothing."""
        version = headers.get("x-github-api-version", UNVERSIONED)
        path = urlsplit(url).path
        if version in self.versions:
            for op in self.versions[version].routes:
                if op.method == method.upper() and (hit := op.pattern.fullmatch(path)):
                    values = {name: unquote(text) for name, text in hit.groupdict().items()}
                    return self.versions[version], op, values
        return None

    def exchange(  # one argument for each thing that goes over the wire
        self,
        method: str,
        url: str,
        request_headers: Headers,
        request_body: bytes,
        status: int,
        response_headers: Headers,
        response_body: bytes,
    ) -> list[str]:
        """Judge a request and its answer; header names are in lower case."""
        found = self.operation(method, url, request_headers)
        if found is None:
            return [f"{method} {urlsplit(url).path}: no such operation in this API version"]
        description, op, values = found
        wrong = [f"path {text}" for text in _parameters(description, op, "path", values)]
        wrong += [f"query {text}" for text in _query(description, op, urlsplit(url).query)]
        wrong += [f"request {text}" for text in _request(description, op, request_body)]
        answer = _response(description, op, status, media_type(response_headers), response_body)
        wrong += [f"response {status} {text}" for text in answer]
        return [f"{op}: {text}" for text in wrong]

    def webhook(
        self, event: str, body: Any, headers: Headers | None = None, *, closed: bool = True
    ) -> list[str]:
        """Judge a delivery's JSON value; with headers, also that GitHub's are all there."""
        action = body.get("action") if isinstance(body, dict) else None
        name = f"{event}-{action}" if action else event
        item = self.webhooks.document["webhooks"].get(name.replace("_", "-"))
        if item is None:
            return [f"webhook {name}: GitHub describes no such webhook"]
        post = item["post"]
        schema = post["requestBody"]["content"]["application/json"]["schema"]
        wrong = self.webhooks.complaints(name, schema, body, close=closed)
        if headers is not None:
            wanted = {p["name"].lower() for p in post["parameters"] if p.get("required")}
            missing = sorted((wanted | {"x-hub-signature-256"}) - headers.keys())
            wrong += [f"header {name} is missing" for name in missing]
        return [f"webhook {name}: {text}" for text in wrong]


def _query(description: Description, op: Operation, query: str) -> list[str]:
    given = parse_qs(query, keep_blank_values=True)
    known = {p["name"] for p in op.parameters if p["in"] == "query"}
    wrong = [f"{name!r} is not a parameter" for name in given if name not in known]
    wrong += [f"{name!r} is given twice" for name, values in given.items() if len(values) > 1]
    values = {name: values[0] for name, values in given.items()}
    return wrong + _parameters(description, op, "query", values)


def _parameters(
    description: Description, op: Operation, place: str, values: dict[str, str]
) -> list[str]:
    wrong = []
    for parameter in (p for p in op.parameters if p["in"] == place):
        name, schema = parameter["name"], parameter.get("schema", {})
        if name in values:
            value = _typed(schema, values[name])
            key = f"{op} {place} {name}"
            found = description.complaints(key, schema, value)
            wrong += [f"{name!r} {text}" for text in found]
        elif parameter.get("required"):
            wrong.append(f"{name!r} is missing")
    return wrong


def _typed(schema: Schema, text: str) -> str | int | bool:
    types = {schema.get("type"), *(branch.get("type") for branch in schema.get("oneOf", []))}
    if "integer" in types and re.fullmatch(r"-?\d+", text):
        return int(text)
    if "boolean" in types and text in ("true", "false"):
        return text == "true"
    return text


def _request(description: Description, op: Operation, body: bytes) -> list[str]:
    wanted = op.described.get("requestBody")
    if wanted is None:
        return ["body is sent to an operation that has none"] if body not in (b"", b"{}") else []
    if not body:
        return ["body is missing"] if wanted.get("required") else []
    schema = wanted["content"]["application/json"].get("schema", {})
    return _json_body(description, f"{op} request", schema, body)


def _response(
    description: Description, op: Operation, status: int, media: str, body: bytes
) -> list[str]:
    listed = op.described["responses"].get(str(status))
    if listed is None and status in ANYWHERE:
        named = [{"$ref": f"#/components/schemas/{name}"} for name in ERRORS]
        # Another media type is a proxy's page: nobody describes these.
        is_json = media == "application/json"
        return _json_body(description, "error", {"anyOf": named}, body) if is_json else []
    if listed is None:
        return [f"status is not documented (only {', '.join(op.described['responses'])})"]
    content = resolved(description.document, listed).get("content")
    if not content:
        return ["has a body where none is documented"] if body else []
    if media not in ("application/json", *content):
        return [f"media type {media!r} is not documented (only {', '.join(content)})"]
    if "json" not in media:
        return []
    schema = content.get(media, content.get("application/json", {})).get("schema", {})
    return _json_body(description, f"{op} {status}", schema, body)


def _json_body(description: Description, key: str, schema: Schema, body: bytes) -> list[str]:
    try:
        value = json.loads(body)
    except ValueError:
        return ["body is not JSON"]
    return description.complaints(key, schema, value)
