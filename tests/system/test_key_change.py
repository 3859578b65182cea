"""A new signing key, in the middle of everything: the first fingerprint still opens all."""

from pathlib import Path

import pytest

from proposals.audit import Keys, Report, audit
from sandbox.stage import REPOSITORY
from sandbox.testing import Town
from tests.system.acting import approve
from tests.system.conftest import Box
from tests.system.test_life_cycle import operator
from webhook_app.app.key import key_path, new_key
from webhook_app.cli.clone import Clone

pytestmark = pytest.mark.anyio


def audited(here: Town, trust: str) -> Report:
    ledger = Clone(Path(here.world.repository(REPOSITORY).git.path)).ledger()
    return audit(ledger, Keys.of([trust], [], ledger.files))


async def changed(here: Town) -> str:
    """What an operator does: a new key, and a restart; the new fingerprint."""
    made = new_key(key_path(here.stage.folder / "placet.db"), here.world.clock.now())
    await here.stop()
    await here.start()
    await here.rest()
    return made.keyid


async def test_what_waits_goes_on_and_auditors_keep_their_fingerprint(here: Town, box: Box) -> None:
    first = here.hall.ports.signer.keyid
    await approve(here, await here.propose("box.add", {"n": 1}))
    waits = await here.propose("box.add", {"n": 2})
    second = await changed(here)
    assert (await approve(here, waits))["status"] == "applied"
    third = await changed(here)
    await approve(here, await here.propose("box.add", {"n": 3}))
    assert box.runs == 3
    report = audited(here, first)
    assert (report.findings, report.notes) == ((), ())
    assert report.keys == tuple(sorted((first, second, third)))
    said = await operator(here, "GET", "/keys")
    assert (said["first"], said["fingerprint"]) == (first, third)
    assert [s["to"] for s in said["successions"]] == [second, third]
    assert "PRIVATE" not in str(said)


async def test_the_newest_fingerprint_alone_opens_nothing_older(here: Town) -> None:
    await approve(here, await here.propose("box.add", {"n": 1}))
    second = await changed(here)
    await approve(here, await here.propose("box.add", {"n": 2}))
    assert {f.code for f in audited(here, second).findings} >= {"wrong_key"}
