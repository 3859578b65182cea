#!/usr/bin/env python3
"""A tool that is a command: set one column of some rows in the SQLite file DATABASE.

    rows.py plan|apply|verify|undo, with the request as JSON on standard input

`undo` answers the verbs undo_plan and undo; the request says which verb it is.
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
    """Nothing was done: the request names what this tool may not touch, or the world is not so."""

    def __init__(self, message: str, code: str = "refused") -> None:
        super().__init__(message)
        self.code = code


def plan(request: JSON) -> JSON:
    """From what to what each row would change, and what the rows hold now."""
    asked, wanted = request["arguments"], request["arguments"]["value"]
    with closing(_opened()) as db:
        held = _held(db, asked)
    if missing := [i for i in asked["ids"] if str(i) not in held]:
        raise Refused(f"There is no row {missing[0]} in {asked['table']}.")
    effects = [_effect(asked, i, now, wanted) for i, now in held.items() if now != wanted]
    return {"effects": effects, "preconditions": held}


def apply(request: JSON) -> JSON:
    """Change the rows if they still hold what the plan saw."""
    asked, held = request["arguments"], request["plan"]["preconditions"]
    return _change(asked, held, dict.fromkeys(held, asked["value"]))


def undo_plan(request: JSON) -> JSON:
    """Back to what the rows held before, if they still hold what the tool left."""
    asked, seen = request["arguments"], request["plan"]["preconditions"]
    before = {i: value for i, value in seen.items() if value != asked["value"]}
    with closing(_opened()) as db:
        held = _held(db, asked | {"ids": [int(i) for i in before]})
    if held == before:
        raise Refused("The rows hold what they held before.", "already_undone")
    if changed := [i for i in before if held.get(i, asked) != asked["value"]]:
        now = "; ".join(f"row {i} holds {json.dumps(held.get(i))}" for i in changed)
        raise Refused(f"{len(changed)} of {len(before)} changed since: {now}.", "undo_conflict")
    effects = [_effect(asked, i, asked["value"], value) for i, value in before.items()]
    return {"effects": effects, "preconditions": {"held": held, "before": before}}


def undo(request: JSON) -> JSON:
    """Change the rows back if they still hold what the plan of the undo saw."""
    seen = request["plan"]["preconditions"]
    asked = request["arguments"] | {"ids": [int(i) for i in seen["before"]]}
    return _change(asked, seen["held"], seen["before"])


def _change(asked: JSON, held: JSON, wanted: JSON) -> JSON:
    """Look again and change in one transaction, so that nothing can come between."""
    table, column = _allowed(asked)
    with closing(_opened()) as db:
        try:
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise Refused(f"SQLite says: {error}.") from None
        if _held(db, asked) != held:
            raise Refused("The rows were changed after the plan was made.")
        update = f'UPDATE "{table}" SET "{column}" = ? WHERE id = ?'  # noqa: S608 (both are on the list)
        db.executemany(update, [(value, int(i)) for i, value in wanted.items()])
        db.execute("COMMIT")
    return {"ok": True, "result": {"rows": len(wanted)}}


def verify(request: JSON) -> JSON:
    """Read the rows back, after an apply or, with the plan of an undo, after that."""
    asked, plan = request["arguments"], request["plan"]
    wanted = dict.fromkeys(map(str, asked["ids"]), asked["value"])
    if plan["tool"].get("verb") == "undo":
        wanted = plan["preconditions"]["before"]
    with closing(_opened()) as db:
        held = _held(db, asked)
    checks = []
    for i, value in wanted.items():
        ok = i in held and held[i] == value
        checks.append({"what": f"row {i}", "expected": value, "found": held.get(i), "ok": ok})
    verified = all(check["ok"] for check in checks)
    return {"verdict": "verified" if verified else "contradicted", "checks": checks}


def main() -> None:
    """Answer one request."""
    request = json.load(sys.stdin)
    verb = request["verb"]
    verbs = {"plan": plan, "apply": apply, "verify": verify, "undo_plan": undo_plan, "undo": undo}
    try:
        said = verbs[verb](request)
    except Refused as error:
        no_plan = {"error": {"code": error.code, "message": str(error)}}
        nothing = {"ok": False, "did_nothing": True, "why": str(error)}
        unseen = {"verdict": "unverified", "why": str(error)}
        refusals: JSON = {"plan": no_plan, "undo_plan": no_plan, "apply": nothing, "undo": nothing}
        said = refusals.get(verb, unseen)
    json.dump(said, sys.stdout)


def _effect(asked: JSON, row: str, before: Any, after: Any) -> JSON:
    what = f"{asked['table']} {row} {asked['column']}"
    return {"what": what, "before": before, "after": after}


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
