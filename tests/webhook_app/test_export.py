"""`placet export`: documented tables, one moment, no secrets, and nothing written to the store."""

import csv
import json
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from checks.facts import Person, Stance, Surface, Voice
from proposals.lifecycle import Event, State
from proposals.store import Reading, Step, Store, StoreStopped
from proposals.store.export import TABLES, document
from tests.books import LEE, NOW, proposal

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PLACET = [sys.executable, "-c", "from webhook_app.cli import main; main()"]
TOKEN = "f00d" * 16
FORMULA = '=HYPERLINK("http://evil.example")'


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store that its server has open: one proposal, approved and ended."""
    made = Store(tmp_path / "placet.db")
    of = replace(proposal(1), state=State.PLANNING, said=FORMULA, key="idempotency-key")
    made.add_agent("cleanup-bot", TOKEN, frozenset({8}), NOW)
    made.add(of, NOW)
    made.move(of.id, Event.PLANNED, NOW, pinned=of.plan, summary="Add 1 to the box")
    made.move(of.id, Event.PUBLISHED, NOW, place=of.at)
    at = NOW + timedelta(milliseconds=250)
    voice = Voice(
        "comment:9", Person(LEE, "lee"), Surface.COMMENT, Stance.APPROVE, at, 9, text="/x"
    )
    made.record(of.id, voice)
    outcome = {"outcome": "ended", "reason": "expired"}
    made.move(of.id, Event.EXPIRED, at, [Step("tell")], reason="expired", outcome=outcome)
    made.reserve(of.repository, of.id, "end", lambda n, prev: (f'{{"n": {n}}}\n', f"d{n}{prev}"))
    yield made
    made.close()


def export(store: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, as an operator does."""
    words = [*PLACET, "export", str(folder), "--store", str(store), "--json"]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_every_form_holds_the_documented_columns(store: Store, tmp_path: Path) -> None:
    done = export(store.path, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == {
        "proposals": 1,
        "approvals": 1,
        "history": 4,
        "statements": 1,
    }
    db = sqlite3.connect(tmp_path / "out" / "export.db")
    for table in TABLES:
        columns = [c.name for c in table.columns]
        lines = (tmp_path / "out" / f"{table.name}.jsonl").read_text().splitlines()
        rows = [json.loads(line) for line in lines]
        assert all(list(row) == columns for row in rows)
        with (tmp_path / "out" / f"{table.name}.csv").open(newline="") as file:
            assert len(list(csv.DictReader(file))) == len(rows)
        found = db.execute(f"SELECT * FROM {table.name}")  # noqa: S608
        assert [d[0] for d in found.description] == columns
        assert [dict(zip(columns, row, strict=True)) for row in found] == rows
    db.close()
    [said] = [json.loads((tmp_path / "out" / "approvals.jsonl").read_text())]
    assert (said["person"], said["login"], said["stance"]) == (LEE, "lee", "approve")
    [row] = [json.loads((tmp_path / "out" / "proposals.jsonl").read_text())]
    assert (row["state"], row["outcome"], row["ended"]) == (
        "ended",
        "ended",
        "2026-11-30T10:00:00.250Z",
    )


def test_no_secret_leaves_and_only_the_owner_can_read(store: Store, tmp_path: Path) -> None:
    export(store.path, tmp_path / "out")
    files = sorted((tmp_path / "out").iterdir())
    assert len(files) == 2 + 2 * len(TABLES), "nothing half-written is left"
    salt = proposal(1).salt
    for file in files:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        data = file.read_bytes()
        for secret in (TOKEN, "idempotency-key", salt):
            assert secret.encode() not in data, file.name


def test_no_cell_is_a_formula(store: Store, tmp_path: Path) -> None:
    export(store.path, tmp_path / "out")
    with (tmp_path / "out" / "proposals.csv").open(newline="") as file:
        [row] = csv.DictReader(file)
    assert row["said"] == "'" + FORMULA
    [exact] = (tmp_path / "out" / "proposals.jsonl").read_text().splitlines()
    assert json.loads(exact)["said"] == FORMULA


def test_a_second_export_takes_the_place_of_the_first(store: Store, tmp_path: Path) -> None:
    assert export(store.path, tmp_path / "out").returncode == 0
    assert export(store.path, tmp_path / "out").returncode == 0


def test_an_export_beside_the_store_leaves_the_store_alone(store: Store, tmp_path: Path) -> None:
    before = store.proposals()
    assert export(store.path, tmp_path).returncode == 0
    assert store.proposals() == before


def test_what_cannot_be_read_says_so(tmp_path: Path) -> None:
    done = export(tmp_path / "none.db", tmp_path / "out")
    assert done.returncode == 1
    assert "none.db cannot be read as a store" in done.stderr
    assert not (tmp_path / "none.db").exists()
    assert not (tmp_path / "out").exists()


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    Store(tmp_path / "placet.db").close()
    with Reading(tmp_path / "placet.db") as reading, pytest.raises(StoreStopped, match="readonly"):
        reading.rows("DELETE FROM proposal")


def test_the_page_of_the_export_is_made_from_its_tables(golden: Callable[..., None]) -> None:
    golden(document(), "export.md", REFERENCE)
