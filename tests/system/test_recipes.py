"""A tool that others wrote, by its recipe, from the call to its undo: over HTTP, with ETags."""

import json
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pygit2
import pytest
from typer.testing import CliRunner

from proposals.lifecycle import State
from sandbox.stage import REPOSITORY
from sandbox.testing import Town, town
from tests.shop import Shop, served
from tests.system.acting import approve
from tests.system.conftest import POLICY as BOX_POLICY
from webhook_app.cli.program import program

pytestmark = pytest.mark.anyio

POLICY = BOX_POLICY.replace('"box.*"', '"api.*"')
OLD = 8_123_456_789  # what the item held before: kept for the undo, and shown to nobody
TOOLS = """
[upstream.api]
base_url = "ADDRESS"

[tool.api.get]
effect = "read"
method = "GET"
path = "/items/{id}"
absent = "^404"
arguments = {properties = {id = {type = "string"}}, required = ["id"]}

[tool.api.put]
effect = "write"
method = "PUT"
path = "/items/{id}"
headers = {etag = "If-Match", key = "Idempotency-Key"}
key_argument = "key"
forbid = ["etag"]
apply = {set = {etag = {from = "/pre/etag"}}}
summary = "Set the size of {/arguments/id}"
undo = [{tool = "api.put", args = {id = {from = "/arguments/id"}, size = {from = "/pre/old"}}}]
effects = [{what = "size", before = {from = "/pre/old"}, after = {from = "/arguments/size"}}]

[tool.api.put.arguments]
required = ["id", "size"]
[tool.api.put.arguments.properties]
id = {type = "string"}
size = {type = "integer"}
etag = {type = "string"}
key = {type = "string"}

[[tool.api.put.pre]]
id = "old"
tool = "api.get"
args = {id = {from = "/arguments/id"}}
take = "/body/size"
pin = "sha256"
keep = true
[[tool.api.put.pre]]
id = "etag"
tool = "api.get"
args = {id = {from = "/arguments/id"}}
take = "/headers/etag"

[[tool.api.put.verify]]
tool = "api.get"
args = {id = {from = "/arguments/id"}}
take = "/body/size"
equals = {from = "/arguments/size"}

[tool.api.outer]
effect = "write"
method = "PUT"
path = "/outer"
arguments = {properties = {id = {type = "string"}}, required = ["id"]}
apply = {tool = "api.inner", args = {id = {from = "/arguments/id"}}}

[tool.api.inner]
effect = "write"
method = "PUT"
path = "/inner/{id}"
arguments = {properties = {id = {type = "string"}}, required = ["id"]}
"""
CALL = {"id": "a", "size": 7}


@pytest.fixture
def shop() -> Shop:
    made = Shop()
    made.sizes["a"] = OLD
    return made


@pytest.fixture
async def here(tmp_path: Path, shop: Shop, judged: Callable[[Any], Any]) -> AsyncIterator[Town]:
    with served(shop) as address:
        tools = TOOLS.replace("ADDRESS", address)
        async with town(tmp_path / "town", tools=tools, policy=POLICY, wrap=judged) as made:
            yield made


def puts(shop: Shop) -> int:
    return [seen[0] for seen in shop.seen].count("PUT")


def in_git(here: Town, text: str) -> bool:
    """Whether any object of the repository holds this text."""
    repo = pygit2.Repository(str(here.world.repository(REPOSITORY).git.path))
    return any(text.encode() in repo[name].read_raw() for name in repo)


def audited(here: Town, folder: Path) -> list[Any]:
    """What the auditor finds in a plain clone."""
    origin = here.world.repository(REPOSITORY).git.path
    branch = ["-b", "placet/ledger"]
    subprocess.run(["git", "clone", "-q", *branch, origin, folder / "clone"], check=True)
    words = ["audit", "--clone", str(folder / "clone"), "--json"]
    words += ["--trust", here.hall.ports.signer.keyid]
    return list(json.loads(CliRunner().invoke(program, words).stdout)["findings"])


async def undo(here: Town, seen: dict[str, Any]) -> dict[str, Any]:
    async with here.http() as http:
        said = (await http.post(f"/v1/proposals/{seen['proposal']}/undo", json={})).json()
    await here.rest()
    return dict(said)


async def test_it_is_applied_verified_and_put_back_and_what_was_kept_is_nowhere_in_git(
    here: Town, shop: Shop, tmp_path: Path
) -> None:
    seen = await here.propose("api.put", CALL)
    assert puts(shop) == 0
    done = await approve(here, seen)
    assert (done["status"], done["_verification"]["verdict"]) == ("applied", "verified")
    assert (shop.sizes["a"], puts(shop)) == (7, 1)
    back = await undo(here, done)
    assert shop.sizes["a"] == 7
    over = await approve(here, await here.seen(back))
    assert (over["status"], over["_verification"]["verdict"]) == ("applied", "verified")
    assert (shop.sizes["a"], puts(shop)) == (OLD, 2)
    assert in_git(here, '"size": 7')
    assert not in_git(here, str(OLD))
    said = str([here.comments(seen), here.comments(back), here.pull(seen).body, over])
    assert str(OLD) not in said
    assert audited(here, tmp_path) == []


async def test_what_changed_before_the_approval_is_drift(here: Town, shop: Shop) -> None:
    seen = await here.propose("api.put", CALL)
    shop.versions["a"] += 1
    over = await approve(here, seen)
    assert (over["status"], over["error"]["code"], puts(shop)) == ("ended", "drifted", 0)


async def test_an_api_that_is_down_ends_nothing_and_is_not_sent_anything(
    here: Town, shop: Shop
) -> None:
    seen = await here.propose("api.put", CALL)
    shop.down = 1
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    kept = await here.until(seen, lambda p: "cannot be read" in p.why)
    assert (kept.state, puts(shop)) == (State.OPEN, 0)


async def test_no_answer_is_unknown_until_the_world_shows_it(here: Town, shop: Shop) -> None:
    seen = await here.propose("api.put", CALL)
    shop.fault = "after"
    over = await approve(here, seen)
    assert (over["status"], over["_verification"]["verdict"]) == ("applied", "verified")
    assert (shop.sizes["a"], puts(shop)) == (7, 1)


async def test_no_answer_and_nothing_to_see_stays_unknown(here: Town, shop: Shop) -> None:
    seen = await here.propose("api.put", CALL)
    shop.fault = "504"
    over = await approve(here, seen)
    assert (over["status"], over["executed"], puts(shop)) == ("unknown", None, 1)


async def test_a_later_change_is_not_undone_unseen(here: Town, shop: Shop) -> None:
    done = await approve(here, await here.propose("api.put", CALL))
    shop.sizes["a"] = 9
    said = await undo(here, done)
    assert (said["status"], said["error"]["code"]) == ("ended", "undo_conflict")
    assert str(OLD) not in str(said)
    assert shop.sizes["a"] == 9


async def test_another_called_tool_is_not_what_was_approved(here: Town, shop: Shop) -> None:
    config, old = here.stage.config, 'path = "/inner/{id}"'
    seen = await here.propose("api.outer", {"id": "a"})
    await here.stop()
    config.write_text(config.read_text().replace(old, 'path = "/items/{id}"'))
    await here.start()
    await here.rest()
    over = await approve(here, seen)
    assert (over["status"], over["error"]["code"], puts(shop)) == ("ended", "tool_changed", 0)
