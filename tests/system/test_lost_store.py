"""The store is lost, older than the ledger, or not the only one: the ledger keeps things single."""

import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from proposals.canonical import digest
from proposals.flow import expired
from proposals.lifecycle import State
from sandbox.stage import REPOSITORY, SHOP, write_configuration
from sandbox.testing import Town
from tests.system.acting import approve
from tests.system.conftest import Box
from tests.system.test_check_run_form import asked, opened
from tests.system.test_later_facts import audited
from tests.system.test_life_cycle import operator
from tests.system.test_statements import statements
from tests.system.test_unknown import lost
from webhook_app.doors.hall import token_hash

pytestmark = pytest.mark.anyio


def backup(here: Town) -> Path:
    """What an operator's nightly job does while the server runs; life goes on at once."""
    copy = here.stage.folder / "backup.db"
    source, target = sqlite3.connect(here.store.path), sqlite3.connect(copy)
    source.backup(target)
    source.close()
    target.close()
    return copy


def restore(here: Town, copy: Path | None) -> None:
    """Put a backup in the place of the store; None: the store is gone."""
    store = here.stage.folder / "placet.db"
    for name in ("", "-wal", "-shm"):
        store.with_name(store.name + name).unlink(missing_ok=True)
    if copy:
        shutil.copy(copy, store)


async def restarted(here: Town, copy: Path | None) -> None:
    await here.stop()
    restore(here, copy)
    await here.start()
    if copy is None:
        dana = frozenset({here.world.account("dana").id})
        here.store.add_agent("cleanup-bot", token_hash(here.token), dana, here.world.clock.now())
    await here.rest()


def in_one_chain(here: Town) -> bool:
    """Whether the ledger's statements have the numbers 1, 2, 3... and each names the one before."""
    chain = statements(here)
    before = [None, *(digest(said) for said in chain[:-1])]
    numbers = [said["predicate"]["seq"] for said in chain]
    return numbers == [*range(1, len(chain) + 1)] and before == [
        said["predicate"]["prev"] for said in chain
    ]


async def halts(here: Town) -> list[str]:
    return list((await operator(here, "GET", "/status"))["halts"].values())


async def resumed(here: Town) -> None:
    await operator(here, "POST", "/resume", {"repository": "default"})
    await here.rest()


async def test_a_backup_from_before_a_start_was_recorded_does_not_call_it_undone(
    here: Town, box: Box
) -> None:
    """The old store had begun and knew of no statement; the ledger has it, and the tool ran."""
    seen = await here.propose("box.add", {"n": 4})
    async with here.in_line(seen):
        copy = backup(here)
    assert (await here.over(seen))["status"] == "applied"
    signed = (here.kept(seen).outcome or {})["approved_by"]
    await restarted(here, copy)
    assert here.kept(seen).state is State.APPLIED, "by reading it back"
    await here.ask("box.add", {"n": 9})  # for that, the ledger is compared with the store
    await here.until(seen, lambda p: (p.outcome or {})["approved_by"] == signed != [])
    assert (box.runs, box.value) == (1, 5)


@pytest.mark.parametrize("earlier", [0, 1], ids=["nothing-was-done-before", "one-was-done-before"])
async def test_what_ran_after_a_backup_does_not_run_again_from_it(
    here: Town, box: Box, earlier: int
) -> None:
    for _ in range(earlier):
        await approve(here, await here.propose("box.add", {"n": 1}))
    seen = await here.propose("box.add", {"n": 4})
    copy = backup(here)
    await approve(here, seen)
    ran = box.runs
    assert ran == earlier + 1
    await restarted(here, copy)
    await here.person("noor").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    assert box.runs == ran
    assert here.kept(seen).state in (State.OPEN, State.UNKNOWN, State.APPLIED)
    (why,) = await halts(here)
    assert "placet audit" in why
    assert "placet resume" in why
    await resumed(here)
    assert box.runs == ran
    assert here.kept(seen).state in (State.UNKNOWN, State.APPLIED)
    assert not any("nothing was changed" in said for said in here.comments(seen))
    for n in (5, 6):
        assert (await approve(here, await here.propose("box.add", {"n": n})))["status"] == "applied"
    assert box.runs == ran + 2
    assert here.store.next_due() is None, "nothing is left to tell"
    assert in_one_chain(here)
    assert await halts(here) == []


