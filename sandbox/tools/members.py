"""A tool in Python with a real effect: enter a member into the SQLite file DATABASE."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

JSON = dict[str, Any]
BUSY = 0.2  # seconds to wait for another program that writes


class Arguments(BaseModel):
    """Who, and the year of birth."""

    name: str = Field(min_length=1, max_length=100)
    year: int = Field(ge=1900, le=2100)


def plan(arguments: Arguments) -> JSON:
    """What would be entered, and that nobody of this name is there yet."""
    if found := _read(arguments.name):
        message = f"{arguments.name} is entered already, with the year {found['year']}."
        return {"error": {"code": "already_entered", "message": message}}
    effect = {"what": f"member {arguments.name}", "before": None, "after": arguments.year}
    return {"effects": [effect], "preconditions": {arguments.name: None}}


def apply(arguments: Arguments, plan: JSON, key: str) -> JSON:  # noqa: ARG001
    """Enter the member, if nobody of this name has come in between."""
    with closing(_opened()) as db:
        try:
            db.execute("INSERT INTO members VALUES (?, ?)", (arguments.name, arguments.year))
        except sqlite3.Error as error:
            return {"ok": False, "did_nothing": True, "why": f"SQLite says: {error}."}
    return {"ok": True, "result": {"name": arguments.name, "year": arguments.year}}


def verify(arguments: Arguments, plan: JSON, result: Any) -> JSON:  # noqa: ARG001
    """Read the member back."""
    found = _read(arguments.name)
    year = found["year"] if found else None
    what = f"member {arguments.name}"
    check = {"what": what, "expected": arguments.year, "found": year, "ok": year == arguments.year}
    return {"verdict": "verified" if check["ok"] else "contradicted", "checks": [check]}


def make(path: Path) -> None:
    """Make the register."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE members(name TEXT PRIMARY KEY, year INTEGER) STRICT")


def members(path: Path) -> dict[str, int]:
    """Who is entered right now, with the year."""
    with closing(sqlite3.connect(path)) as db:
        return dict(db.execute("SELECT name, year FROM members ORDER BY name"))


def locked(path: Path) -> sqlite3.Connection:
    """What another program does that writes: nobody else can, until this is closed."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    return db


def _read(name: str) -> JSON | None:
    with closing(_opened()) as db:
        row = db.execute("SELECT name, year FROM members WHERE name = ?", (name,)).fetchone()
    return {"name": row[0], "year": row[1]} if row else None


def _opened() -> sqlite3.Connection:
    """DATABASE may be file:club.db?mode=ro for planning and file:club.db?mode=rw for applying."""
    return sqlite3.connect(os.environ["DATABASE"], uri=True, isolation_level=None, timeout=BUSY)
