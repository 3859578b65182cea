"""`placet export`: the store as tables for other programs, without secrets."""

import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from proposals.store import Reading, StoreStopped
from proposals.store.export import TABLES, Table, exported, metadata, write_database
from webhook_app.settings import SettingsError, store_path

from .operators import ConfigOption
from .say import AsJson, give_up, print_json, print_rows

Rows = list[dict[str, Any]]


def export(
    folder: Annotated[Path, typer.Argument(help="Where to write; made if it is not there.")],
    store: Annotated[Path | None, typer.Option(help="The store, without a placet.toml.")] = None,
    config: ConfigOption = None,
    as_json: AsJson = False,  # noqa: FBT002 (a switch of the command line)
) -> None:
    """Write proposals, approvals, history and statements as SQLite, CSV and JSONL."""
    try:
        with Reading(store or store_path(config)) as reading:
            tables = [(table, list(exported(reading, table))) for table in TABLES]
    except (SettingsError, StoreStopped) as error:
        give_up(str(error))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(folder, tables)
    except OSError as error:
        give_up(f"{folder} cannot be written: {error.strerror or error}.")
    if as_json:
        print_json({"folder": str(folder), "rows": {t.name: len(rows) for t, rows in tables}})
        return
    print_rows([("table", "rows"), *((t.name, len(rows)) for t, rows in tables)])
    typer.echo(f"Written to {folder}. docs/reference/export.md says what each column is.")


def _write(folder: Path, tables: list[tuple[Table, Rows]]) -> None:
    with _whole(folder / "export.db") as path:
        write_database(path, tables)
    with _whole(folder / "metadata.json") as path:
        path.write_text(metadata(), "utf-8")
    for table, rows in tables:
        with _whole(folder / f"{table.name}.jsonl") as path:
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        with _whole(folder / f"{table.name}.csv") as path, path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(c.name for c in table.columns)
            writer.writerows([_cell(row[c.name]) for c in table.columns] for row in rows)


@contextmanager
def _whole(target: Path) -> Iterator[Path]:
    """A new file that only its owner can read, which takes the old one's place when it is whole."""
    path = target.with_name(f".{target.name}.new")
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    try:
        yield path
        path.replace(target)
    finally:
        path.unlink(missing_ok=True)


def _cell(value: object) -> object:
    """A cell that no spreadsheet takes for a formula: agents and people wrote some of them."""
    risky = isinstance(value, str) and value.lstrip()[:1] in {*"=+-@"}
    return f"'{value}" if risky else value
