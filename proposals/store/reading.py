"""The store as a reader sees it: another process may look while the server owns the file.

The file is opened by SQLite itself with `mode=ro`; nothing here can write to it.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from .file import Row, StoreStopped
from .statements import Numbered, numbered


class Reading:
    """A read-only look at a store, as one snapshot; use it inside `with`. Raises StoreStopped."""

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        with _said(self._path):
            # SQLite speaks of "unable to open" where there is no such file.
            self._sqlite = sqlite3.connect(
                f"{self._path.as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=10
            )
            self._sqlite.row_factory = sqlite3.Row

    def __enter__(self) -> Self:
        with _said(self._path):
            self._sqlite.execute("PRAGMA query_only=ON")
            self._sqlite.execute("BEGIN")
        return self

    def __exit__(self, *_: object) -> None:
        self._sqlite.close()

    def rows(self, sql: str, **parameters: Any) -> list[Row]:
        """All rows of a query."""
        with _said(self._path):
            return [dict(row) for row in self._sqlite.execute(sql, parameters)]

    def statements(self, repository: int | None) -> list[Numbered]:
        """All statements of a repository in the order of the chain."""
        sql = "SELECT * FROM statement WHERE repository = :r ORDER BY seq"
        return [numbered(row) for row in self.rows(sql, r=repository)]


@contextmanager
def _said(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StoreStopped(f"{path} cannot be read as a store: {error}") from error
