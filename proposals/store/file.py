"""The file itself: who owns it, how it is opened, and what a transaction is."""

import fcntl
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from .schema import MIGRATIONS

Row = dict[str, Any]
PROVEN = 5.0
"""Seconds for which a trial write shows that the store can be written."""
TRIAL = 65536
"""Bytes of a trial write: a full disk often has room for less."""


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
        self._inside = False
        self._proven: float | None = None
        self._owner = self._own(path.with_name(path.name + ".lock"))
        try:
            self._open()
        except (sqlite3.DatabaseError, OSError, StoreStopped) as error:
            os.close(self._owner)
            raise StoreStopped(f"{path} cannot be opened as a store: {error}") from error

    def _open(self) -> None:
        # isolation_level=None: we say BEGIN ourselves; synchronous=FULL: acknowledged is durable.
        self._sqlite = sqlite3.connect(
            self.path, timeout=10, isolation_level=None, check_same_thread=False
        )
        try:
            self.path.chmod(0o600)
            self.db = Database(self._sqlite)
            self.db.enable_wal()
            self._sqlite.execute("PRAGMA synchronous=FULL")
            self._sqlite.execute("PRAGMA foreign_keys=ON")
            with self.tx():
                MIGRATIONS.apply(self.db)
        except BaseException:
            self._sqlite.close()
            raise

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
            # Not `in_transaction`: one that could not be undone must be joined by nobody.
            if self._inside:
                yield
                return
            self._inside = True
            try:
                self._sqlite.execute("BEGIN IMMEDIATE")
                yield
                self._sqlite.execute("COMMIT")
            except BaseException as error:
                self._undo()
                if _stops(error):
                    self._proven = None
                    raise StoreStopped(f"the store cannot be written: {error}") from error
                raise
            finally:
                self._inside = False

    def _undo(self) -> None:
        with suppress(sqlite3.OperationalError):
            if self._sqlite.in_transaction:
                self._sqlite.execute("ROLLBACK")

    def rows(self, sql: str, **parameters: Any) -> list[Row]:
        """All rows of a query."""
        with self._mutex:
            try:
                cursor = self._sqlite.execute(sql, parameters)  # db.query takes a third longer
                names = [column[0] for column in cursor.description]
                return [dict(zip(names, row, strict=True)) for row in cursor]
            except sqlite3.DatabaseError as error:
                if _stops(error):
                    raise StoreStopped(f"the store cannot be read: {error}") from error
                raise

    def row(self, sql: str, **parameters: Any) -> Row | None:
        """The first row of a query, or None."""
        return next(iter(self.rows(sql, **parameters)), None)

    def change(self, sql: str, parameters: Mapping[str, Any]) -> int:
        """How many rows a statement changed; only inside `tx`."""
        if not self._sqlite.in_transaction:
            raise RuntimeError("a change belongs into a transaction")
        return self._sqlite.execute(sql, dict(parameters)).rowcount

    def writable(self) -> bool:
        """Whether something can be written, for the readiness page; tried every few seconds."""
        with self._mutex:
            now = time.monotonic()
            if self._proven is not None and now - self._proven < PROVEN:
                return True
            try:
                self._try()
            except StoreStopped:
                return False
            self._proven = now
            return True

    def _try(self) -> None:
        with self.tx():
            self.change("INSERT INTO trial(bytes) VALUES (zeroblob(:n))", {"n": TRIAL})
            self.change("DELETE FROM trial", {})

    def close(self) -> None:
        """Give the file back."""
        with self._mutex:
            self._sqlite.close()
            os.close(self._owner)


def _stops(error: BaseException) -> bool:
    """Whether SQLite says that the file or its disk is at fault: full, read-only, malformed."""
    return isinstance(error, sqlite3.OperationalError) or type(error) is sqlite3.DatabaseError
