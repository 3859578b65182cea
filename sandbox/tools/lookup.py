"""A tool in Python that only reads: who is entered in the SQLite file DATABASE."""

import os
import sqlite3
from contextlib import closing

from pydantic import BaseModel


class Arguments(BaseModel):
    """Whom to look for."""

    name: str


def read(arguments: Arguments) -> dict[str, int | None]:
    """The year that is entered for a name, null when there is none."""
    with closing(sqlite3.connect(os.environ["DATABASE"], uri=True)) as db:
        row = db.execute("SELECT year FROM members WHERE name = ?", (arguments.name,)).fetchone()
    return {"year": row[0] if row else None}
