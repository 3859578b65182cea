from typing import Any

import pytest

from sandbox.github import Refused
from tests.sandbox.stage import PERMISSIONS, REPO, Stage

pytestmark = pytest.mark.anyio
BUTTON = {"label": "Approve", "description": "Let it happen", "identifier": "approve"}
CHECK = {"name": "placet", "status": "completed", "conclusion": "neutral",
         "output": {"title": "t", "summary": "s"}}  # fmt: skip


async def wanted(stage: Stage, **more: Any) -> dict[str, Any]:
    return CHECK | {"head_sha": (await stage.pull())["head"]["sha"]} | more


async def test_buttons_are_not_in_the_answer(stage: Stage) -> None:
    made = await stage.ask("POST", "check-runs", await wanted(stage, actions=[BUTTON]))
    assert made.status_code == 201
    assert "actions" not in made.json()


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"actions": [BUTTON] * 4}, id="four-buttons"),
        pytest.param({"actions": [BUTTON | {"label": "x" * 21}]}, id="long-label"),
        pytest.param({"actions": [BUTTON | {"description": "x" * 41}]}, id="long-description"),
        pytest.param({"actions": [BUTTON | {"identifier": "x" * 21}]}, id="long-identifier"),
        pytest.param({"conclusion": None}, id="completed-without-conclusion"),
        pytest.param({"head_sha": "0" * 40}, id="no-such-commit"),
        pytest.param({"output": {"title": "t", "summary": "x" * 65_536}}, id="long-summary"),
        pytest.param({"started_at": "yesterday"}, id="no-date"),
    ],
)
async def test_a_check_run_is_refused(stage: Stage, more: dict[str, Any]) -> None:
    whole = {k: v for k, v in (await wanted(stage, **more)).items() if v is not None}
    assert (await stage.ask("POST", "check-runs", whole)).status_code == 422
    stage.judged.problems = [p for p in stage.judged.problems if ": request" not in p]


async def test_three_buttons_of_full_length_are_fine(stage: Stage) -> None:
    full = {"label": "x" * 20, "description": "x" * 40, "identifier": "x" * 20}
    made = await stage.ask("POST", "check-runs", await wanted(stage, actions=[full] * 3))
    assert made.status_code == 201


async def test_only_the_app_that_made_it_changes_a_check_run(stage: Stage) -> None:
    run = await stage.check((await stage.pull())["head"]["sha"])
    other = stage.world.add_app("other", permissions=PERMISSIONS, events=[])
    found = stage.world.install(other, "acme")
    mine, stage.app = stage.app, other
    path = f"/app/installations/{found.id}/access_tokens"
    token = (await stage.ask("POST", path, as_=stage.jwt())).json()["token"]
    stage.app = mine
    path, change = f"check-runs/{run['id']}", {"output": {"title": "mine", "summary": "s"}}
    assert (await stage.ask("PATCH", path, change, as_=token)).status_code == 403
    assert (await stage.ask("PATCH", path, change, as_="ann")).status_code == 403
    assert (await stage.ask("PATCH", path, change)).json()["output"]["title"] == "mine"


async def test_the_latest_run_of_a_name_is_listed(stage: Stage) -> None:
    sha = (await stage.pull())["head"]["sha"]
    first, second = await stage.check(sha), await stage.check(sha)
    listed = await stage.get(f"commits/{sha}/check-runs?check_name=placet")
    assert [run["id"] for run in listed["check_runs"]] == [second["id"]]
    every = await stage.get(f"commits/plan/check-runs?filter=all&app_id={stage.app.id}")
    assert [run["id"] for run in every["check_runs"]] == [first["id"], second["id"]]
    assert every["check_runs"][0]["pull_requests"][0]["number"] == 1


async def test_a_button_press_tells_only_the_app_that_owns_the_run(stage: Stage) -> None:
    other = stage.world.add_app(
        "other", permissions=PERMISSIONS, events=["check_run"], hook_url="http://placet.test/hook"
    )
    stage.world.install(other, "acme")
    run = await stage.check((await stage.pull())["head"]["sha"])
    await stage.world.person("sam").press(run["id"], "approve")
    await stage.world.settled()
    pressed = [one for one in stage.hook.seen if one.event == "check_run.requested_action"]
    targets = [one.headers["x-github-hook-installation-target-id"] for one in pressed]
    assert targets == [str(stage.app.id)]
    assert pressed[0].body["requested_action"] == {"identifier": "approve"}
    assert pressed[0].body["sender"]["login"] == "sam"
    assert pressed[0].body["check_run"]["external_id"] == "P1"
    made = [one for one in stage.hook.seen if one.event == "check_run.created"]
    assert len(made) == 2


async def test_a_button_that_is_not_there_cannot_be_pressed(stage: Stage) -> None:
    sha = (await stage.pull())["head"]["sha"]
    done = await stage.check(sha)
    with pytest.raises(Refused, match="Not Found"):
        await stage.world.person("ann").press(done["id"], "apply")
    going = await stage.ask("POST", "check-runs", {"name": "p", "head_sha": sha,
                                                   "actions": [BUTTON]})  # fmt: skip
    with pytest.raises(Refused, match="completed"):
        await stage.world.person("ann").press(going.json()["id"], "approve")
    with pytest.raises(Refused, match="Not Found"):
        await stage.world.person("eve").press(done["id"], "approve")


async def test_rerun_asks_the_app_again(stage: Stage) -> None:
    run = await stage.check((await stage.pull())["head"]["sha"])
    await stage.world.person("ann").rerequest(run["id"])
    await stage.world.settled()
    assert stage.hook.last("check_run.rerequested")["check_run"]["id"] == run["id"]
    assert REPO in run["html_url"]
