"""What waits for something that ends without a word about it: a freeze, a policy, a draft."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from proposals.flow import mended, thawed
from proposals.lifecycle import State
from sandbox.github.actions.refs import tell
from sandbox.stage import REPOSITORY
from sandbox.testing import Town
from tests.cases.moments import FROZEN
from tests.system.conftest import POLICY, Box

pytestmark = pytest.mark.anyio

OTHER_TOOL = POLICY.replace("box.*", "shop.*")
OTHER_AGENT = POLICY + "    requesters: [another-bot]\n"


async def swept(here: Town) -> None:
    """What happens every minute."""
    worker: Any = here.hall.worker
    sweep = asyncio.create_task(worker._sweep())  # noqa: SLF001 (a minute is too long to wait)
    await asyncio.sleep(0.2)
    sweep.cancel()


async def policy(here: Town, text: str) -> None:
    await here.person("noor").push(REPOSITORY, "main", {".github/placet.yml": text})
    await here.world.settled()


async def approved(here: Town) -> dict[str, Any]:
    """A proposal that lee has approved and that waits all the same."""
    seen = await here.propose("box.add", {"n": 4})
    await approve(here, seen)
    return seen


async def approve(here: Town, seen: dict[str, Any]) -> None:
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    assert here.kept(seen).state is State.OPEN


async def done(here: Town, seen: dict[str, Any], box: Box) -> None:
    await here.until(seen, lambda p: p.state is State.APPLIED)
    assert box.runs == 1


async def test_what_was_approved_in_a_freeze_is_done_when_that_ends(here: Town, box: Box) -> None:
    until = here.world.clock.now() + timedelta(hours=2)
    window = f"{{from: 2020-01-01T00:00Z, until: {until:%Y-%m-%dT%H:%MZ}, reason: holidays}}"
    await policy(here, f"{POLICY}freeze:\n  - {window}\n")
    seen = await approved(here)
    await swept(here)
    await here.rest()
    assert "frozen until" in here.check(seen).output["title"]
    assert thawed(here.hall.ports) == []
    here.world.clock.advance(timedelta(hours=2, minutes=1))
    assert [p.id for p in thawed(here.hall.ports)] == [seen["proposal"]]
    await swept(here)
    await done(here, seen, box)
    assert thawed(here.hall.ports) == []


@pytest.mark.parametrize(
    "barring",
    [
        pytest.param(FROZEN, id="a-freeze"),
        pytest.param(OTHER_TOOL, id="no-rule"),
        pytest.param(OTHER_AGENT, id="other-requesters"),
        pytest.param("version: 1\nrulez: []\n", id="an-unreadable-policy"),
    ],
)
async def test_what_a_policy_barred_goes_on_when_it_is_mended(
    here: Town, box: Box, barring: str
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await policy(here, barring)
    await approve(here, seen)
    await policy(here, POLICY)
    await done(here, seen, box)


async def test_a_push_of_other_files_looks_at_nothing_again(here: Town) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await policy(here, FROZEN)
    await approve(here, seen)
    repository = here.kept(seen).repository
    assert [p.id for p in mended(here.hall.ports, repository)] == [seen["proposal"]]
    judged = here.kept(seen).verdict
    await here.person("noor").push(REPOSITORY, "main", {"x.txt": "x"})
    await here.rest()
    assert here.kept(seen).verdict == judged


@pytest.mark.parametrize("here", [FROZEN], indirect=True, ids=["frozen"])
async def test_no_push_mends_what_the_policy_at_propose_forbids(here: Town, box: Box) -> None:
    seen = await approved(here)
    assert mended(here.hall.ports, here.kept(seen).repository) == []
    await policy(here, POLICY)
    await here.rest()
    assert (here.kept(seen).state, box.runs) == (State.OPEN, 0)


async def test_a_draft_that_was_approved_goes_on_when_it_is_ready(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    pull = here.pull(seen)
    pull.draft = True
    await approve(here, seen)
    assert "ready for review" in here.check(seen).output["title"]
    pull.draft = False
    tell(here.world, here.page(seen), pull, here.world.account("noor"), "ready_for_review")
    await done(here, seen, box)
