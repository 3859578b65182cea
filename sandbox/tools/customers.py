"""A tool in Python with a real effect: deactivate customers in the SQLite file DATABASE."""

import json
import os
import sqlite3
from contextlib import closing
from typing import Any

from pydantic import BaseModel, Field

ROWS = "SELECT id, name, active FROM customers WHERE id IN (SELECT value FROM json_each(?))"
SET = "UPDATE customers SET active = ? WHERE id IN (SELECT value FROM json_each(?))"
JSON = dict[str, Any]


class Arguments(BaseModel):
    """Which customers, by their ids."""

    ids: list[int] = Field(min_length=1, max_length=100)


def plan(arguments: Arguments) -> JSON:
    """What would change, and what that relies on; nothing is changed."""
    found = _read(arguments.ids)
    if missing := {str(i) for i in arguments.ids} - found["rows"].keys():
        message = f"There is no customer {', '.join(sorted(missing))}."
        return {"error": {"code": "no_such_customer", "message": message}}
    effects = [
        {"what": f"customer {i} ({row['name']}) active", "before": True, "after": False}
        for i, row in found["rows"].items()
        if row["active"]
    ]
    return {"effects": effects, "preconditions": found}


def apply(_: Arguments, plan: JSON, key: str) -> JSON:  # noqa: ARG001
    """Change what the plan names, if the rows are what the plan saw."""
    return _set(plan["preconditions"], active=False)


def verify(_: Arguments, plan: JSON, result: Any) -> JSON:  # noqa: ARG001
    """Read the rows back."""
    planned = plan["preconditions"]["rows"]
    found = _read([int(i) for i in planned])["rows"]
    checks = []
    for i in planned:
        active = found.get(i, {}).get("active")
        what = f"customer {i} active"
        checks.append({"what": what, "expected": False, "found": active, "ok": active is False})
    verified = all(check["ok"] for check in checks)
    return {"verdict": "verified" if verified else "contradicted", "checks": checks}


def undo(_: Arguments, plan: JSON, key: str) -> JSON:  # noqa: ARG001
    """Activate those again that the plan deactivated, if nobody touched them since."""
    before = plan["preconditions"]
    changed = {i: {**row, "active": False} for i, row in before["rows"].items() if row["active"]}
    return _set({**before, "rows": changed}, active=True)


def _set(expected: JSON, *, active: bool) -> JSON:
    """Look again and change in one transaction, so that nothing can come between."""
    ids = [int(i) for i in expected["rows"]]
    with closing(_opened()) as db:
        try:
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            return {"ok": False, "did_nothing": True, "why": f"SQLite says: {error}."}
        if _read(ids, db) != expected:
            why = "The customers were changed after the plan was made."
            return {"ok": False, "did_nothing": True, "why": why}
        changed = db.execute(SET, (active, json.dumps(ids))).rowcount
        db.execute("COMMIT")
    return {"ok": True, "result": {"rows": changed}}


def _read(ids: list[int], db: sqlite3.Connection | None = None) -> JSON:
    """The rows by id, and the version of the schema that gives them their meaning."""
    if db is None:
        with closing(_opened()) as opened:
            return _read(ids, opened)
    rows = db.execute(ROWS + " ORDER BY id", (json.dumps(ids),)).fetchall()
    [version] = db.execute("PRAGMA schema_version").fetchone()
    named = {str(i): {"name": name, "active": bool(active)} for i, name, active in rows}
    return {"schema": version, "rows": named}


def _opened() -> sqlite3.Connection:
    """DATABASE may be file:crm.db?mode=ro for planning and file:crm.db?mode=rw for applying."""
    return sqlite3.connect(os.environ["DATABASE"], uri=True, isolation_level=None)
