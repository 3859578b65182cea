"""Canonical JSON: what is shown, digested and run are the same bytes."""

import json

import pytest

from proposals.canonical import NotCanonical, canonical, digest, loads
from proposals.lifecycle import State
from proposals.receipt import PREDICATE_PLAN
from sandbox.testing import Town
from tests.cases.acting import review
from tests.system.conftest import Box

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("n", "code"),
    [
        pytest.param("9007199254740993", "number_too_large", id="beyond-2-to-the-53"),
        pytest.param("NaN", "not_a_number", id="nan"),
        pytest.param("1e400", "not_a_number", id="infinite"),
        pytest.param('"4"', "bad_arguments", id="a-string-for-a-number"),
        pytest.param("true", "bad_arguments", id="true-for-one"),
        pytest.param('4, "n": 5', "duplicate_key", id="twice"),
        pytest.param('4, "force": true', "unknown_argument", id="unknown-flag"),
        pytest.param('"\\ud800"', "lone_surrogate", id="lone-surrogate"),
        pytest.param('4, "\\ud800": 1', "lone_surrogate", id="lone-surrogate-key"),
    ],
)
async def test_what_two_readers_could_read_differently_is_refused_with_a_hint(
    here: Town, n: str, code: str
) -> None:
    """K77, K78, K81, K83: cyberphone/json-canonicalization#20, erdtman/canonicalize#23."""
    body = f'{{"tool": "box.add", "arguments": {{"n": {n}}}}}'
    async with here.http() as http:
        headers = {"Content-Type": "application/json"}
        said = await http.post("/v1/proposals", content=body.encode(), headers=headers)
    assert (said.status_code, said.json()["code"]) == (422, code)
    assert said.json()["hint"]
    assert not here.store.proposals()


async def test_one_number_written_in_two_ways_is_one_call_and_runs_as_shown(
    here: Town, box: Box
) -> None:
    """K79: 1 and 1.0 are one number to RFC 8785: agentrust-io/agent-manifest#352."""
    said = []
    for n in ("4", "4.0", "4e0"):
        async with here.http() as http:
            body = f'{{"tool": "box.add", "arguments": {{"n": {n}}}}}'
            headers = {"Content-Type": "application/json"}
            answer = await http.post("/v1/proposals", content=body.encode(), headers=headers)
        said.append(answer.raise_for_status().json())
    assert len({one["proposal"] for one in said}) == 1
    await here.until(said[0], lambda p: p.state is State.OPEN)
    await here.rest()
    await review(here, "lee", said[0])
    await here.over(said[0])
    assert '"arguments": {"n": 4}' in (box.folder / "runs").read_text()
    assert box.value == 5


def test_keys_are_ordered_by_utf_16_units() -> None:
    """K80: https://github.com/agentrust-io/agent-manifest/issues/352, vaara#637."""
    keys = {"zk\U0001f600": 1, "zk\ufffd": 2}
    assert canonical(keys).decode() == '{"zk\U0001f600":1,"zk\ufffd":2}'
    assert list(json.loads(json.dumps(keys, sort_keys=True))) == ["zk\ufffd", "zk\U0001f600"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({"a": True}, {"a": 1}, id="true-and-one"),
        pytest.param({"a": "caf\u00e9"}, {"a": "cafe\u0301"}, id="nfc-and-nfd"),
        pytest.param({"a": "1"}, {"a": 1}, id="string-and-number"),
        pytest.param({"a": None}, {}, id="null-and-absent"),
    ],
)
def test_what_looks_equal_has_another_digest(one: object, other: object) -> None:
    """K82, K84: Python and people take these for equal; a digest must not (measured)."""
    assert digest(one) != digest(other)


def test_neighbours_beyond_the_safe_range_never_share_a_digest() -> None:
    """K77: https://github.com/cyberphone/json-canonicalization/issues/20."""
    for text in ("9007199254740992", "9007199254740993"):
        with pytest.raises(NotCanonical, match="as a string"):
            loads(text)


def test_digest_and_predicate_carry_their_version() -> None:
    """K85: two canonicalisers in one product: https://github.com/agentrust-io/cmcp/issues/588."""
    assert digest({}).startswith("sha256:")
    assert PREDICATE_PLAN.endswith(":v1")
