"""The database of the story: seven customers, all active."""

import sqlite3
from contextlib import closing
from pathlib import Path

CUSTOMERS = {
    17: "Ada Bakery",
    23: "Birch & Sons",
    31: "Cobalt Ltd",
    42: "Dune Travel",
    58: "Elm Street Books",
    66: "Foxglove Farm",
    71: "Gull & Daughters",
}


def make(path: Path) -> None:
    """Make the database."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, active INTEGER)")
        db.executemany("INSERT INTO customers VALUES (?, ?, 1)", CUSTOMERS.items())


def active(path: Path) -> set[int]:
    """The ids of the customers that are active right now."""
    with closing(sqlite3.connect(path)) as db:
        return {i for (i,) in db.execute("SELECT id FROM customers WHERE active")}


def deactivate(path: Path, customer: int) -> None:
    """What somebody else does to the database meanwhile."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE customers SET active = 0 WHERE id = ?", (customer,))
