"""Why a proposal waits and what would change that, over a whole Placet; whom a policy means."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from checks.simulate import add_review, named_in, scene_of
from proposals.lifecycle import State
from sandbox.github import Fault
from sandbox.stage import REPOSITORY
from sandbox.testing import Town
from tests.system.acting import approve
from tests.system.conftest import POLICY, Box
from tests.system.test_main_job import ledger
from webhook_app.cli.program import program
from webhook_app.doors.operator import operators_app
from webhook_app.doors.socket import listening, socket_path

pytestmark = pytest.mark.anyio
NAMED = """\
version: 1
rules:
  - tools: ["box.*"]
    require: [{approvals: 1, from: [user:lee, user:ghost]}]
"""
USERS = "/users/{username}"


async def explained(here: Town, seen: dict[str, Any]) -> dict[str, Any]:
    """What the agent is told of why."""
    async with here.http() as http:
        answer = await http.get(f"/v1/proposals/{seen['proposal']}/explanation")
    return dict(answer.raise_for_status().json())


async def operator(here: Town, path: str) -> httpx.Response:
    """What the operator is told through the socket's application."""
    assert here.app is not None
    transport = httpx.ASGITransport(app=operators_app(here.app))
    async with httpx.AsyncClient(transport=transport, base_url="http://placet") as http:
        return await http.get(path)


async def placet(here: Town, *words: str) -> Result:
    """The operator's command line, over a real socket."""
    assert here.app is not None
    arguments = [*words, "--config", str(here.stage.config)]
    env = {"PLACET_URL": None, "PLACET_TOKEN": None, "COLUMNS": "200"}
    async with listening(socket_path(here.store.path), operators_app(here.app)):
        await asyncio.sleep(0)
        return await asyncio.to_thread(CliRunner().invoke, program, arguments, env=env)


def codes(said: dict[str, Any]) -> set[str]:
    return {f["code"] for f in said["verdict"]["findings"]}


def left(here: Town, seen: dict[str, Any]) -> Any:
    """Everything that explaining must leave alone."""
    repo = here.world.repository(REPOSITORY)
    return (
        here.kept(seen),
        here.store.history(seen["proposal"]),
        here.store.counts(),
        here.pull(seen),
        len(repo.comments),
        here.check(seen).output,
    )


async def test_it_says_who_counts_and_what_is_missing_from_a_fresh_look(here: Town) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await here.person("sam").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    said = await explained(here, seen)
    assert (said["basis"], said["note"]) == ("fresh", "Read from GitHub just now.")
    assert (said["state"], said["verdict"]["decision"]) == ("open", "waiting")
    [stance] = said["verdict"]["stances"]
    assert (stance["login"], stance["reason"]) == ("sam", "permission_too_low")
    assert [p["name"] for p in said["verdict"]["policies"]] == ["propose", "current"]
    assert said["verdict"]["policies"][1]["missing"] == "1 person"


