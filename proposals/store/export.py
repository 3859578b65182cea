"""What the store hands on to readers: documented tables without tokens, keys or raw arguments.

Each column says what it is; the docs page, Datasette's metadata and the tables are made of this.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from sqlite_utils import Database

from .reading import Reading

_TIME = "strftime('%Y-%m-%dT%H:%M:%fZ', {0} / 1000.0, 'unixepoch')"


class Column(NamedTuple):
    """One column: its name, what it is, and the SQL that reads it from the store's own table."""

    name: str
    what: str
    sql: str
    type: type = str


class Table(NamedTuple):
    """One exported table: `key` names its columns that tell rows apart."""

    name: str
    what: str
    source: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]


def _plain(name: str, what: str, kind: type = str) -> Column:
    return Column(name, what, name, kind)


def _time(name: str, what: str) -> Column:
    return Column(name, f"{what} (UTC).", _TIME.format(name))


def _inside(name: str, what: str, path: str, column: str, kind: type = str) -> Column:
    return Column(name, what, f"json_extract({column}, '$.{path}')", kind)


PROPOSALS = Table(
    "proposals",
    "Every tool call that was asked for, and how it stands.",
    "proposal ORDER BY created, id",
    ("id",),
    (
        _plain("id", "The proposal."),
        _plain("agent", "Which agent asked."),
        _plain("tool", "Which tool it asked for."),
        _plain("mode", "How the tool is gated: `approve`, `confirm` or `announce`."),
        _plain("state", "Where it stands: see the states."),
        _plain("summary", "The title that people read."),
        _plain("said", "What the agent said about it: a claim."),
        _plain("repository", "The governing repository's id.", int),
        Column("pull_request", "Its pull request's number.", "nullif(number, 0)", int),
        _plain("url", "Its page on GitHub."),
        _plain("head", "The commit that people approve."),
        _plain("digest", "The plan's digest."),
        _plain("plan", "The plan, as JSON in RFC 8785."),
        _plain("policy_blob", "The policy file at propose: git's sha of it."),
        _time("created", "When it was asked"),
        _time("opened", "When people could first see it"),
        _time("expires", "Until when it waits"),
        _time("ended", "When it was over"),
        _plain("reason", "Why it ended: a reason code."),
        _plain("why", "Why, in words."),
        _inside("outcome", "`applied`, `failed`, `unknown` or `ended`.", "outcome", "outcome"),
        _inside("basis", "What `applied` rests on.", "basis", "outcome"),
        _plain("parent", "The proposal that this one followed."),
        _plain("undoes", "The applied proposal that this one takes back."),
        _plain("undone_by", "The applied proposal that took this one back."),
    ),
)

APPROVALS = Table(
    "approvals",
    "Everything that people said about proposals, as delivered; the words stay on GitHub.",
    "evidence ORDER BY seq",
    ("proposal", "key"),
    (
        _plain("proposal", "About which proposal."),
        _plain("key", "GitHub's id of it: `review:81`, `comment:82`, `button:...`."),
        _inside("person", "Who: GitHub's numeric id.", "person.id", "voice", int),
        _inside("login", "The login they had then.", "person.login", "voice"),
        _inside(
            "kind", "GitHub's kind of account; only `User` is a person.", "person.kind", "voice"
        ),
        _inside("surface", "Where: `review`, `comment` or `button`.", "surface", "voice"),
        _inside("stance", "What: `approve`, `block` or `reject`.", "stance", "voice"),
        _inside("at", "When, by GitHub's clock (UTC).", "at", "voice"),
        _inside("head", "The commit it was about.", "head", "voice"),
        _inside("digest", "The digest that a comment named.", "digest", "voice"),
        _inside("delivery", "The guid of the delivery that brought it.", "delivery", "voice"),
        _inside(
            "authenticated",
            "How that was known to be GitHub's: `hmac`, or `log`, the App's own delivery log.",
            "proof",
            "voice",
        ),
        _inside("link", "GitHub's page of it.", "link", "voice"),
        _inside(
            "standing", "Whether it was taken back since, as far as was told.", "standing", "voice"
        ),
    ),
)

HISTORY = Table(
    "history",
    "Every move of every proposal.",
    "history ORDER BY seq",
    ("seq",),
    (
        _plain("seq", "The order of the moves.", int),
        _plain("proposal", "Which proposal."),
        _time("at", "When"),
        _plain("event", "What happened."),
        Column("from", "The state before.", "source"),
        Column("to", "The state after.", "target"),
        _plain("why", "Why, in words."),
    ),
)

STATEMENTS = Table(
    "statements",
    "The signed statements, as they were written to the ledger.",
    "statement ORDER BY repository, seq",
    ("repository", "seq"),
    (
        _plain("repository", "In whose ledger: the repository's id.", int),
        _plain("seq", "Its number there.", int),
        _plain("proposal", "About which proposal."),
        _plain("kind", "`start`, `end`, and for what became known later `end-2`, `end-3`, ..."),
        _plain("digest", "Its digest, as the next statement names it."),
        Column("written", "1: it certainly stands on the ledger.", "written", int),
        _plain("text", "The whole file, as JSON: readable and signed."),
    ),
)

TABLES = (PROPOSALS, APPROVALS, HISTORY, STATEMENTS)


def exported(reading: Reading, table: Table) -> Iterator[dict[str, Any]]:
    """The rows of one table, column by column as documented."""
    columns = ", ".join(f'{c.sql} AS "{c.name}"' for c in table.columns)
    yield from reading.rows(f"SELECT {columns} FROM {table.source}")  # noqa: S608 (all our own)


def write_database(path: Path, tables: Iterable[tuple[Table, list[dict[str, Any]]]]) -> None:
    """Write one new SQLite file for Datasette, with keys and without links to the store."""
    db = Database(path)
    try:
        for table, rows in tables:
            made = db.table(table.name).create(
                {c.name: c.type for c in table.columns}, pk=table.key
            )
            made.insert_all(rows)
    finally:
        db.close()


def metadata() -> str:
    """Datasette's metadata.json: what every table and column is."""
    tables = {
        t.name: {"description": t.what, "columns": {c.name: c.what for c in t.columns}}
        for t in TABLES
    }
    return json.dumps({"title": "Placet", "databases": {"export": {"tables": tables}}}, indent=2)


def document() -> str:
    """The page `docs/reference/export.md`."""
    parts = [_HEAD]
    for table in TABLES:
        rows = [f"| `{c.name}` | {c.what} |" for c in table.columns]
        key = ", ".join(f"`{name}`" for name in table.key)
        head = [f"## `{table.name}`", "", f"{table.what} Key: {key}.", ""]
        parts.append("\n".join([*head, "| column | what it is |", "|---|---|", *rows, ""]))
    return "\n".join(parts)


_HEAD = """\
# What `placet export` writes

Made from the code by `make docs`.

`placet export DIR` reads the store and changes nothing in it; the server may go on running, and all
tables are of one moment. DIR then holds each table below as `NAME.csv` and `NAME.jsonl`, and all of
them in `export.db` with `metadata.json`: `datasette export.db --metadata metadata.json`.

There are no tokens, keys, raw arguments or deliveries in it. Where a cell of a CSV file would begin
with `=`, `+`, `-` or `@`, a `'` stands before it, because spreadsheets run such cells.
"""
