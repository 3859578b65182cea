"""The ledger branch: numbered, chained, one start per proposal, and halted by a foreign hand."""

import json
import re
from typing import Any

import pygit2
import pytest

from proposals.canonical import digest
from proposals.lifecycle import State
from proposals.receipt import verify
from sandbox.github import Fault
from sandbox.stage import REPOSITORY
from sandbox.testing import Town
from tests.system.acting import approve
from tests.system.conftest import Box

pytestmark = pytest.mark.anyio

START = r"/contents/proposals/.*/start\.json"


def statements(here: Town) -> list[dict[str, Any]]:
    """Every statement on the ledger branch by its number, each checked against the key."""
    git = here.world.repository(REPOSITORY).git
    repo = pygit2.Repository(str(git.path))
    tree = repo.references["refs/heads/placet/ledger"].peel(pygit2.Tree)
    index = pygit2.Index()
    index.read_tree(tree)
    found = []
    for entry in index:
        if re.search(r"/(start|end(-\d+)?)\.json$", entry.path):
            file = json.loads(repo[entry.id].data)
            said = verify(file["envelope"], here.hall.ports.signer.public)
            assert said == file["statement"]
            found.append(said)
    return sorted(found, key=lambda said: said["predicate"]["seq"])


async def test_statements_are_numbered_and_each_names_the_one_before(here: Town, box: Box) -> None:
    for n in (1, 2):
        await approve(here, await here.propose("box.add", {"n": n}))
    refused = await here.propose("box.add", {"n": 3})
    await here.person("lee").comment(REPOSITORY, here.number(refused), "/reject")
    await here.over(refused)
    chain = statements(here)
    assert [s["predicate"]["seq"] for s in chain] == [1, 2, 3, 4, 5]
    before = [None, *(digest(s) for s in chain[:-1])]
    assert [s["predicate"]["prev"] for s in chain] == before
    assert box.runs == 2
    assert here.store.in_flight(here.kept(refused).repository) is None


async def test_a_start_that_was_never_recorded_ran_nothing(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    here.world.faults.add(Fault("PUT", START, delay=30))
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.until(seen, lambda p: p.state is State.STARTED)
    await here.stop()
    here.world.faults.clear()
    await here.start()
    over = await here.over(seen)
    assert (over["status"], over["error"]["code"], box.runs) == ("failed", "start_unproven", 0)
    again = await here.propose("box.add", {"n": 5})
    assert (await approve(here, again))["status"] == "applied"
    assert [s["predicate"]["seq"] for s in statements(here)] == [1, 2, 3]


async def test_a_start_whose_fate_nobody_can_prove_runs_nothing(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    here.world.faults.add(Fault("PUT", START, drop=True))
    here.world.faults.add(Fault("GET", START, times=9, status=502))
    over = await approve(here, seen)
    assert (over["status"], over["error"]["code"], box.runs) == ("failed", "start_unproven", 0)


async def test_a_start_that_somebody_else_wrote_halts_the_repository(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    month = here.kept(seen).created.strftime("%Y/%m")
    path = f"proposals/{month}/{seen['proposal']}/start.json"
    await here.person("noor").push(REPOSITORY, "placet/ledger", {path: "{}\n"})
    over = await approve(here, seen)
    assert (over["status"], box.runs) == ("unknown", 0)
    assert here.store.statement(seen["proposal"], "end") is None, "what came of it is theirs to say"
    other = await here.propose("box.add", {"n": 5})
    await here.person("lee").review(REPOSITORY, here.number(other), "APPROVE")
    await here.rest()
    assert (await here.seen(other))["status"] == "awaiting_approval"
    assert box.runs == 0
    here.store.resume(here.kept(other).repository)
    assert (await approve(here, other, "noor"))["status"] == "applied"


async def test_what_another_server_started_is_not_called_rejected(here: Town, box: Box) -> None:
    await approve(here, await here.propose("box.add", {"n": 4}))
    seen = await here.propose("box.add", {"n": 5})
    month = here.kept(seen).created.strftime("%Y/%m")
    path = f"proposals/{month}/{seen['proposal']}/start.json"
    await here.person("noor").push(REPOSITORY, "placet/ledger", {path: "{}\n"})
    await here.person("lee").comment(REPOSITORY, here.number(seen), "/reject")
    await here.until(seen, lambda p: p.state is State.ENDED)
    await here.rest()
    assert here.store.statement(seen["proposal"], "end") is None
    assert not any("ejected" in said for said in here.comments(seen))
    assert here.pull(seen).state == "open"
    assert here.store.halts()
    assert here.store.next_due() is None
    assert box.runs == 1