async def test_explaining_moves_nothing_even_when_it_would_be_approved(
    here: Town, box: Box
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await here.person("sam").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    here.world.set_permission(REPOSITORY, "sam", "write")
    await here.rest()
    before = left(here, seen)
    said = await explained(here, seen)
    assert said["verdict"]["decision"] == "approved"
    await operator(here, f"/explanation?proposal={seen['proposal']}")
    await operator(here, f"/facts?proposal={seen['proposal']}&login=noor")
    await here.rest()
    assert left(here, seen) == before
    assert box.runs == 0


async def test_nothing_is_written_to_github_while_explaining(here: Town) -> None:
    seen = await here.propose("box.add", {"n": 4})
    asked = len(here.world.log.entries)
    await explained(here, seen)
    await operator(here, f"/facts?proposal={seen['proposal']}&login=noor")
    methods = {(e.method, e.template) for e in here.world.log.entries[asked:]}
    assert {m for m in methods if m[0] != "GET"} <= {
        ("POST", "/app/installations/{installation_id}/access_tokens"),
        ("POST", "/graphql#Page"),  # a query, which changes nothing
    }


@pytest.mark.parametrize("fault", ["drop", "status"])
async def test_while_github_is_silent_the_stored_verdict_is_told_and_called_so(
    here: Town, fault: str
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await here.person("sam").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    judged_at = here.world.clock.now()
    here.world.clock.advance(timedelta(minutes=10))
    down = Fault(times=99, drop=True) if fault == "drop" else Fault(times=99, status=502)
    here.world.faults.add(down)
    said = await explained(here, seen)
    here.world.faults.clear()
    assert said["basis"] == "stored"
    assert "GitHub did not answer" in said["note"]
    assert said["as_of"] <= judged_at.isoformat()[:19] + "Z"
    assert [s["reason"] for s in said["verdict"]["stances"]] == ["permission_too_low"]
    groups = said["verdict"]["policies"][0]["rule"]["groups"]
    assert groups[0]["filled"] is None, "nobody asked who may do what"


async def test_without_any_verdict_it_says_what_is_held(here: Town) -> None:
    seen = await here.propose("box.add", {"n": 4})
    here.world.faults.add(Fault(times=99, drop=True))
    said = await explained(here, seen)
    here.world.faults.clear()
    assert (said["basis"], said["verdict"]["decision"]) == ("held", "waiting")
    assert "only what Placet holds" in said["note"]


async def test_what_is_over_is_explained_by_the_verdict_that_ended_it(here: Town) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await approve(here, seen)
    said = await explained(here, seen)
    assert (said["state"], said["basis"]) == ("applied", "stored")
    assert said["verdict"]["decision"] == "approved"
    assert said["note"].startswith("It is applied")


async def test_another_agents_proposal_is_not_there(here: Town) -> None:
    async with here.http() as http:
        answer = await http.get("/v1/proposals/p_0/explanation")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


async def test_the_facts_come_back_as_the_same_scene(here: Town) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await here.person("sam").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    data = (await operator(here, f"/facts?proposal={seen['proposal']}&login=noor")).json()
    scene = scene_of(json.loads(json.dumps(data)))
    assert scene.verdict().decision == "waiting"
    assert data["people"]["noor"]["id"] == here.world.account("noor").id
    assert scene.facts.access[here.world.account("noor").id].permission == "admin"
    assert "sam" in named_in(scene.facts)
    assert add_review(scene.facts, named_in(scene.facts)["sam"], "approve", scene.now)


@pytest.mark.parametrize(
    ("words", "decision", "told"),
    [
        pytest.param(["--add-review", "noor=approve"], "approved", "approvals_missing", id="yes"),
        pytest.param(["--press", "noor=approve"], "approved", "approvals_missing", id="button"),
        pytest.param(["--add-comment", "noor=/reject"], "ended", "rejected", id="no"),
        pytest.param(["--add-comment", "noor=lgtm"], "waiting", "No reason differs", id="talk"),
        pytest.param(["--add-review", "dana=approve"], "waiting", "requester", id="its-own-person"),
        pytest.param(["--at", "+5h"], "ended", "expired", id="later"),
        pytest.param(["--move-head"], "ended", "head_moved", id="a-push"),
    ],
)
async def test_simulating_tells_what_would_be_and_does_nothing(
    here: Town, box: Box, words: list[str], decision: str, told: str
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    before = left(here, seen)
    result = await placet(here, "simulate", seen["proposal"], *words)
    assert result.exit_code == 0, result.output
    assert f"After: {decision}," in result.stdout
    assert told in result.stdout
    await here.rest()
    assert left(here, seen) == before
    assert box.runs == 0


async def test_simulating_another_policy(here: Town, tmp_path: Path) -> None:
    seen = await here.propose("box.add", {"n": 4})
    file = tmp_path / "strict.yml"
    file.write_text("version: 1\nrules: [{tools: ['*'], require: [{approvals: 2}]}]\n")
    words = ("--add-review", "noor=approve", "--policy", str(file), "--json")
    result = await placet(here, "simulate", seen["proposal"], *words)
    said = json.loads(result.stdout)
    assert said["after"]["decision"] == "waiting"
    missing = {p["name"]: p["missing"] for p in said["after"]["policies"]}
    assert missing == {"propose": None, "current": "1 person"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param(["--add-review", "nobody-here=approve"], "no person @nobody-here", id="who"),
        pytest.param(["--add-review", "lee"], "is not LOGIN=WORDS", id="no-word"),
        pytest.param(["--add-review", "lee=yes"], "approve or request-changes", id="other-word"),
        pytest.param(["--press", "lee=replan"], "approve or reject", id="other-button"),
        pytest.param(["--add-comment", "lee=/replan"], "no yes or no", id="other-command"),
        pytest.param(["--dismiss", "review:1"], "there is no review", id="no-review"),
        pytest.param(["--at", "soon"], "no length of time", id="no-time"),
    ],
)
async def test_a_change_that_cannot_be_is_one_sentence(
    here: Town, words: list[str], told: str
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    result = await placet(here, "simulate", seen["proposal"], *words)
    assert result.exit_code == 1
    assert result.stderr.startswith("placet: ")
    assert told in result.stderr


async def test_the_operator_reads_it_as_text(here: Town) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await here.person("sam").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    result = await placet(here, "explain", seen["proposal"])
    assert result.exit_code == 0, result.output
    assert f"Proposal {seen['proposal']} (box.add) is open." in result.stdout
    assert "Waiting: not approved yet. Still needed: 1 person." in result.stdout
    assert "does not count (permission_too_low)" in result.stdout


# Whom a policy means (K20 of docs/reference/cases.md).


@pytest.mark.parametrize("here", [NAMED], indirect=True)
async def test_a_login_that_changed_hands_fills_nobodys_place(here: Town, box: Box) -> None:
    """A given-up login is taken by somebody else: https://github.com/gitterHQ/gitter/issues/1670."""
    lee = here.world.account("lee").id
    seen = await here.propose("box.add", {"n": 4})
    assert here.kept(seen).people == {"ghost": 0, "lee": lee}
    here.world.rename_user("lee", "lee-now")
    here.world.add_user("lee")
    here.world.set_permission(REPOSITORY, "lee", "write")
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    said = await explained(here, seen)
    assert [s["reason"] for s in said["verdict"]["stances"]] == ["identity_changed"]
    assert (here.kept(seen).state, box.runs) == (State.OPEN, 0)
    assert any("login now is another account" in c for c in here.comments(seen))


@pytest.mark.parametrize("here", [NAMED], indirect=True)
async def test_who_takes_a_login_that_nobody_had_fills_nobodys_place(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    here.world.add_user("ghost")
    here.world.set_permission(REPOSITORY, "ghost", "write")
    await here.person("ghost").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    said = await explained(here, seen)
    assert [s["reason"] for s in said["verdict"]["stances"]] == ["identity_changed"]
    assert "no_such_user" in codes(said)
    assert box.runs == 0


@pytest.mark.parametrize("here", [NAMED], indirect=True)
async def test_the_page_says_whom_github_does_not_know(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    assert "**Nobody there:** the policy names `@ghost`" in (here.pull(seen).body or "")
    await here.person("sam").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    assert "**Nobody there:** the policy names `@ghost`" in here.check(seen).output["summary"]
    over = await approve(here, seen)
    assert (over["status"], box.runs) == ("applied", 1), "and the page counts as untouched"


@pytest.mark.parametrize("here", [NAMED], indirect=True)
async def test_the_start_statement_says_whom_the_policy_meant(here: Town) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await approve(here, seen)
    git = here.world.repository(REPOSITORY).git
    [path] = [p for p in ledger(git) if seen["proposal"] in p and p.endswith("start.json")]
    said = json.loads(ledger(git)[path])["statement"]["predicate"]
    assert said["people"] == {"ghost": 0, "lee": here.world.account("lee").id}


async def test_a_rule_that_names_nobody_asks_for_nobody(here: Town) -> None:
    asked = len(here.world.log.entries)
    await here.propose("box.add", {"n": 4})
    templates = [e.path for e in here.world.log.entries[asked:]]
    assert not [t for t in templates if t.startswith("/users/lee")]


@pytest.mark.parametrize("here", [NAMED], indirect=True)
async def test_while_github_will_not_say_who_they_are_nothing_opens(here: Town) -> None:
    here.world.faults.add(Fault("GET", USERS, times=40, status=502))
    said = (await here.ask("box.add", {"n": 4})).json()
    await asyncio.sleep(0.1)
    assert here.kept(said).place is None
    here.world.faults.clear()
    await here.until(said, lambda p: p.place is not None)
    assert here.kept(said).people["lee"] == here.world.account("lee").id


async def test_the_validator_tells_how_the_policy_on_github_stands(
    here: Town, tmp_path: Path
) -> None:
    file = tmp_path / "placet.yml"
    file.write_text(POLICY)
    said = await placet(here, "policy", "validate", str(file), "--online")
    assert said.exit_code == 0, said.output
    weak = "whoever can push to the default branch can change `.github/placet.yml` without a review"
    assert f"warning: {weak}. To end that, somebody with admin access must add" in said.output
    listed = (await operator(here, "/policies")).json()["policies"]
    repository = here.world.repository(REPOSITORY).id
    stands = {"name": "default", "id": repository, "problem": None, "rules": 1, "guarded": False}
    assert [one | {"weakness": ""} for one in listed] == [stands | {"weakness": ""}]
    assert listed[0]["weakness"].startswith(weak)


async def test_a_page_warns_of_a_policy_that_nobody_need_review(here: Town) -> None:
    seen = await here.propose("box.add", {"n": 1})
    told = "**Weak spot:** whoever can push to the default branch can change `.github/placet.yml`"
    for text in (here.pull(seen).body or "", here.check(seen).output["summary"]):
        assert told in text
        assert "somebody with admin access must add a ruleset for the default branch" in text
