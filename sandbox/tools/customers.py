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
    """Deactivate what the plan names, if the rows are what the plan saw."""
    return _set(plan["preconditions"], active=False)


def verify(_: Arguments, plan: JSON, result: Any) -> JSON:  # noqa: ARG001
    """Read the rows back, after an apply or, with the plan of an undo, after that."""
    planned, wanted = plan["preconditions"]["rows"], plan["tool"].get("verb") == "undo"
    rows = _read([int(i) for i in planned])["rows"]
    found = {i: rows.get(i, {}).get("active") for i in planned}
    checks = [
        {"what": f"customer {i} active", "expected": wanted, "found": now, "ok": now is wanted}
        for i, now in found.items()
    ]
    verified = all(check["ok"] for check in checks)
    return {"verdict": "verified" if verified else "contradicted", "checks": checks}


def undo_plan(_: Arguments, plan: JSON, result: Any) -> JSON:  # noqa: ARG001
    """Activate those again that the plan deactivated, if nobody touched them since."""
    before = {i: row for i, row in plan["preconditions"]["rows"].items() if row["active"]}
    found = _read([int(i) for i in before])
    now = {i: found["rows"].get(i) for i in before}
    if now == before:
        return _no_undo("already_undone", "The customers are as they were before.")
    if changed := [i for i, row in before.items() if now[i] != {**row, "active": False}]:
        seen = "; ".join(f"customer {i} is {json.dumps(now[i])}" for i in changed)
        return _no_undo("undo_conflict", f"{len(changed)} of {len(now)} changed since: {seen}.")
    effects = [
        {"what": f"customer {i} ({row['name']}) active", "before": False, "after": True}
        for i, row in before.items()
    ]
    return {"effects": effects, "preconditions": found}


def undo(_: Arguments, plan: JSON, key: str) -> JSON:  # noqa: ARG001
    """Activate what the plan of the undo names, if the rows are what that plan saw."""
    return _set(plan["preconditions"], active=True)


def _no_undo(code: str, message: str) -> JSON:
    return {"error": {"code": code, "message": message}}


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
