import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from sandbox.github.rest.call import ROUTES
from sandbox.github.world import new_key
from tests.sandbox.stage import PERMISSIONS, R, Stage

pytestmark = pytest.mark.anyio
NO_ACCESS = "Resource not accessible by integration"


async def test_an_app_is_known_by_its_number_and_by_its_client_id(stage: Stage) -> None:
    for issuer in (str(stage.app.id), stage.app.client_id):
        assert (await stage.get("/app", as_=stage.jwt(iss=issuer)))["id"] == stage.app.id


@pytest.mark.parametrize(
    "claims_at",
    [
        pytest.param(lambda now: {"exp": now - 1}, id="expired"),
        pytest.param(lambda now: {"exp": now + 3600}, id="good-for-an-hour"),
        pytest.param(lambda now: {"iat": now + 300}, id="issued-in-the-future"),
        pytest.param(lambda _: {"iss": "12"}, id="of-no-app"),
        pytest.param(lambda _: {"exp": "soon"}, id="no-number"),
    ],
)
async def test_a_jwt_is_refused(stage: Stage, claims_at: Callable[[int], dict[str, Any]]) -> None:
    claims = claims_at(int(time.time()))
    assert (await stage.ask("GET", "/app", as_=stage.jwt(**claims))).status_code == 401


async def test_a_jwt_signed_by_another_key_is_refused(stage: Stage) -> None:
    good, stage.app.private_key = stage.app.private_key, new_key()
    forged = stage.jwt()
    stage.app.private_key = good
    assert (await stage.ask("GET", "/app", as_=forged)).status_code == 401


async def test_a_token_lives_one_hour(stage: Stage) -> None:
    real = stage.world.clock.machine
    stage.world.clock.machine = lambda: real() + timedelta(minutes=59)
    assert (await stage.ask("GET", R)).status_code == 200
    stage.world.clock.machine = lambda: real() + timedelta(minutes=61)
    assert (await stage.ask("GET", R)).json()["message"] == "Bad credentials"


async def test_moving_the_sandbox_clock_logs_nobody_out(stage: Stage) -> None:
    stage.world.clock.advance(timedelta(days=2))
    assert (await stage.ask("GET", R)).status_code == 200
    assert (await stage.ask("GET", "/app", as_=stage.jwt())).status_code == 200


async def token(stage: Stage, **wanted: Any) -> str:
    path = f"/app/installations/{stage.installation.id}/access_tokens"
    answer = await stage.ask("POST", path, wanted, as_=stage.jwt())
    assert answer.status_code == 201, answer.text
    return answer.json()["token"]


async def test_a_narrowed_token_cannot_do_more(stage: Stage) -> None:
    narrow = await token(stage, permissions={"contents": "read"})
    assert (await stage.ask("GET", "git/ref/heads/main", as_=narrow)).status_code == 200
    answer = await stage.ask("POST", "git/blobs", {"content": "x"}, as_=narrow)
    assert (answer.status_code, answer.json()["message"]) == (403, NO_ACCESS)


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param({"permissions": {"administration": "write"}}, id="a-permission-it-lacks"),
        pytest.param({"permissions": {"issues": "write"}}, id="a-level-it-lacks"),
        pytest.param({"repository_ids": [1]}, id="a-repository-it-lacks"),
        pytest.param({"repositories": ["secret"]}, id="a-repository-by-name"),
    ],
)
async def test_a_token_for_more_than_is_granted_is_refused(
    stage: Stage, wanted: dict[str, Any]
) -> None:
    path = f"/app/installations/{stage.installation.id}/access_tokens"
    assert (await stage.ask("POST", path, wanted, as_=stage.jwt())).status_code == 422


async def test_a_token_reaches_only_the_repositories_of_its_installation(stage: Stage) -> None:
    stage.world.add_repository("acme/secret")
    assert (await stage.ask("GET", "/repos/acme/secret")).status_code == 404
    listed = await stage.get("/installation/repositories")
    assert [repo["full_name"] for repo in listed["repositories"]] == ["acme/approvals"]


async def test_a_token_for_one_of_two_repositories_reaches_that_one(stage: Stage) -> None:
    other = stage.world.add_repository("acme/second")
    stage.world.select_repositories(stage.installation, add=["acme/second"])
    narrow = await token(stage, repository_ids=[other.id])
    assert (await stage.ask("GET", "/repos/acme/second", as_=narrow)).status_code == 200
    assert (await stage.ask("GET", R, as_=narrow)).status_code == 404


async def test_suspension_stops_tokens_and_lifting_it_starts_them(stage: Stage) -> None:
    stage.world.suspend(stage.installation)
    assert (await stage.ask("GET", R)).status_code == 403
    stage.world.unsuspend(stage.installation)
    assert (await stage.ask("GET", R)).status_code == 200


async def test_an_uninstalled_app_has_no_tokens(stage: Stage) -> None:
    stage.world.uninstall(stage.installation)
    assert (await stage.ask("GET", R)).status_code == 401
    assert (await stage.ask("GET", f"{R}/installation", as_=stage.jwt())).status_code == 404


async def test_a_private_repository_does_not_exist_for_strangers(stage: Stage) -> None:
    assert (await stage.ask("GET", R, as_="eve")).status_code == 404
    assert (await stage.ask("GET", R, as_="")).status_code == 404
    assert (await stage.ask("GET", R, as_="sam")).status_code == 200


async def test_a_reader_cannot_write(stage: Stage) -> None:
    sha = (await stage.get("git/ref/heads/main"))["object"]["sha"]
    wanted = {"ref": "refs/heads/x", "sha": sha}
    assert (await stage.ask("POST", "git/refs", wanted, as_="sam")).status_code == 403


async def test_an_installation_token_opens_no_app_route(stage: Stage) -> None:
    for path in ("/app", "/app/installations", "/app/hook/deliveries", f"{R}/installation"):
        assert (await stage.ask("GET", path)).status_code == 401


def test_every_route_says_what_it_needs_except_the_public_ones() -> None:
    open_to_all = {template for (_, template), route in ROUTES.items() if route.needs is None}
    assert open_to_all == {
        "/rate_limit", "/meta", "/user", "/user/{account_id}", "/users/{username}",
        "/app-manifests/{code}/conversions",
    }  # fmt: skip


async def test_a_manifest_becomes_an_app_once(stage: Stage) -> None:
    manifest = {
        "name": "placet-two", "url": "https://example.com", "default_permissions": PERMISSIONS,
        "default_events": ["push"], "hook_attributes": {"url": "https://example.com/hook"},
    }  # fmt: skip
    path = f"/app-manifests/{stage.world.register(manifest, owner='acme')}/conversions"
    answer = await stage.ask("POST", path, as_="")
    assert answer.status_code == 201
    stage.app = stage.world.state.apps[answer.json()["id"]]
    assert answer.json()["pem"] == stage.app.private_key
    assert (await stage.get("/app", as_=stage.jwt()))["slug"] == "placet-two"
    assert (await stage.ask("POST", path, as_="")).status_code == 404


async def test_the_code_of_a_manifest_is_good_for_an_hour(stage: Stage) -> None:
    code = stage.world.register({"name": "late"}, owner="acme")
    stage.world.clock.advance(timedelta(hours=1))
    answer = await stage.ask("POST", f"/app-manifests/{code}/conversions", as_="")
    assert answer.status_code == 404
