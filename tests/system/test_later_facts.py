"""What becomes known after the first receipt is signed beside it, and the audit follows."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from checks.facts import Person
from proposals.audit import Keys, Report, audit
from proposals.flow import advance, settle
from proposals.flow.applying import finish, outcome_of
from proposals.lifecycle import Event, State
from sandbox.stage import REPOSITORY
from sandbox.testing import Town
from tests.system.acting import approve
from tests.system.conftest import Box
from tests.system.test_statements import statements
from tests.system.test_unknown import lost
from webhook_app.cli.clone import Clone

pytestmark = pytest.mark.anyio


def audited(here: Town) -> Report:
    """The audit of the ledger as it stands, by the key of this server."""
    ledger = Clone(Path(here.world.repository(REPOSITORY).git.path)).ledger()
    return audit(ledger, Keys.of([here.hall.ports.signer.keyid], [], ledger.files))


def ends(here: Town, seen: dict[str, Any]) -> list[dict[str, Any]]:
    """What the statements after the start say of one proposal."""
    found = [said["predicate"] for said in statements(here)]
    return [said for said in found if said["proposal"] == seen["proposal"] and "fact" in said]


async def test_an_unknown_outcome_is_signed_at_once_and_its_settlement_beside_it(
    here: Town, box: Box
) -> None:
    seen = await lost(here, box)
    assert [end["outcome"] for end in ends(here, seen)] == ["unknown"]
    report = audited(here)
    assert report.clean
    assert "unknown, not settled" in report.notes[0]
    assert report.rows[0].outcome == "unknown"
    await here.stop()
    await here.start()
    await here.rest()
    assert len(ends(here, seen)) == 1, "it is said once"
    digest = seen["digest"].removeprefix("sha256:")[:12]
    words = f"/resolve {digest} failed I looked"
    await here.person("lee").comment(REPOSITORY, here.number(seen), words)
    await here.over(seen)
    await here.until(seen, lambda p: p.state is State.FAILED)
    await here.rest()
    assert [(end["outcome"], end.get("basis")) for end in ends(here, seen)] == [
        ("unknown", None),
        ("failed", "asserted"),
    ]
    report = audited(here)
    assert (report.findings, report.notes) == ((), ())
    assert report.rows[0].outcome == "failed (asserted)"
    assert any("end-2.json" in said for said in here.comments(seen)), "people find the receipt"
    assert [s["predicate"]["seq"] for s in statements(here)] == [1, 2, 3]


async def test_a_late_success_settles_what_was_signed_as_unknown(here: Town, box: Box) -> None:
    seen = await lost(here, box)
    box.value = 5
    here.hall.worker.nudge(seen["proposal"])  # type: ignore[attr-defined]
    await here.until(seen, lambda p: p.state is State.APPLIED)
    await here.rest()
    assert [end["outcome"] for end in ends(here, seen)] == ["unknown", "applied"]
    assert audited(here).clean


async def test_an_answer_that_contradicts_a_settled_outcome_is_signed_too(
    here: Town, box: Box
) -> None:
    seen = await lost(here, box)
    digest = seen["digest"].removeprefix("sha256:")[:12]
    words = f"/resolve {digest} failed I looked"
    await here.person("lee").comment(REPOSITORY, here.number(seen), words)
    await here.until(seen, lambda p: p.state is State.FAILED)
    ports = here.hall.ports
    late = outcome_of(ports, "applied", [], basis="unverified")
    kept = finish(ports, here.kept(seen), Event.SUCCEEDED, late)
    assert kept.state is State.FAILED, "what a person settled stays"
    await here.rest()
    assert [end["fact"] for end in ends(here, seen)] == ["outcome", "outcome", "contradiction"]
    report = audited(here)
    assert report.clean
    assert "a late answer of the tool said applied" in report.notes[0]
    assert report.rows[0].outcome == "failed (asserted)"
    assert [p.code for p in here.store.problems()] == ["contradicted"]


async def test_who_approved_is_signed_with_the_delivery_that_said_so(here: Town) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await approve(here, seen)
    start, end = (said["predicate"] for said in statements(here))
    [approval] = start["approvals"]
    assert approval["authenticated"] == "hmac"
    assert here.store.seen(approval["delivery"])
    assert approval["link"].startswith(here.kept(seen).at.url)
    assert end["approved_by"][0]["delivery"] == approval["delivery"]
    [_, head] = statements(here)[0]["subject"]
    assert head == {"name": "head", "digest": {"gitCommit": start["head"]}}
    assert start["versions"]["placet"]
    assert start["verdict"] == "approved"
    assert start["policy_blob"] == start["rules"][0]["blob"]


async def test_an_approval_that_was_fetched_from_the_log_says_so(here: Town) -> None:
    seen = await here.propose("box.add", {"n": 4})
    number = here.number(seen)
    await here.stop()
    await here.person("lee").comment(REPOSITORY, number, "/approve")
    await here.start(poll=True)
    await here.over(seen)
    [approval] = statements(here)[0]["predicate"]["approvals"]
    assert approval["authenticated"] == "log"
    assert approval["text_digest"].startswith("sha256:")


async def test_what_is_seen_after_a_person_settled_it_otherwise_is_signed_beside_it(
    here: Town, box: Box
) -> None:
    seen = await lost(here, box)
    ports = here.hall.ports
    box.value = 5
    looking = asyncio.ensure_future(advance(ports, seen["proposal"]))
    await asyncio.sleep(0)
    lee = Person(here.world.account("lee").id, "lee")
    settle(ports, here.kept(seen), lee, applied=False, why="I looked")
    await looking
    await here.rest()
    assert here.kept(seen).state is State.FAILED
    assert [problem.code for problem in here.store.problems()] == ["contradicted"]
    assert audited(here).clean