@pytest.mark.parametrize("old", [False, True], ids=["of-today", "older-than-the-delivery-log"])
async def test_what_was_open_in_a_backup_ends_and_can_be_asked_for_again(
    here: Town,
    box: Box,
    old: bool,  # noqa: FBT001
) -> None:
    await approve(here, await here.propose("box.add", {"n": 1}))
    waits = await here.propose("box.add", {"n": 2})
    copy = backup(here)
    refused = await here.propose("box.add", {"n": 3})
    await here.person("lee").comment(REPOSITORY, here.number(refused), "/reject")
    await here.over(refused)
    if old:
        here.world.deliveries.all.clear()
    await restarted(here, copy)
    await here.person("lee").review(REPOSITORY, here.number(waits), "APPROVE")
    await here.rest()
    assert box.runs == 1
    assert await halts(here)
    await resumed(here)
    over = await here.over(waits)
    assert (over["status"], over["error"]["code"], box.runs) == ("ended", "superseded", 1)
    assert any("lost its store" in said for said in here.comments(waits))
    assert here.pull(waits).state == "closed"
    known = here.store.proposal(refused["proposal"])
    assert known is not None
    assert (known.state, known.reason) == (State.ENDED, "rejected"), "it is told by its statement"
    again = await here.propose("box.add", {"n": 2})
    assert again["proposal"] != waits["proposal"]
    assert (await approve(here, again))["status"] == "applied"
    assert in_one_chain(here)


async def test_within_one_second_what_was_open_ends_and_what_is_asked_for_later_does_not(
    here: Town, box: Box
) -> None:
    here.world.clock.freeze()
    await approve(here, await here.propose("box.add", {"n": 1}))
    waits = await here.propose("box.add", {"n": 2})
    copy = backup(here)
    refused = await here.propose("box.add", {"n": 3})
    await here.person("lee").comment(REPOSITORY, here.number(refused), "/reject")
    await here.over(refused)
    await restarted(here, copy)
    assert (await here.over(waits))["error"]["code"] == "superseded"
    await resumed(here)
    await restarted(here, None)
    again = await here.propose("box.add", {"n": 2})
    assert (await approve(here, again))["status"] == "applied"
    assert box.runs == 2


async def test_what_waits_on_somebodys_page_ends_there_when_the_store_is_lost(
    here: Town, box: Box
) -> None:
    await approve(here, await here.propose("box.add", {"n": 1}))
    old, done = (
        await asked(here, await opened(here)),
        await asked(here, await opened(here, "shelf")),
    )
    await here.person("lee").press(here.check(done).id, "approve")
    assert (await here.over(done))["status"] == "applied"
    assert here.check(old).conclusion == "neutral"
    run = here.check(old)
    await here.stop()
    await here.person("lee").press(run.id, "approve")
    await restarted(here, None)
    await approve(here, await here.propose("box.add", {"n": 3}))
    ended = here.store.proposal(old["proposal"])
    assert ended is not None
    assert (ended.state, ended.reason) == (State.ENDED, "superseded")
    check = here.check(old)
    assert (check.status, check.conclusion, check.actions) == ("completed", "neutral", [])
    assert "lost its store" in str(check.output)
    assert any("lost its store" in said for said in here.comments(old))
    assert here.kept(done).state is State.APPLIED
    assert box.runs == 3
    assert in_one_chain(here)
    assert audited(here).clean


async def test_what_waits_on_a_bare_commit_ends_there_when_the_store_is_lost(
    here: Town, box: Box
) -> None:
    sha = await here.person("lee").push(SHOP, "basket", {"basket.py": "pass\n"})
    old = await here.propose("box.add", {"n": 4}, target={"repository": SHOP, "commit": sha})
    await restarted(here, None)
    await here.propose("box.add", {"n": 3})
    await here.rest()
    ended = here.store.proposal(old["proposal"])
    assert ended is not None
    assert (ended.state, ended.reason) == (State.ENDED, "superseded")
    assert "lost its store" in str(here.check(old).output)
    assert box.runs == 0


async def test_without_its_store_nothing_old_runs_and_new_proposals_work(
    here: Town, box: Box
) -> None:
    await approve(here, await here.propose("box.add", {"n": 1}))
    old = await here.propose("box.add", {"n": 2})
    number, pulls = here.number(old), here.page(old).pulls
    await restarted(here, None)
    await here.person("lee").review(REPOSITORY, number, "APPROVE")
    await here.person("lee").comment(REPOSITORY, number, "/approve")
    await here.rest()
    assert box.runs == 1
    new = await here.propose("box.add", {"n": 2})
    assert new["proposal"] != old["proposal"]
    assert here.number(new) != number
    assert (await approve(here, new))["status"] == "applied"
    assert box.runs == 2
    assert pulls[number].state == "closed"
    ended = here.store.proposal(old["proposal"])
    assert ended is not None
    assert (ended.state, ended.reason) == (State.ENDED, "superseded")
    assert any("lost its store" in said for said in here.comments(old))
    assert in_one_chain(here)
    assert await halts(here) == []


