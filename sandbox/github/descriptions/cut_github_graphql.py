#!/usr/bin/env python3
"""Cut the part of GitHub's published GraphQL schema that the project uses.

Input: the unpacked npm package @octokit/graphql-schema (MIT), schema.graphql: GitHub's own public schema.
Output, in --out-dir: github-graphql-subset.graphql, the types and fields of KEEP as they stand there, prose dropped.

An argument is kept when its type is, an interface or a member of a union likewise.  Needs graphql-core; the output is
deterministic for a given input file.

  cut_github_graphql.py --graphql-schema DIR [--out-dir DIR]

DIR is the package folder, i.e. the one that holds package.json.
"""
import argparse
import hashlib
import json
import pathlib
import sys

from graphql import build_ast_schema, parse, print_ast
from graphql.language import (
    EnumTypeDefinitionNode,
    InterfaceTypeDefinitionNode,
    ObjectTypeDefinitionNode,
    UnionTypeDefinitionNode,
)

KEEP = {
    "Query": {"repository"},
    "Repository": {"databaseId", "isPrivate", "pullRequest"},
    "PullRequest": {"number", "headRefOid", "baseRefName", "state", "isDraft", "merged", "title", "body", "comments",
                    "lastEditedAt", "reviews", "timelineItems"},
    "PullRequestState": None,
    "IssueCommentConnection": {"nodes", "totalCount"},
    "IssueComment": {"author", "body", "createdAt", "fullDatabaseId"},
    "Actor": {"login"},
    "User": {"databaseId", "login"},
    "Bot": {"databaseId", "login"},
    "PullRequestReviewConnection": {"nodes"},
    "PullRequestReview": {"fullDatabaseId"},
    "PullRequestTimelineItemsConnection": {"nodes"},
    "PullRequestTimelineItems": None,
    "PullRequestTimelineItemsItemType": {"RENAMED_TITLE_EVENT"},
    "RenamedTitleEvent": {"createdAt", "currentTitle", "previousTitle"},
    "BigInt": None,
    "DateTime": None,
    "GitObjectID": None,
}
BUILT_IN = {"Int", "String", "Boolean", "Float", "ID"}


def named(node):
    while node.kind != "named_type":
        node = node.type
    return node.name.value


def kept(node, members):
    wanted = KEEP[node.name.value]
    return [member for member in members if wanted is None or member.name.value in wanted]


def argument(node):
    default = f" = {print_ast(node.default_value)}" if node.default_value else ""
    return f"{node.name.value}: {print_ast(node.type)}{default}"


def field(node):
    arguments = [argument(a) for a in node.arguments or () if named(a.type) in KEEP.keys() | BUILT_IN]
    listed = f"({', '.join(arguments)})" if arguments else ""
    return f"  {node.name.value}{listed}: {print_ast(node.type)}"


def cut(node):
    """One definition as text, and the names of the members it has."""
    name = node.name.value
    if isinstance(node, (ObjectTypeDefinitionNode, InterfaceTypeDefinitionNode)):
        members = kept(node, node.fields)
        lines = [field(member) for member in members]
        word = "type" if isinstance(node, ObjectTypeDefinitionNode) else "interface"
        kinds = " & ".join(i.name.value for i in node.interfaces or () if i.name.value in KEEP)
        head = f"{word} {name}{' implements ' * bool(kinds)}{kinds} {{"
        return "\n".join([head, *lines, "}"]), {member.name.value for member in members}
    if isinstance(node, EnumTypeDefinitionNode):
        have = [member.name.value for member in kept(node, node.values)]
        return "\n".join([f"enum {name} {{", *(f"  {value}" for value in have), "}"]), set(have)
    if isinstance(node, UnionTypeDefinitionNode):
        return f"union {name} = " + " | ".join(t.name.value for t in node.types if t.name.value in KEEP), set()
    return f"scalar {name}", set()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphql-schema", type=pathlib.Path, required=True)
    parser.add_argument("--out-dir", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    options = parser.parse_args()
    raw = (options.graphql_schema / "schema.graphql").read_bytes()
    version = json.loads((options.graphql_schema / "package.json").read_text())["version"]
    document = parse(raw.decode(), no_location=True)
    found = {d.name.value: d for d in document.definitions if getattr(d, "name", None) and d.name.value in KEEP}
    if missing := KEEP.keys() - found.keys():
        sys.exit(f"not in the schema: {sorted(missing)}")
    parts = []
    for name in KEEP:
        text, have = cut(found[name])
        if KEEP[name] and (missing := KEEP[name] - have):
            sys.exit(f"not in {name}: {sorted(missing)}")
        parts.append(text)
    head = (f"# GitHub's public GraphQL schema, cut to what the project uses, by cut_github_graphql.py.\n"
            f"# From schema.graphql of the npm package @octokit/graphql-schema {version} (MIT, LICENSE-graphql-schema.txt),\n"
            f"# sha256 {hashlib.sha256(raw).hexdigest()}\n\n")
    text = head + "\n\n".join(parts) + "\n"
    build_ast_schema(parse(text))
    (options.out_dir / "github-graphql-subset.graphql").write_text(text)
    print(f"{len(parts)} types, {len(text)} bytes")


if __name__ == "__main__":
    main()
