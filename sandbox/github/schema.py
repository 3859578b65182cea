"""Objects built from GitHub's descriptions: all that is required, nothing that is unknown."""

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from .misfit import JSON_TYPES, blank, is_a, limits, types_of

DESCRIPTIONS = Path(__file__).parent / "descriptions"
API_VERSIONS = {
    "2026-03-10": "github-api-subset.json",
    "2022-11-28": "github-api-subset-2022-11-28.json",
}
MISSING: Any = object()
Schema = dict[str, Any]
BOTH = "x-both"
"""Marks a member that two parts of an `allOf` describe: closed, it has what both of them know."""


class SchemaError(Exception):
    """The sandbox was about to say something that GitHub's description does not know."""


class Known(dict[str, Any]):
    """All that is known about one thing: each schema takes the members it has and leaves the rest.

    A plain dict is closed instead: a member that the schema does not know raises SchemaError.
    """


class Description:
    """One of GitHub's OpenAPI documents (3.0 REST or 3.1 webhooks)."""

    def __init__(self, document: Schema) -> None:
        self.document = document
        self._resolved: dict[int, Schema] = {}

    def resolve(self, schema: Schema) -> Schema:
        """Follow references and fold `allOf` into one schema."""
        if id(schema) not in self._resolved:
            self._resolved[id(schema)] = self._fold(schema)
        return self._resolved[id(schema)]

    def _fold(self, schema: Schema) -> Schema:
        if "$ref" in schema:
            _, _, kind, name = schema["$ref"].split("/")
            return self.resolve(self.document["components"][kind][name])
        if "allOf" not in schema:
            return schema
        parts = [self.resolve(part) for part in schema["allOf"]]
        folded: Schema = {}
        for part in [*parts, {key: value for key, value in schema.items() if key != "allOf"}]:
            for key, value in part.items():
                folded[key] = _joined(key, folded[key], value) if key in folded else value
        nullable = all(self.nullable(part) for part in parts)
        folded["nullable"] = schema.get("nullable", False) or nullable
        if schema.get(BOTH) and all("properties" in part for part in parts):
            shared = set.intersection(*(set(part["properties"]) for part in parts))
            folded["properties"] = {name: folded["properties"][name] for name in shared}
        return folded

    def build(self, schema: Schema, value: Any = MISSING, name: str = "") -> Any:
        """Return a JSON value of this schema: required members filled, the given ones placed."""
        found = self.resolve(schema)
        if value is MISSING:
            return self._blank(found, name)
        if value is None:
            if not self.nullable(found):
                raise SchemaError(f"{name or 'the value'} may not be null")
            return None
        if "properties" not in found and (options := found.get("oneOf") or found.get("anyOf")):
            return self.build(self._option(options, value, name), value, name)
        if isinstance(value, dict):
            return self._object(found, value, name)
        if isinstance(value, list | tuple):
            return [self.build(found.get("items", {}), item, name) for item in value]
        return value

    def _object(self, schema: Schema, value: dict[str, Any], name: str) -> Any:
        members: Schema = schema.get("properties", {})
        if not members:
            return dict(value)
        unknown = value.keys() - members.keys()
        if unknown and not isinstance(value, Known):
            if isinstance(further := schema.get("additionalProperties"), dict):
                members = {**members, **dict.fromkeys(sorted(unknown), further)}
                return self._object({**schema, "properties": members}, value, name)
            raise SchemaError(f"{name or 'the object'} has no member {', '.join(sorted(unknown))}")
        required = set(schema.get("required", ()))
        if isinstance(value, Known):
            value = {m: v for m, v in value.items() if not self._absent(members, m, v)}
        return {
            member: self.build(sub, value.get(member, MISSING), member)
            for member, sub in members.items()
            if member in value or member in required
        }

    def _absent(self, members: Schema, member: str, value: Any) -> bool:
        """Whether nothing is known of a member that may not be null: it is better left out."""
        unknown = member not in members
        return unknown or (value is None and not self.nullable(self.resolve(members[member])))

    def _option(self, options: list[Schema], value: Any, name: str) -> Schema:
        fitting = [option for option in options if self._fits(self.resolve(option), value)]
        if not fitting:
            raise SchemaError(f"no variant of {name or 'the value'} takes {value!r}"[:300])
        return max(fitting, key=lambda option: self._likeness(self.resolve(option), value))

    def _likeness(self, schema: Schema, value: Any) -> int:
        """Count the members in common, less the required ones that are not given."""
        if not isinstance(value, dict):
            return 0
        shared = schema.get("properties", {}).keys() & value.keys()
        return len(shared) - len(set(schema.get("required", ())) - value.keys())

    def _fits(self, schema: Schema, value: Any) -> bool:
        if options := schema.get("oneOf") or schema.get("anyOf"):
            return any(self._fits(self.resolve(option), value) for option in options)
        if not any(isinstance(value, JSON_TYPES[kind]) for kind in types_of(schema) or {"object"}):
            return False
        if not isinstance(value, dict):
            return True
        members: Schema = schema.get("properties", {})
        if value and not members.keys() & value.keys():
            return False
        return all(
            value[member] in sub["enum"]
            for member, sub in ((m, self.resolve(s)) for m, s in members.items())
            if member in value and "enum" in sub
        ) and (isinstance(value, Known) or not value.keys() - members.keys())

    def _blank(self, schema: Schema, name: str) -> Any:
        if self.nullable(schema):
            return None
        if "enum" in schema:
            return schema["enum"][0]
        if "properties" not in schema and (options := schema.get("oneOf") or schema.get("anyOf")):
            return self.build(options[0], MISSING, name)
        if "object" in types_of(schema) or "properties" in schema:
            return self._object(schema, Known(), name)
        return blank(schema, name)

    def nullable(self, schema: Schema) -> bool:
        """Whether null is allowed here."""
        if schema.get("nullable") or None in schema.get("enum", ()):
            return True
        kinds, options = types_of(schema), schema.get("oneOf") or schema.get("anyOf")
        if options and "properties" not in schema:
            allowed = any(self.nullable(self.resolve(option)) for option in options)
            return allowed and (not kinds or "null" in kinds)
        return "null" in kinds

    def misfits(self, schema: Schema, value: Any, where: str = "") -> Iterator[str]:
        """Say what an outside JSON value (a request) lacks or has wrong, member by member."""
        found = self.resolve(schema)
        if value is None and self.nullable(found):
            return
        kinds = types_of(found)
        if kinds and not any(is_a(kind, value) for kind in kinds):
            yield f"{where or 'For the body'}: {json.dumps(value)[:80]} is not of type {kinds}."
            return
        yield from limits(found, value, where)
        if options := found.get("oneOf") or found.get("anyOf"):
            tried = [list(self.misfits(option, value, where)) for option in options]
            if all(tried):
                yield from min(tried, key=len)
        yield from self._inside(found, value, where)

    def _inside(self, schema: Schema, value: Any, where: str) -> Iterator[str]:
        if isinstance(value, dict):
            for member in schema.get("required", ()):
                if member not in value:
                    yield f"{where}/{member} wasn't supplied."
            for member, sub in schema.get("properties", {}).items():
                if member in value:
                    yield from self.misfits(sub, value[member], f"{where}/{member}")
        if isinstance(value, list):
            for index, item in enumerate(value):
                yield from self.misfits(schema.get("items", {}), item, f"{where}/{index}")


def _joined(key: str, old: Any, new: Any) -> Any:
    """Join what two parts of an `allOf` say under one key."""
    if key == "required":
        return [*old, *new]
    if key == "type":
        return sorted(types_of({key: old}) & types_of({key: new}))
    if key == "properties":
        twice = {n: {"allOf": [old[n], new[n]], BOTH: True} for n in old.keys() & new.keys()}
        return old | new | twice
    return new


def _load(name: str) -> Any:
    return json.loads((DESCRIPTIONS / name).read_bytes())


@lru_cache
def api(version: str) -> Description:
    """Give the REST description of one API version (a key of API_VERSIONS)."""
    return Description(_load(API_VERSIONS[version]))


@lru_cache
def webhooks() -> Description:
    """Give the description of the webhook bodies."""
    return Description(_load("github-webhooks-subset.json"))
