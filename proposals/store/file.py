"""The file itself: who owns it, how it is opened, and what a transaction is."""

import fcntl
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from .schema import MIGRATIONS

Row = dict[str, Any]


class StoreBusy(Exception):
    """Another process owns this store; only one server may use it."""


class StoreStopped(Exception):
    """The store cannot be written (disk full, read-only): nothing changed, nothing may start."""


class File:
    """One SQLite file with one connection, one lock and whole transactions only."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._mutex = threading.RLock()
        self._owner = self._own(path.with_name(path.name + ".lock"))
        # isolation_level=None: we say BEGIN ourselves; synchronous=FULL: acknowledged is durable.
        self._sqlite = sqlite3.connect(
            path, timeout=10, isolation_level=None, check_same_thread=False
        )
        path.chmod(0o600)
        self.db = Database(self._sqlite)
        self.db.enable_wal()
        self._sqlite.execute("PRAGMA synchronous=FULL")
        self._sqlite.execute("PRAGMA foreign_keys=ON")
        with self.tx():
            MIGRATIONS.apply(self.db)

    @staticmethod
    def _own(lock: Path) -> int:
        """Hold the lock file for the life of the process; the database itself is never locked.

        Opening and closing the database file ourselves would drop SQLite's own locks.
        """
        owner = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(owner)
            raise StoreBusy(f"another process owns {lock}; stop it first") from None
        return owner

    @contextmanager
    def tx(self) -> Iterator[None]:
        """One transaction; one inside another joins it. Anything raised undoes all of it."""
        with self._mutex:
            if self._sqlite.in_transaction:
                yield
                return
            try:
                self._sqlite.execute("BEGIN IMMEDIATE")
                yield
                self._sqlite.execute("COMMIT")
            except sqlite3.OperationalError as error:
                self._undo()
                raise StoreStopped(f"the store cannot be written: {error}") from error
            except BaseException:
                self._undo()
                raise

    def _undo(self) -> None:
        if self._sqlite.in_transaction:
            self._sqlite.execute("ROLLBACK")

    def rows(self, sql: str, **parameters: Any) -> list[Row]:
        """All rows of a query."""
        with self._mutex:
            return list(self.db.query(sql, parameters))

    def row(self, sql: str, **parameters: Any) -> Row | None:
        """The first row of a query, or None."""
        return next(iter(self.rows(sql, **parameters)), None)

    def change(self, sql: str, parameters: Mapping[str, Any]) -> int:
        """How many rows a statement changed; only inside `tx`."""
        if not self._sqlite.in_transaction:
            raise RuntimeError("a change belongs into a transaction")
        return self._sqlite.execute(sql, dict(parameters)).rowcount

    def writable(self) -> bool:
        """Whether a transaction can begin now, for the readiness page."""
        try:
            with self.tx():
                return True
        except StoreStopped:
            return False

    def close(self) -> None:
        """Give the file back."""
        with self._mutex:
            self._sqlite.close()
            os.close(self._owner)
