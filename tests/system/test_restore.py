"""`placet restore`: a store that is gone comes back from the signed ledger, as far as that goes."""

import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from proposals.lifecycle import State
from proposals.plan import Proposal
from sandbox.stage import REPOSITORY
from sandbox.testing import Town
from tests.system.acting import approve
from tests.system.conftest import Box
from tests.system.test_later_facts import audited
from tests.system.test_lost_store import backup, halts, in_one_chain, restore
from tests.system.test_unknown import lost
from webhook_app.cli.program import program

pytestmark = pytest.mark.anyio


def restored(here: Town, clone: Path | None = None, trust: str = "") -> Result:
    """The operator's command, while no server runs.

    It reads the machine's clock, the town's has whole seconds: a second later all of it is due.
    """
    here.world.clock.advance(timedelta(seconds=1))
    origin = clone or Path(here.world.repository(REPOSITORY).git.path)
    store = here.stage.folder / "placet.db"
    words = ["restore", "--clone", str(origin), "--trust", trust, "--store", str(store)]
    return CliRunner().invoke(program, words)


async def test_a_lost_store_knows_again_what_was_decided(here: Town, box: Box) -> None:
    applied = await here.propose("box.add", {"n": 1})
    await approve(here, applied)
    rejected = await here.propose("box.add", {"n": 2})
    await here.person("lee").comment(REPOSITORY, here.number(rejected), "/reject")
    await here.over(rejected)
    waits = await here.propose("box.add", {"n": 3})
    before = {seen["proposal"]: here.kept(seen) for seen in (applied, rejected)}
    trust = here.hall.ports.signer.keyid
    await here.stop()
    restore(here, None)
    done = restored(here, trust=trust)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "2 proposals restored" in done.stdout
    await here.start()
    await here.rest()
    for id_, old in before.items():
        same(old, here.store.proposal(id_))
    assert box.runs == 1
    assert here.store.next_due() is None, "what is known needs no telling"
    new_agent(here)
    await approve(here, await here.propose("box.add", {"n": 4}))
    known = here.store.proposal(waits["proposal"])
    assert known is not None
    assert (known.state, known.reason) == (State.ENDED, "superseded")
    assert here.pull(waits).state == "closed"
    assert box.runs == 2
    assert in_one_chain(here)
    assert audited(here).clean


def same(old: Proposal, known: Proposal | None) -> None:
    """All that was decided is known as it was."""
    assert known is not None
    for name in ("state", "plan", "place", "identities", "created", "expires", "summary", "salt"):
        assert getattr(known, name) == getattr(old, name), name
    assert (old.outcome or {}).items() <= (known.outcome or {}).items()


def new_agent(here: Town) -> None:
    from webhook_app.doors.hall import token_hash  # noqa: PLC0415

    dana = frozenset({here.world.account("dana").id})
    here.store.add_agent("cleanup-bot", token_hash(here.token), dana, here.world.clock.now())


async def test_an_unknown_outcome_stays_unknown_and_can_be_settled(here: Town, box: Box) -> None:
    seen = await lost(here, box)
    trust = here.hall.ports.signer.keyid
    await here.stop()
    restore(here, None)
    assert restored(here, trust=trust).exit_code == 0
    await here.start()
    new_agent(here)
    await here.until(seen, lambda p: p.state is State.UNKNOWN)
    await here.rest()
    assert box.runs == 1
    box.value = 5
    await here.stop()
    await here.start()
    await here.until(seen, lambda p: p.state is State.APPLIED)
    await here.rest()
    assert audited(here).clean
    assert audited(here).rows[0].outcome == "applied (verified)"


async def test_an_old_backup_is_brought_up_to_date_and_open_ones_end(here: Town, box: Box) -> None:
    ran = await here.propose("box.add", {"n": 1})
    waits = await here.propose("box.add", {"n": 2})
    copy = backup(here)
    await approve(here, ran)
    trust = here.hall.ports.signer.keyid
    await here.stop()
    restore(here, copy)
    done = restored(here, trust=trust)
    assert "1 proposals restored, 1 open ones ended" in done.stdout
    await here.start()
    await here.rest()
    assert here.kept(ran).state is State.APPLIED
    assert (here.kept(waits).state, here.kept(waits).reason) == (State.ENDED, "superseded")
    assert here.pull(waits).state == "closed"
    assert box.runs == 1
    assert await halts(here) == []
    assert in_one_chain(here)


async def test_a_tampered_ledger_restores_nothing(here: Town) -> None:
    await approve(here, await here.propose("box.add", {"n": 1}))
    trust = here.hall.ports.signer.keyid
    git = here.world.repository(REPOSITORY).git
    [known] = here.store.proposals()
    names = f"proposals/{known.created:%Y/%m}/{known.id}/end.json"
    await here.person("noor").push(REPOSITORY, "placet/ledger", {names: "{}\n"})
    await here.stop()
    restore(here, None)
    done = restored(here, Path(git.path), trust)
    assert done.exit_code == 1
    assert "not as it was signed" in done.stderr
    store = here.stage.folder / "placet.db"
    assert not store.exists()
    assert restored(here, Path(git.path), "SHA256:other").exit_code == 1


async def test_a_running_server_is_not_restored_under_its_hands(here: Town) -> None:
    await approve(here, await here.propose("box.add", {"n": 1}))
    done = restored(here, trust=here.hall.ports.signer.keyid)
    assert done.exit_code == 1
    assert "stop" in done.stderr.lower()


async def test_restoring_twice_changes_nothing(here: Town) -> None:
    await approve(here, await here.propose("box.add", {"n": 1}))
    trust = here.hall.ports.signer.keyid
    await here.stop()
    restore(here, None)
    restored(here, trust=trust)
    store = here.stage.folder / "placet.db"
    with sqlite3.connect(store) as db:
        once = (
            list(db.execute("SELECT * FROM proposal")),
            list(db.execute("SELECT * FROM statement")),
        )
    db.close()
    assert "0 proposals restored" in restored(here, trust=trust).stdout
    with sqlite3.connect(store) as db:
        twice = (
            list(db.execute("SELECT * FROM proposal")),
            list(db.execute("SELECT * FROM statement")),
        )
    db.close()
    assert once == twice
