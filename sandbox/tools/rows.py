#!/usr/bin/env python3
"""A tool that is a command: set one column of some rows in the SQLite file DATABASE.

    rows.py plan|apply|verify, with the request as JSON on standard input

COLUMNS says what it may touch, as in "customers.active customers.city"; rows are found by `id`.
"""

import json
import os
import sqlite3
import sys
from contextlib import closing
from typing import Any

JSON = dict[str, Any]


class Refused(Exception):
    """The request names what this tool may not touch; nothing was done."""


def plan(request: JSON) -> JSON:
    """From what to what each row would change, and what the rows hold now."""
    asked, wanted = request["arguments"], request["arguments"]["value"]
    with closing(_opened()) as db:
        held = _held(db, asked)
    if missing := [i for i in asked["ids"] if str(i) not in held]:
        raise Refused(f"There is no row {missing[0]} in {asked['table']}.")
    what = f"{asked['table']} {{}} {asked['column']}"
    effects = [
        {"what": what.format(i), "before": now, "after": wanted}
        for i, now in held.items()
        if now != wanted
    ]
    return {"effects": effects, "preconditions": held}


def apply(request: JSON) -> JSON:
    """Change the rows if they still hold what the plan saw, in one transaction."""
    asked = request["arguments"]
    table, column = _allowed(asked)
    with closing(_opened()) as db:
        try:
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise Refused(f"SQLite says: {error}.") from None
        if _held(db, asked) != request["plan"]["preconditions"]:
            raise Refused("The rows were changed after the plan was made.")
        update = f'UPDATE "{table}" SET "{column}" = ? WHERE id IN (SELECT value FROM json_each(?))'  # noqa: S608 (both are on the list)
        changed = db.execute(update, (asked["value"], json.dumps(asked["ids"]))).rowcount
        db.execute("COMMIT")
    return {"ok": True, "result": {"rows": changed}}


def verify(request: JSON) -> JSON:
    """Read the rows back."""
    asked, wanted = request["arguments"], request["arguments"]["value"]
    with closing(_opened()) as db:
        held = _held(db, asked)
    checks = []
    for i in map(str, asked["ids"]):
        found = held.get(i)
        ok = i in held and found == wanted
        checks.append({"what": f"row {i}", "expected": wanted, "found": found, "ok": ok})
    verified = all(check["ok"] for check in checks)
    return {"verdict": "verified" if verified else "contradicted", "checks": checks}


def main() -> None:
    """Answer one request."""
    verb = sys.argv[1]
    try:
        said = {"plan": plan, "apply": apply, "verify": verify}[verb](json.load(sys.stdin))
    except Refused as error:
        refusals: JSON = {
            "plan": {"error": {"code": "refused", "message": str(error)}},
            "apply": {"ok": False, "did_nothing": True, "why": str(error)},
            "verify": {"verdict": "unverified", "why": str(error)},
        }
        said = refusals[verb]
    json.dump(said, sys.stdout)


def _held(db: sqlite3.Connection, asked: JSON) -> JSON:
    table, column = _allowed(asked)
    rows = f'SELECT id, "{column}" FROM "{table}" WHERE id IN (SELECT value FROM json_each(?))'  # noqa: S608 (both are on the list)
    found = db.execute(rows + " ORDER BY id", (json.dumps(asked["ids"]),))
    return {str(i): value for i, value in found}


def _allowed(asked: JSON) -> tuple[str, str]:
    """The names, which SQL cannot take as parameters, as they stand on the operator's list."""
    for entry in os.environ["COLUMNS"].split():
        table, column = entry.split(".")
        if (table, column) == (asked["table"], asked["column"]):
            return table, column
    raise Refused("This table and column are not on the list of what may be changed.")


def _opened() -> sqlite3.Connection:
    return sqlite3.connect(os.environ["DATABASE"], uri=True, isolation_level=None)


if __name__ == "__main__":
    main()
