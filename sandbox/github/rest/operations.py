"""GitHub's operations as a router: which one a request means, and what it may carry."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from sandbox.github.schema import Description, Schema, api

METHODS = ("get", "put", "post", "patch", "delete")


@dataclass(frozen=True, slots=True)
class Operation:
    """One method and path template of GitHub's description."""

    method: str
    template: str
    pattern: re.Pattern[str]
    spec: Schema
    parameters: list[Schema]


def _resolved(description: Description, node: Schema) -> Schema:
    return description.resolve(node)


def _pattern(template: str, parameters: list[Schema]) -> re.Pattern[str]:
    long = {p["name"] for p in parameters if p.get("x-multi-segment")} | {"path", "ref"}

    def group(found: re.Match[str]) -> str:
        name = found[1]
        some = ".*" if name == "path" else ".+" if name in long else "[^/]+"
        return f"(?P<{name}>{some})"

    escaped = re.sub(r"([.+])", r"\\\1", template)
    return re.compile(re.sub(r"\{(\w+)\}", group, escaped) + r"\Z")


def _operations(description: Description) -> Iterable[Operation]:
    for template, item in description.document["paths"].items():
        for method in METHODS:
            if spec := item.get(method):
                raw = [*item.get("parameters", ()), *spec.get("parameters", ())]
                parameters = [_resolved(description, node) for node in raw]
                pattern = _pattern(template, parameters)
                yield Operation(method.upper(), template, pattern, spec, parameters)


@lru_cache
def operations(version: str) -> list[Operation]:
    """List the operations of an API version, the most particular path first."""
    found = _operations(api(version))
    return sorted(found, key=lambda op: (op.template.count("{"), -len(op.template)))


def find(version: str, method: str, path: str) -> tuple[Operation, dict[str, str]] | None:
    """Find the operation and the path's parameters, unescaped; None for no route of GitHub's."""
    for operation in operations(version):
        if operation.method == method and (hit := operation.pattern.match(path)):
            return operation, {name: unquote(text) for name, text in hit.groupdict().items()}
    return None


def request_schema(operation: Operation) -> Schema | None:
    """Give the schema of the JSON body, if the operation takes one."""
    content = operation.spec.get("requestBody", {}).get("content", {})
    found: Schema | None = content.get("application/json", {}).get("schema")
    return found


def response_schema(version: str, operation: Operation, status: int) -> Schema | None:
    """Give the schema of an answer; GitHub's plain error where the status is not described."""
    description, described = api(version), operation.spec["responses"].get(str(status))
    if described is None:
        return {"$ref": "#/components/schemas/basic-error"}
    content: dict[str, Any] = description.resolve(described).get("content", {})
    if not content:
        return None
    found: Schema = content.get("application/json", next(iter(content.values())))["schema"]
    return found
