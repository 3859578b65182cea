"""The judge of GraphQL: do a query and its answer agree with GitHub's own schema?

Its own reading of ``sandbox/github/descriptions``, beside the sandbox's.
"""

import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    GraphQLEnumType,
    GraphQLError,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLUnionType,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    build_schema,
    parse,
    validate,
)

SCHEMA = Path(__file__).parents[1] / "sandbox/github/descriptions/github-graphql-subset.graphql"
PATHS = ("/graphql", "/api/graphql")
MEMBERS = {"query", "variables", "operationName"}
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
SHA = re.compile("[0-9a-f]{40}")
SCALARS: dict[str, Callable[[Any], bool]] = {
    "DateTime": lambda v: isinstance(v, str) and bool(DATE.fullmatch(v)),
    "GitObjectID": lambda v: isinstance(v, str) and bool(SHA.fullmatch(v)),
    "BigInt": lambda v: isinstance(v, str) and v.isdecimal(),
    "Int": lambda v: type(v) is int and abs(v) < 2**31,
    "String": lambda v: isinstance(v, str),
    "Boolean": lambda v: isinstance(v, bool),
}


@lru_cache
def schema() -> GraphQLSchema:
    return build_schema(SCHEMA.read_text())


def complaints(request: bytes, status: int, response: bytes) -> list[str]:
    """What is wrong with a query and its answer, in sentences."""
    try:
        asked, told = json.loads(request), json.loads(response)
        document = parse(asked["query"])
    except (ValueError, LookupError, TypeError, GraphQLError) as error:
        return [f"graphql: {error!r}"]
    wrong = [f"graphql: {error.message}" for error in validate(schema(), document)]
    wrong += [f"graphql: {name!r} is no member of a query" for name in asked.keys() - MEMBERS]
    if wrong or status != 200:
        return wrong
    wrong += [f"graphql: {name!r} is no member" for name in told.keys() - {"data", "errors"}]
    wrong += _errors(told) if "errors" in told else []
    if told.get("data") is not None:
        wrong += _data(document, told)
    elif "errors" not in told:
        wrong.append("graphql: neither data nor errors")
    return wrong


def _errors(told: dict[str, Any]) -> Iterator[str]:
    listed = told["errors"]
    if not isinstance(listed, list) or not listed:
        yield "graphql: errors are a list of at least one"
    elif not all(isinstance(error.get("message"), str) for error in listed):
        yield "graphql: an error has words"


def _data(document: DocumentNode, told: dict[str, Any]) -> Iterator[str]:
    [operation] = [d for d in document.definitions if isinstance(d, OperationDefinitionNode)]
    root = schema().query_type
    lost = {tuple(error.get("path") or ()) for error in told.get("errors", [])}
    for text in _fits(root, operation.selection_set, told["data"], ()):
        if not any(text[0][: len(path)] == path for path in lost):
            yield f"graphql: {'.'.join(map(str, text[0]))} {text[1]}"


Found = Iterator[tuple[tuple[str | int, ...], str]]


def _fits(kind: Any, chosen: SelectionSetNode | None, value: Any, at: tuple[Any, ...]) -> Found:
    if isinstance(kind, GraphQLNonNull):
        if value is None:
            yield at, "may not be null"
        yield from _fits(kind.of_type, chosen, value, at)
    elif value is not None and isinstance(kind, GraphQLScalarType | GraphQLEnumType):
        if not _is(kind, value):
            yield at, f"is no {kind.name}: {value!r}"
    elif value is not None:
        yield from _nested(kind, chosen, value, at)


def _is(kind: GraphQLScalarType | GraphQLEnumType, value: Any) -> bool:
    return value in kind.values if isinstance(kind, GraphQLEnumType) else SCALARS[kind.name](value)


def _nested(kind: Any, chosen: SelectionSetNode | None, value: Any, at: tuple[Any, ...]) -> Found:
    if isinstance(kind, GraphQLList):
        for index, item in enumerate(value):
            yield from _fits(kind.of_type, chosen, item, (*at, index))
    elif isinstance(kind, GraphQLUnionType | GraphQLInterfaceType):
        possible = schema().get_possible_types(kind)
        tried = [list(_fits(one, chosen, value, at)) for one in possible]
        if all(tried):
            yield from min(tried, key=len)
    else:
        yield from _object(kind, chosen, value, at)


def _object(
    kind: GraphQLObjectType, chosen: SelectionSetNode | None, value: Any, at: tuple[Any, ...]
) -> Found:
    assert chosen is not None
    wanted = dict(_fields(kind, chosen))
    for name in value.keys() ^ wanted.keys():
        yield (*at, name), "is missing" if name in wanted else "was not asked for"
    for name in value.keys() & wanted.keys():
        if wanted[name].name.value == "__typename":
            if value[name] != kind.name:
                yield (*at, name), f"is not {kind.name}"
            continue
        field = kind.fields[wanted[name].name.value]
        yield from _fits(field.type, wanted[name].selection_set, value[name], (*at, name))


def _fields(kind: GraphQLObjectType, chosen: SelectionSetNode) -> Iterator[tuple[str, FieldNode]]:
    for one in chosen.selections:
        if isinstance(one, FieldNode):
            yield (one.alias or one.name).value, one
        elif isinstance(one, InlineFragmentNode):
            if one.type_condition and one.type_condition.name.value == kind.name:
                yield from _fields(kind, one.selection_set)
        else:
            raise TypeError("the judge knows no named fragments")
