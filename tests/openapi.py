"""GitHub's OpenAPI descriptions as JSON Schema 2020-12 and as a table of routes.

Closed means: an object admits only the members its description names, so a misspelt or
invented member is an error. Parts of an object that stand apart (``allOf``) are folded into one
first, because each of them alone would refuse the others' members.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Schema = dict[str, Any]

OPENAPI_ONLY = {
    "nullable", "example", "discriminator", "xml", "externalDocs", "deprecated", "readOnly",
    "writeOnly",
}  # fmt: skip
METHODS = {"get", "put", "post", "patch", "delete"}
# What GitHub sends though its description forgets it: error bodies repeat the status code.
KNOWN_EXTRAS: dict[frozenset[str], Schema] = {
    frozenset({"message", "documentation_url"}): {"status": {"type": "string"}}
}


def read(path: Path) -> Any:
    return json.loads(path.read_bytes())


def converted(schema: Any, *, close: bool, branch: bool = False) -> Any:
    """A schema object of OpenAPI 3.0 or 3.1 as JSON Schema 2020-12, closed when asked.

    A branch of alternatives that stand beside members is left open: the whole is closed.
    """
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema and not (schema.keys() - {"$ref", "nullable", "description"}):
        return {"$ref": schema["$ref"]}
    out = {
        key: _keyword(key, value, close=close, branches="properties" in schema)
        for key, value in schema.items()
        if key not in OPENAPI_ONLY
    }
    if close:
        shut(out, branch=branch)
    return or_null(out) if schema.get("nullable") else out


def _keyword(key: str, value: Any, *, close: bool, branches: bool) -> Any:
    if key in ("properties", "patternProperties"):
        return {name: converted(sub, close=close) for name, sub in value.items()}
    if key in ("allOf", "oneOf", "anyOf"):
        return [converted(sub, close=close, branch=branches) for sub in value]
    if key in ("items", "additionalProperties", "not"):
        return converted(value, close=close)
    return value


def shut(schema: Schema, *, branch: bool) -> None:
    """Admit only named members; alternatives beside members are closed together with them."""
    properties = schema.get("properties", {})
    for mark, extra in KNOWN_EXTRAS.items():
        if mark <= properties.keys():
            schema["properties"] = extra | properties
    if branch:
        # "additionalProperties: true" in a branch would let everything through the whole.
        if schema.get("additionalProperties") is True:
            del schema["additionalProperties"]
    elif properties:
        combined = {"oneOf", "anyOf"} & schema.keys()
        word = "unevaluatedProperties" if combined else "additionalProperties"
        schema.setdefault(word, False)


def folded(description: Schema, schema: Any) -> Any:
    """The same schema with every `allOf` of objects folded into one object."""
    if isinstance(schema, list):
        return [folded(description, item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "allOf" in schema:
        parts = [folded(description, resolved(description, part)) for part in schema["allOf"]]
        if all("properties" in part for part in parts):
            rest = {key: value for key, value in schema.items() if key != "allOf"}
            return _merged(description, parts, folded(description, rest))
    return {key: folded(description, value) for key, value in schema.items()}


def _merged(description: Schema, parts: list[Schema], rest: Schema) -> Schema:
    out: Schema = {"properties": {}, "required": []}
    for part in [*parts, rest]:
        members = out["properties"]
        for name, sub in part.get("properties", {}).items():
            both = {"allOf": [members[name], sub]} if name in members else sub
            members[name] = folded(description, both)
        out |= {k: v for k, v in part.items() if k not in ("properties", "required", "nullable")}
        out["required"] = sorted({*out["required"], *part.get("required", [])})
    kinds = [_types(part) for part in parts if "type" in part]
    nullable = rest.get("nullable") or (kinds and "null" in set.intersection(*kinds))
    return out | {"type": "object", "nullable": bool(nullable)}


def _types(schema: Schema) -> set[str]:
    named = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return {*named, "null"} if schema.get("nullable") else set(named)


def or_null(schema: Schema) -> Schema:
    if {"allOf", "oneOf", "anyOf"} & schema.keys() or not isinstance(schema.get("type"), str):
        return {"anyOf": [{"type": "null"}, schema]}
    nullable = schema | {"type": [schema["type"], "null"]}
    return nullable | {"enum": [*schema["enum"], None]} if "enum" in schema else nullable


def described(description: Schema, schema: Schema, *, close: bool) -> Schema:
    """A schema of this description, open as GitHub wrote it or closed."""
    ready = folded(description, schema) if close else schema
    found: Schema = converted(ready, close=close)
    return found


def components(description: Schema, *, close: bool) -> Schema:
    """Every named schema of a description, to lie beside a schema that refers to them."""
    named = description["components"]["schemas"]
    return {
        "components": {
            "schemas": {n: described(description, s, close=close) for n, s in named.items()}
        }
    }


def reached(schema: Schema, beside: Schema) -> Schema:
    """The part of `beside` (as `components` gives it) that a schema refers to, however far away."""
    named, found = beside["components"]["schemas"], {}
    waiting = [*references(schema)]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = named[name]
            waiting += references(named[name])
    return {"components": {"schemas": found}}


def references(schema: Any) -> Iterator[str]:
    """The names of the components that a schema refers to itself."""
    if isinstance(schema, list):
        for item in schema:
            yield from references(item)
    elif isinstance(schema, dict):
        if isinstance(at := schema.get("$ref"), str):
            yield at.removeprefix("#/components/schemas/")
        for item in schema.values():
            yield from references(item)


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path: how it is recognised, and what GitHub says of it."""

    method: str
    path: str
    pattern: re.Pattern[str]
    parameters: tuple[Schema, ...]
    described: Schema

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def resolved(description: Schema, node: Schema) -> Schema:
    """The node itself, or what its ``$ref`` names."""
    while "$ref" in node:
        _, _, kind, name = node["$ref"].split("/")
        node = description["components"][kind][name]
    return node


def operations(description: Schema) -> list[Operation]:
    """All operations, the most literal path first: the first whose pattern fits is the one."""
    found = list(_operations(description))
    return sorted(found, key=lambda op: (op.path.count("{"), -len(op.path)))


def _operations(description: Schema) -> Iterator[Operation]:
    for path, item in description["paths"].items():
        for method in METHODS & item.keys():
            listed = [*item.get("parameters", []), *item[method].get("parameters", [])]
            parameters = tuple(resolved(description, p) for p in listed)
            many = {p["name"] for p in parameters if p.get("x-multi-segment")}
            pattern = re.compile(_pattern(path, many))
            yield Operation(method.upper(), path, pattern, parameters, item[method])


def _pattern(path: str, many: set[str]) -> str:
    parts = re.split(r"\{(\w+)\}", path)
    # An empty path is the root folder: GitHub answers contents/ as it answers contents.
    kinds = dict.fromkeys(many, ".+") | ({"path": ".*"} if "path" in many else {})
    wild = [f"(?P<{name}>{kinds.get(name, '[^/]+')})" for name in parts[1::2]]
    literal = [re.escape(p) for p in parts[::2]]
    return "".join(a + b for a, b in zip(literal, [*wild, ""], strict=True))
