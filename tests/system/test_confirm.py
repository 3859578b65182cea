"""Mode confirm, whole: a preview with a token, then the same call once more; nobody is asked."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from proposals.confirm import hashed
from proposals.lifecycle import State
from proposals.store.confirmations import NEWEST
from proposals.turn import text
from sandbox.stage import REPOSITORY
from sandbox.testing import Town, town
from tests.system.conftest import POLICY, Box
from tests.system.talking import ERAS, at, call, talking
from tests.system.test_audit import git
from tests.system.test_statements import statements
from webhook_app.cli.program import program
from webhook_app.doors.hall import token_hash

pytestmark = pytest.mark.anyio


def confirming(box: Box) -> str:
    """The box, whose adding is confirmed by the agent alone."""
    toml = box.toml().replace('targets = ["acme/shop"]\n', "")
    return toml.replace('effect = "write"\n', 'effect = "write"\nmode = "confirm"\n', 1)


@pytest.fixture
async def here(tmp_path: Path, box: Box, judged: Callable[[Any], Any]) -> AsyncIterator[Town]:
    async with town(tmp_path / "town", tools=confirming(box), policy=POLICY, wrap=judged) as made:
        yield made


async def preview(here: Town, n: int = 4) -> dict[str, Any]:
    found = await here.ask("box.add", {"n": n})
    return dict(found.raise_for_status().json())


async def confirm(here: Town, said: dict[str, Any], n: int = 4) -> httpx.Response:
    return await here.ask("box.add", {"n": n}, confirm_token=said["confirm_token"])


async def test_a_preview_does_nothing_and_its_token_does_it_once(here: Town, box: Box) -> None:
    said = await preview(here)
    assert (said["status"], said["executed"]) == ("confirmation_required", False)
    assert said["effects"] == [{"what": "value", "before": 1, "after": 5}]
    assert said["say_to_user"].startswith("Nothing has been done yet.")
    assert said["next"]["do_not_repeat"] is True
    await here.rest()
    assert (box.runs, here.world.repository(REPOSITORY).pulls) == (0, {})
    done = (await confirm(here, said)).json()
    assert (done["status"], done["executed"], done["already_applied"]) == ("applied", True, False)
    assert done["_verification"]["verdict"] == "verified"
    assert (box.runs, box.value) == (1, 5)
    again = await confirm(here, said)
    assert (again.status_code, again.json()["code"]) == (409, "confirm_consumed")
    repeated = await preview(here)
    assert (repeated["status"], repeated["already_applied"]) == ("applied", True)
    await here.rest()
    assert box.runs == 1


async def test_its_statements_say_that_nobody_was_asked(here: Town) -> None:
    said = await preview(here)
    await confirm(here, said)
    await here.rest()
    start, end = (s["predicate"] for s in statements(here))
    assert (start["mode"], start["approvals"], start["page"]) == ("confirm", [], None)
    assert start["confirmed"]["agent"] == start["agent"]
    assert start["confirmed"]["plan"] == start["digest"] == said["digest"]
    assert said["confirm_token"] not in str(start)
    assert (end["outcome"], end["basis"], end["approved_by"]) == ("applied", "verified", [])
    assert here.world.repository(REPOSITORY).pulls == {}


@pytest.mark.parametrize(
    ("n", "token", "status", "code"),
    [
        pytest.param(4, "", 422, "confirm_missing", id="an-empty-token"),
        pytest.param(4, "pc_" + "0" * 64, 422, "confirm_mismatch", id="a-forged-token"),
        pytest.param(5, None, 422, "confirm_mismatch", id="arguments-changed-after-the-preview"),
    ],
)
async def test_a_token_of_anything_else_starts_nothing(
    here: Town, box: Box, n: int, token: str | None, status: int, code: str
) -> None:
    said = await preview(here)
    sent = said["confirm_token"] if token is None else token
    found = await here.ask("box.add", {"n": n}, confirm_token=sent)
    assert (found.status_code, found.json()["code"], box.runs) == (status, code, 0)
    assert found.json()["hint"]
    assert (await confirm(here, said)).json()["status"] == "applied"


async def test_a_token_is_of_one_agent(here: Town, box: Box) -> None:
    said = await preview(here)
    now = here.world.clock.now()
    here.store.add_agent("eve", token_hash("placet_eve"), frozenset({1}), now)
    here.token = "placet_eve"
    found = await confirm(here, said)
    assert (found.status_code, found.json()["code"], box.runs) == (422, "confirm_mismatch", 0)


async def test_an_old_preview_starts_nothing_and_a_new_one_can_be_had(here: Town, box: Box) -> None:
    said = await preview(here)
    here.world.clock.advance(timedelta(minutes=10))
    found = await confirm(here, said)
    assert (found.status_code, found.json()["code"], box.runs) == (409, "confirm_expired", 0)
    again = await preview(here)
    assert again["status"] == "confirmation_required"
    assert again["proposal"] != said["proposal"]
    assert (await confirm(here, again)).json()["status"] == "applied"


async def test_a_world_that_changed_after_the_preview_applies_nothing(here: Town, box: Box) -> None:
    said = await preview(here)
    box.value = 2
    found = (await confirm(here, said)).json()
    assert (found["status"], found["error"]["code"], box.runs) == ("ended", "drifted", 0)


async def test_two_calls_with_one_token_make_one_change(here: Town, box: Box) -> None:
    said = await preview(here)
    both = await asyncio.gather(confirm(here, said), confirm(here, said))
    codes = sorted(found.json().get("code") or found.json()["status"] for found in both)
    assert codes == ["applied", "confirm_consumed"]
    assert box.runs == 1


async def test_nobody_else_touches_a_call_while_it_is_being_started(here: Town, box: Box) -> None:
    said = await preview(here)
    box.breaks("slow plan")
    work = asyncio.create_task(confirm(here, said))
    await here.until(said, lambda p: p.state is State.CLAIMED)
    here.hall.worker.nudge(said["proposal"])
    assert (await work).json()["status"] == "applied"
    events = [move["event"] for move in here.store.history(said["proposal"])]
    assert (events.count("granted"), "crash" in events, box.runs) == (1, False, 1)


async def test_every_preview_of_a_call_has_a_token_and_one_of_them_starts_it(
    here: Town, box: Box
) -> None:
    first, second = await preview(here), await preview(here)
    assert first["proposal"] == second["proposal"]
    assert first["confirm_token"] != second["confirm_token"]
    assert (await confirm(here, first)).json()["status"] == "applied"
    late = (await confirm(here, second)).json()
    assert (late["status"], box.runs) == ("applied", 1)


async def test_of_a_call_repeated_without_end_only_the_newest_tokens_are_kept(
    here: Town, box: Box
) -> None:
    shown = [await preview(here) for _ in range(NEWEST + 2)]
    kept = [here.store.confirmation(hashed(one["confirm_token"])) is not None for one in shown]
    assert kept == [False, False] + [True] * NEWEST
    refused = (await confirm(here, shown[0])).json()
    assert (refused["code"], box.runs) == ("confirm_mismatch", 0)
    assert (await confirm(here, shown[2])).json()["status"] == "applied"
    assert (await confirm(here, shown[-1])).json()["status"] == "applied"
    assert box.runs == 1


FROZEN = (
    POLICY + "freeze:\n  - {from: 2020-01-01T00:00Z, until: 2099-01-01T00:00Z, reason: audit}\n"
)


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        pytest.param(FROZEN, "frozen until", id="frozen"),
        pytest.param(
            "version: 1\nrules: nonsense\n", "policy file cannot be used", id="unreadable"
        ),
    ],
)
async def test_what_the_policy_forbids_to_all_is_not_started(
    here: Town, box: Box, policy: str, why: str
) -> None:
    said = await preview(here)
    await here.person("lee").push(REPOSITORY, "main", {".github/placet.yml": policy})
    await here.rest()
    found = (await confirm(here, said)).json()
    assert (found["status"], box.runs) == ("confirmation_required", 0)
    assert (found["error"]["code"], why in found["error"]["message"]) == ("not_started", True)


async def test_a_stop_stops_it_and_the_token_is_still_good_afterwards(here: Town, box: Box) -> None:
    said = await preview(here)
    here.store.halt("looking into something", here.world.clock.now())
    found = (await confirm(here, said)).json()
    assert (found["status"], box.runs) == ("confirmation_required", 0)
    assert "looking into something" in found["error"]["message"]
    here.store.resume()
    done = (await confirm(here, said)).json()
    assert (done["status"], done["error"], box.runs) == ("applied", None, 1)


async def test_a_crash_while_it_runs_is_an_unknown_outcome_that_is_read_back(
    here: Town, box: Box
) -> None:
    said = await preview(here)
    box.breaks("hang")
    work = asyncio.create_task(confirm(here, said))
    await here.until(said, lambda p: p.state is State.STARTED and box.runs == 1)
    await here.stop()
    work.cancel()
    await here.start()
    over = await here.over(said)
    assert (over["status"], over["_verification"]["verdict"]) == ("applied", "verified")
    assert box.runs == 1
    start, unknown = (s["predicate"] for s in statements(here))
    assert (start["nonce"], unknown["outcome"]) == (unknown["nonce"], "applied")


def test_the_ledger_is_clean_to_a_stranger(tmp_path: Path, box: Box) -> None:
    """Also next to what people approved; and the undo of what nobody approved needs people."""

    async def lived() -> tuple[str, str]:
        async with town(tmp_path / "town", tools=confirming(box), policy=POLICY) as here:
            await confirm(here, await preview(here))
            await preview(here, 9)
            await here.rest()
            signer = here.hall.ports.signer.keyid
            return str(here.world.repository(REPOSITORY).git.path), signer

    origin, signer = asyncio.run(lived())
    git(tmp_path, "clone", "-q", "-b", "placet/ledger", origin, "clone")
    words = ["audit", "--clone", str(tmp_path / "clone"), "--trust", signer]
    told = CliRunner().invoke(program, words)
    assert told.exit_code == 0, told.output
    assert "nobody: cleanup-bot confirmed its own preview" in told.stdout
    assert "Clean. 2 statements" in told.stdout


@pytest.mark.parametrize("era", ERAS)
async def test_over_mcp_it_is_the_reserved_argument(here: Town, box: Box, era: str) -> None:
    async with at(here) as url, talking(url, here.token, era, session="s") as agent:
        said = await call(agent, "box__add", {"n": 4})
        assert said["status"] == "confirmation_required"
        token = said["confirm_token"]
        report = text(said["turn_report"])
        assert "awaiting confirmation" in report
        assert token not in report
        for wrong, code in (("", "confirm_missing"), ("pc_0", "confirm_mismatch")):
            given = {"n": 4, "placet": {"confirm_token": wrong}}
            refused = await call(agent, "box__add", given)
            assert (refused["status"], refused["error"]["code"]) == ("denied", code)
        other = {"n": 5, "placet": {"confirm_token": token}}
        assert (await call(agent, "box__add", other))["error"]["code"] == "confirm_mismatch"
        done = await call(agent, "box__add", {"n": 4, "placet": {"confirm_token": token}})
        assert (done["status"], done["turn_report"]["changes_this_turn"]) == ("applied", 1)
        again = await call(agent, "box__add", {"n": 4, "placet": {"confirm_token": token}})
        assert again["error"]["code"] == "confirm_consumed"
        late = await call(agent, "box__add", {"n": 6})
        here.world.clock.advance(timedelta(minutes=11))
        given = {"n": 6, "placet": {"confirm_token": late["confirm_token"]}}
        assert (await call(agent, "box__add", given))["error"]["code"] == "confirm_expired"
        status = await call(agent, "placet_status", {"proposal": said["proposal"]})
        assert status["confirm_token"] is None
    assert box.runs == 1
