"""The App uses only operations whose permissions the manifest asks for, whatever happens."""

import re

import pytest

from sandbox.github import Fault
from sandbox.stage import REPOSITORY
from sandbox.testing import Town
from tests.system.acting import approve
from tests.test_manifest import OPERATIONS, QUERIES

pytestmark = pytest.mark.anyio

TEAMS = """\
version: 1
rules:
  - tools: ["*"]
    require: [{approvals: 1, from: [team:acme/data, user:noor]}]
"""


def plain(operation: str) -> str:
    """An operation with its parameters unnamed."""
    return re.sub(r"\{\w+\}", "{}", operation.replace("{R}", "/repos/{owner}/{repo}"))


@pytest.mark.parametrize("here", [TEAMS], indirect=True)
async def test_every_request_is_one_that_the_manifest_is_checked_for(here: Town) -> None:
    here.world.faults.add(Fault("POST", r"/pulls$", when="after", status=502))
    here.world.faults.add(Fault("PUT", r"/merge$", when="after", status=502))
    here.world.faults.add(Fault("POST", r"/comments$", when="after", status=502))
    by_review = await here.propose("box.add", {"n": 1})
    await here.person("dana").review(REPOSITORY, here.number(by_review), "APPROVE")
    await approve(here, by_review)
    by_button = await here.propose("box.add", {"n": 2})
    await here.person("lee").press(here.check(by_button).id, "approve")
    await here.over(by_button)
    edited = await here.propose("box.add", {"n": 3})
    await here.person("noor").edit_pull(REPOSITORY, here.number(edited), title="nothing")
    await here.rest()
    await here.person("noor").comment(REPOSITORY, here.number(edited), "/reject")
    await here.over(edited)
    used = {f"{e.method} {e.template}" for e in here.world.log.entries if e.kind != "user"}
    assert len(used) > 15
    allowed = {plain(operation) for operation in OPERATIONS} | {f"POST {q}" for q in QUERIES}
    assert {plain(operation) for operation in used} <= allowed


@pytest.mark.parametrize("here", [TEAMS], indirect=True)
async def test_one_decision_by_a_rule_with_a_team_takes_seven_requests(here: Town) -> None:
    await approve(here, await here.propose("box.add", {"n": 1}))
    seen = await here.propose("box.add", {"n": 2})
    here.world.log.clear()
    await approve(here, seen)
    asked = [f"{e.method} {e.template}" for e in here.world.log.entries if e.kind != "user"]
    reads = ("GET ", *(f"POST {query}" for query in QUERIES))
    first = next(place for place, one in enumerate(asked) if not one.startswith(reads))
    assert len(asked[:first]) == 7, asked[:first]
    assert asked[first].startswith("PUT "), "the statement that it starts"
