"""A disk that is full, a file that is read-only or broken: the store stops whole, and says so."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from proposals.lifecycle import Event, State
from proposals.store import Store, StoreStopped
from tests.proposals.test_store import NOW, PINNED, PROPOSAL, REVIEW, claimed, conditions

Stop = Callable[[Store], None]
FILL = """
import resource, signal, sys
from dataclasses import replace
from pathlib import Path
from proposals.store import Store, StoreStopped
from tests.proposals.test_store import REVIEW
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = Store(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))
n = 0
try:
    while True:
        store.accept(replace(REVIEW, guid=f"g-{n}", body="x" * 9000))
        n += 1
        print(n, flush=True)
except StoreStopped:
    print("stopped", store.writable(), flush=True)
"""


def full(store: Store) -> None:
    """The disk has no page left."""
    pages = store.row("PRAGMA page_count")
    assert pages is not None
    store.db.conn.execute(f"PRAGMA max_page_count={pages['page_count']}")


def emptied(store: Store) -> None:
    """Somebody has made room."""
    store.db.conn.execute("PRAGMA max_page_count=1000000")
    store.db.conn.execute("PRAGMA query_only=OFF")


def read_only(store: Store) -> None:
    """The file system was mounted again, read-only."""
    store.db.conn.execute("PRAGMA query_only=ON")


STOPS = [pytest.param(full, id="disk-full"), pytest.param(read_only, id="read-only")]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "placet.db")
    yield store
    store.close()


@pytest.mark.parametrize("stop", STOPS)
def test_a_delivery_that_cannot_be_kept_is_not_taken(store: Store, stop: Stop) -> None:
    stop(store)
    large = replace(REVIEW, body=os.urandom(250_000).hex())
    with pytest.raises(StoreStopped, match="cannot be written"):
        store.accept_all([replace(REVIEW, guid="g-0"), large])
    assert not store.writable()
    assert store.waiting() == []
    emptied(store)
    assert store.writable()
    assert store.accept(large)


@pytest.mark.parametrize("stop", STOPS)
def test_a_move_is_whole_or_has_not_been(store: Store, stop: Stop) -> None:
    store.add(PROPOSAL, NOW)
    stop(store)
    with pytest.raises(StoreStopped):
        store.move("p_1", Event.PLANNED, NOW, pinned=PINNED, why="x" * 500_000, summary="s" * 9**6)
    kept = store.proposal("p_1")
    assert kept is not None
    assert (kept.state, kept.pinned, kept.summary) == (State.PLANNING, None, "")
    assert [move["event"] for move in store.history("p_1")] == ["asked"]


def test_a_read_only_store_starts_nothing(store: Store) -> None:
    kept = claimed(store)
    read_only(store)
    with pytest.raises(StoreStopped):
        store.start("p_1", conditions(kept), NOW)
    emptied(store)
    assert store.start("p_1", conditions(kept), NOW)


def test_what_was_acknowledged_before_the_disk_was_full_is_there(tmp_path: Path) -> None:
    path = tmp_path / "placet.db"
    command = [sys.executable, "-c", FILL, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    *acknowledged, last = done.stdout.splitlines()
    assert last == "stopped False"
    store = Store(path)
    kept = [delivery.guid for delivery in store.waiting(1000)]
    assert kept == [f"g-{n}" for n in range(len(acknowledged))]
    assert len(kept) > 9
    store.close()


def broken(path: Path) -> None:
    path.write_bytes(b"this is no database, whatever its name says" * 99)


def a_folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("make", [broken, a_folder])
def test_a_file_that_is_no_store_is_refused_in_a_sentence(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    path = tmp_path / "placet.db"
    make(path)
    for _ in range(2):  # the lock was given back
        with pytest.raises(StoreStopped, match=r"placet\.db cannot be opened as a store: "):
            Store(path)


def test_a_store_in_a_folder_that_it_may_not_write_to_is_refused() -> None:
    code = """
import os, sys
from pathlib import Path
from proposals.store import Store, StoreStopped
if os.geteuid() == 0:
    os.setuid(65534)  # root may write everywhere
try:
    Store(Path(sys.argv[1]))
except StoreStopped as error:
    print(error)
"""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        Store(folder / "placet.db").close()
        for path in (*folder.iterdir(), folder):
            path.chmod(0o555 if path.is_dir() else 0o666)
        command = [sys.executable, "-c", code, str(folder / "placet.db")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        folder.chmod(0o755)
    assert "cannot be opened as a store" in done.stdout