async def test_a_page_of_a_lost_store_that_had_started_is_not_called_open(
    here: Town, box: Box
) -> None:
    """Its start stands on the ledger: what came of it is unknown, and it never runs again."""
    seen = await lost(here, box)
    await restarted(here, None)
    await here.propose("box.add", {"n": 3})
    known = here.store.proposal(seen["proposal"])
    assert known is not None
    assert (known.state, known.place and known.place.number) == (State.UNKNOWN, here.number(seen))
    assert box.runs == 1


async def test_a_page_that_no_key_of_ours_signed_is_left_alone(here: Town) -> None:
    await approve(here, await here.propose("box.add", {"n": 1}))
    old = await here.propose("box.add", {"n": 2})
    number, pulls = here.number(old), here.page(old).pulls
    (here.stage.folder / "placet.db.key").unlink()
    await restarted(here, None)
    await here.propose("box.add", {"n": 3})
    assert here.store.proposal(old["proposal"]) is None
    assert pulls[number].state == "open"


async def test_what_ran_elsewhere_and_expired_here_is_told_as_it_was(here: Town, box: Box) -> None:
    """The store is older than its ledger, and its clock passes the end before anybody resumes."""
    await approve(here, await here.propose("box.add", {"n": 1}))
    seen = await here.propose("box.add", {"n": 4})
    copy = backup(here)
    await approve(here, seen)
    await here.stop()
    restore(here, copy)
    here.skew += timedelta(hours=5)
    await here.start()
    await here.rest()
    worker: Any = here.hall.worker
    worker.wake()
    await here.rest()
    await resumed(here)
    assert (here.kept(seen).state, box.runs) == (State.APPLIED, 2)
    assert not any("xpired" in said for said in here.comments(seen))
    assert in_one_chain(here)


@asynccontextmanager
async def another_server(here: Town) -> AsyncIterator[Town]:
    """A second Placet of the same App over a copy of the store; it asks for its deliveries."""
    folder = here.stage.folder.with_name("town2")
    folder.mkdir()
    shutil.copy(backup(here), folder / "placet.db")
    shutil.copy(here.stage.folder / "placet.db.key", folder / "placet.db.key")
    stage = replace(here.stage, folder=folder)
    tools = here.stage.config.read_text().partition("[tool.")
    write_configuration(stage, "".join(tools[1:]))
    other = Town(stage, here.github, type(here.hook)(), here.token)
    await other.start(poll=True)
    try:
        yield other
    finally:
        await other.stop()


async def test_what_a_second_server_lets_expire_is_told_as_the_first_one_settled_it(
    here: Town, box: Box
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    async with another_server(here) as other:
        await other.rest()
        await approve(here, seen)
        other.skew += timedelta(hours=5)
        for proposal in await expired(other.hall.ports):
            assert proposal.id == seen["proposal"]
        await other.rest()
        assert other.kept(seen).state is State.ENDED, "it had looked at the ledger before"
        assert other.store.halts()
        assert not any("xpired" in said for said in here.comments(seen))
        await resumed(other)
        assert (other.kept(seen).state, box.runs) == (State.APPLIED, 1)
        assert other.store.next_due() is None
        assert not any("xpired" in said for said in here.comments(seen))
        assert here.pull(seen).merged_at is not None
    assert in_one_chain(here)


async def test_of_two_servers_over_copies_of_one_store_one_starts_a_proposal(
    here: Town, box: Box
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    async with another_server(here) as other:
        await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
        await here.over(seen)
        missed: Any = other.hall.worker
        await missed._fetch()  # noqa: SLF001 (its next turn is in five seconds)
        missed.wake()
        await other.until(seen, lambda p: p.state is not State.OPEN or bool(other.store.halts()))
        await other.rest()
        await here.rest()
        assert box.runs == 1
        states = {town.kept(seen).state for town in (here, other)}
        assert states <= {State.APPLIED, State.UNKNOWN, State.OPEN}
        assert State.APPLIED in states
        assert (await halts(here)) or (await halts(other))
