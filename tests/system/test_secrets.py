"""Declared secrets: the tool gets them; people, agents, git, the store, logs and exports do not."""

import json
import logging
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pygit2
import pytest
import structlog

from proposals.canonical import digest
from proposals.flow.veiling import things
from sandbox.stage import REPOSITORY
from sandbox.testing import Town, town
from tests.shop import Shop, served
from tests.system.acting import approve
from tests.system.conftest import POLICY as BOX_POLICY
from tests.system.test_recipes import TOOLS
from webhook_app.app.secret_keys import secrets_path
from webhook_app.settings import SettingsError

pytestmark = pytest.mark.anyio

POLICY = BOX_POLICY.replace('"box.*"', '"safe.*"')
GIVEN = 'sentinel-of-the-arguments"\\'
SHOWN, ISSUED, READ = "sentinel-of-the-preview", "sentinel-of-the-result", "sentinel-of-the-read"
SENTINELS = ("sentinel-of-the-arguments", SHOWN, ISSUED, READ)
TOOL = """
import json, os, sys
from pathlib import Path
asked = json.load(sys.stdin)
safe, verb = Path(os.environ["SAFE"]), asked["verb"]
with (safe / "heard").open("a") as heard:
    heard.write(json.dumps(asked) + "\\n")
print("on stderr", json.dumps(asked), file=sys.stderr)
fault = (safe / "fault").read_text() if (safe / "fault").exists() else ""
token = asked["arguments"]["token"]
what = "token " + token
if verb == "read":
    said = {"result": {"key": "sentinel-of-the-read", "echo": token, "n": 1}}
elif verb == "plan" and fault == "no plan":
    said = {"error": {"code": "bad_token", "message": "no such token: " + token}}
elif verb == "plan":
    said = {"effects": [{"what": what, "before": None, "after": token}],
            "preview": {"session": "sentinel-of-the-preview" + (safe / "session").read_text(),
                        "asked": json.dumps(asked)},
            "preconditions": {"version": (safe / "version").read_text()},
            "warnings": ["the token " + token + " is weak"]}
elif verb == "undo_plan":
    said = {"effects": [{"what": what, "before": token, "after": None}],
            "preview": {"revokes": asked["result"]["key"]}}
elif verb in ("apply", "undo") and fault == "nothing":
    said = {"ok": False, "did_nothing": True,
            "why": "sentinel-of-the-preview refused " + json.dumps(token) + ", " + token}
elif verb in ("apply", "undo"):
    said = {"ok": True, "result": {"key": "sentinel-of-the-result", "for": token}}
else:
    key = (asked["result"] or {}).get("key")
    said = {"verdict": "verified", "why": "read with " + key, "checks": [
        {"what": what, "expected": token, "found": token, "ok": True},
        {"what": "key", "expected": key, "found": key, "ok": True}]}
print(json.dumps(said))
"""


class Safe:
    """A tool that is given secrets, and what it heard."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        (folder / "tool.py").write_text(TOOL)
        (folder / "version").write_text("1")
        (folder / "session").write_text("")

    def heard(self, verb: str) -> list[dict[str, Any]]:
        lines = map(json.loads, (self.folder / "heard").read_text().splitlines())
        return [line for line in lines if line["verb"] == verb]

    def breaks(self, how: str) -> None:
        (self.folder / "fault").write_text(how)

    def toml(self) -> str:
        argv = [sys.executable, "-I", "-S", str(self.folder / "tool.py")]
        token = '{type = "string", maxLength = 60}'
        known = f'{{type = "object", properties = {{token = {token}}}, required = ["token"]}}'
        return f"""
[tool.safe.put]
kind = "command"
effect = "write"
summary = "Put {{/arguments/token}} into the safe"
secrets = ["/arguments/token", "/preview/session", "/result/key"]
plan = {argv}
apply = {argv}
verify_command = {argv}
undo_command = {argv}
plan_env = {{SAFE = "{self.folder}"}}
apply_env = {{SAFE = "{self.folder}"}}
arguments = {known}

[tool.safe.look]
kind = "command"
effect = "read"
read = {argv}
secrets = ["/arguments/token", "/result/key"]
plan_env = {{SAFE = "{self.folder}"}}
arguments = {known}
"""


@pytest.fixture
def safe(tmp_path: Path) -> Safe:
    return Safe(tmp_path / "safe")


@pytest.fixture
async def here(tmp_path: Path, safe: Safe, judged: Callable[[Any], Any]) -> AsyncIterator[Town]:
    async with town(tmp_path / "town", tools=safe.toml(), policy=POLICY, wrap=judged) as made:
        yield made


async def call(here: Town, tool: str, arguments: Any) -> httpx.Response:
    async with here.http() as http:
        return await http.post("/v1/calls", json={"tool": tool, "arguments": arguments})


async def undo(here: Town, seen: dict[str, Any]) -> dict[str, Any]:
    async with here.http() as http:
        said = (await http.post(f"/v1/proposals/{seen['proposal']}/undo", json={})).json()
    await here.rest()
    return await here.seen(said)


def marked(heard: list[dict[str, Any]]) -> list[str]:
    """What a tool was given that is not the real thing; of a receipt, only what it acts on."""
    acted = [{k: v for k, v in said.items() if k != "receipt"} for said in heard]
    real = all(said["arguments"]["token"].startswith(GIVEN) for said in heard)
    return [str(said) for said in acted if "hmac:" in str(said)] + ([] if heard and real else ["!"])


def found(data: bytes) -> list[str]:
    return [name for name in SENTINELS if name.encode() in data]


def in_git(here: Town) -> list[str]:
    repo = pygit2.Repository(str(here.world.repository(REPOSITORY).git.path))
    return [f"{oid}: {name}" for oid in repo for name in found(repo[oid].read_raw())]


def on_github(here: Town, *proposals: dict[str, Any]) -> str:
    checks = [str(run) for run in here.world.repository(REPOSITORY).checks.values()]
    pulls = [str(pull) for pull in here.world.repository(REPOSITORY).pulls.values()]
    return str([checks, pulls, [here.comments(one) for one in proposals]])


def in_the_store(here: Town) -> bytes:
    path = here.hall.settings.store
    with sqlite3.connect(path) as reader:
        assert reader.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    reader.close()
    return path.read_bytes()


def exported(here: Town, folder: Path) -> bytes:
    placet = [sys.executable, "-c", "from webhook_app.cli import main; main()"]
    argv = [*placet, "export", str(folder), "--store", str(here.hall.settings.store)]
    subprocess.run(argv, check=True, capture_output=True)
    return b"".join(file.read_bytes() for file in folder.iterdir())


async def test_a_secret_reaches_the_tool_and_nothing_else(
    here: Town, safe: Safe, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with structlog.testing.capture_logs() as logs:
        seen = await here.propose("safe.put", {"token": GIVEN}, reason=f"stores {GIVEN}")
        applied = await approve(here, seen)
        assert (applied["status"], applied["_verification"]["verdict"]) == ("applied", "verified")
        again = await here.ask("safe.put", {"token": GIVEN})
        back = await approve(here, await undo(here, applied))
        assert back["status"] == "applied"
        looked = await call(here, "safe.look", {"token": GIVEN})
        assert looked.json()["result"]["n"] == 1
        safe.breaks("nothing")
        failed = await approve(here, await here.propose("safe.put", {"token": GIVEN + "2"}))
        assert failed["status"] == "failed"
        safe.breaks("no plan")
        unplanned = await here.ask("safe.put", {"token": GIVEN + "3"})
        assert "bad_token" in unplanned.text
        unfit = await here.ask("safe.put", {"token": GIVEN * 9})
        assert unfit.json()["code"] == "bad_arguments"
    assert again.json()["proposal"] == seen["proposal"]
    for verb in ("plan", "apply", "verify", "undo_plan", "undo", "read"):
        assert marked(safe.heard(verb)) == [], verb
    assert ISSUED in str(safe.heard("undo")[0]["plan"])
    agents = [seen, applied, back, failed, *(r.text for r in (again, looked, unplanned, unfit))]
    assert found(str(agents).encode()) == []
    assert found(on_github(here, seen, back, failed).encode()) == []
    assert in_git(here) == []
    assert found(in_the_store(here)) == []
    assert found(exported(here, tmp_path / "export")) == []
    assert found((caplog.text + str(logs)).encode()) == []
    key = secrets_path(here.hall.settings.store)
    assert key.stat().st_mode & 0o777 == 0o600


async def replanned(here: Town, seen: dict[str, Any]) -> dict[str, Any]:
    """Ask for a new plan on the page, and what that is."""
    await here.person("lee").comment(REPOSITORY, here.number(seen), "/replan")
    await here.rest()
    fresh = next(p for p in here.store.proposals() if p.parent == seen["proposal"])
    return await here.seen({"proposal": fresh.id})


async def test_the_same_secret_in_the_same_world_has_the_same_digest_in_its_family(
    here: Town,
) -> None:
    seen = await here.propose("safe.put", {"token": GIVEN})
    fresh = await replanned(here, seen)
    assert fresh["digest"] == seen["digest"]
    assert (await approve(here, fresh))["status"] == "applied"


async def test_another_secret_has_another_digest(here: Town, safe: Safe) -> None:
    seen = await here.propose("safe.put", {"token": GIVEN})
    (safe.folder / "session").write_text("-renewed")
    fresh = await replanned(here, seen)
    assert fresh["digest"] != seen["digest"]
    arguments = [here.kept(one).plan.plan["arguments"] for one in (seen, fresh)]
    assert arguments[0] == arguments[1]


async def test_a_secret_that_changed_before_the_approval_is_drift(here: Town, safe: Safe) -> None:
    seen = await here.propose("safe.put", {"token": GIVEN})
    (safe.folder / "session").write_text("-renewed")
    over = await approve(here, seen)
    assert (over["status"], over["error"]["code"]) == ("ended", "drifted")
    assert safe.heard("apply") == []
    assert found(str(over).encode()) == []


async def test_the_page_says_what_is_hidden_and_what_binds_it(here: Town) -> None:
    seen = await here.propose("safe.put", {"token": GIVEN})
    [key] = here.hall.ports.vault.keys
    body = str(here.pull(seen).body)
    assert f"Hidden: `/arguments/token`, `/preview/session`**, bound by `hmac:{key.kid}`." in body
    assert "The same text is hidden in 4 other places" in body


async def test_what_two_calls_change_is_compared_by_its_real_name(here: Town) -> None:
    """Each plan hides it behind a mark of its own, so by the marks no two would ever meet."""
    first = await here.propose("safe.put", {"token": GIVEN})
    body = {"tool": "safe.put", "arguments": {"token": GIVEN}}
    async with here.http() as http:
        said = await http.post("/v1/proposals", json=body, headers={"Idempotency-Key": "once-more"})
    second = said.raise_for_status().json()
    assert first["proposal"] != second["proposal"]
    names = [things(here.hall.ports, here.kept(said)) for said in (first, second)]
    assert names == [{("safe", f"token {GIVEN}")}] * 2


async def test_the_same_call_is_found_by_its_secret_and_another_is_not(here: Town) -> None:
    async def ask(token: str) -> httpx.Response:
        async with here.http() as http:
            body = {"tool": "safe.put", "arguments": {"token": token}}
            return await http.post("/v1/proposals", json=body, headers={"Idempotency-Key": "k"})

    first, again, other = await ask(GIVEN), await ask(GIVEN), await ask(GIVEN + "2")
    assert again.json()["proposal"] == first.json()["proposal"]
    assert (other.status_code, other.json()["code"]) == (409, "key_conflict")
    kept = here.kept(first.json())
    assert kept.arguments != kept.plan.plan["arguments"]
    assert kept.sealed


async def test_a_server_that_starts_again_goes_on_with_its_key(here: Town, safe: Safe) -> None:
    seen = await here.propose("safe.put", {"token": GIVEN})
    await here.stop()
    await here.start()
    assert (await approve(here, seen))["status"] == "applied"
    assert marked(safe.heard("apply")) == []


async def test_without_the_key_the_server_does_not_start_and_says_what_to_do(here: Town) -> None:
    await here.propose("safe.put", {"token": GIVEN})
    path = secrets_path(here.hall.settings.store)
    await here.stop()
    kept = path.read_text()
    path.unlink()
    with pytest.raises(SettingsError, match="Restore it from the backup"):
        await here.start()
    await here.stop()
    path.write_text(kept)
    path.chmod(0o600)
    await here.start()


async def test_with_another_key_nothing_is_applied_until_the_old_one_is_back(
    here: Town, safe: Safe
) -> None:
    seen = await here.propose("safe.put", {"token": GIVEN})
    path = secrets_path(here.hall.settings.store)
    await here.stop()
    kept = path.read_text()
    path.write_text("")
    await here.start()
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.until(seen, lambda p: "restore" in str(here.store.history(p.id)) or "key" in p.why)
    assert (await here.seen(seen))["status"] == "awaiting_approval"
    assert safe.heard("apply") == []
    await here.stop()
    with path.open("a") as file:
        file.write(kept)
    await here.start()
    assert (await here.over(seen))["status"] == "applied"
    assert marked(safe.heard("apply")) == []


async def test_what_was_sealed_for_another_plan_is_not_given_to_the_tool(
    here: Town, safe: Safe
) -> None:
    seen = await here.propose("safe.put", {"token": GIVEN})
    vault, kept = here.hall.ports.vault, here.kept(seen)
    other = vault.open(kept.id, kept.sealed) | {"digest": "sha256:0"}
    here.store.note(kept.id, sealed=vault.seal(vault.key(), kept.id, other))
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.until(seen, lambda p: "another plan" in str(here.store.history(p.id)))
    assert (await here.seen(seen))["status"] == "awaiting_approval"
    assert safe.heard("apply") == []


async def test_marks_alone_are_not_given_to_the_tool_as_a_restored_store_has_them(
    here: Town, safe: Safe
) -> None:
    seen = await here.propose("safe.put", {"token": GIVEN})
    applied = await approve(here, seen)
    here.store.note(seen["proposal"], sealed="")
    async with here.http() as http:
        refused = await http.post(f"/v1/proposals/{applied['proposal']}/undo", json={})
    assert (refused.status_code, refused.json()["code"]) == (409, "secrets_lost")
    assert safe.heard("undo_plan") == []


async def test_without_its_key_nothing_is_undone_or_planned_again(here: Town, safe: Safe) -> None:
    seen = await here.propose("safe.put", {"token": GIVEN})
    applied = await approve(here, seen)
    await here.stop()
    secrets_path(here.stage.folder / "placet.db").write_text("")
    await here.start()
    async with here.http() as http:
        refused = await http.post(f"/v1/proposals/{applied['proposal']}/undo", json={})
    assert (refused.status_code, refused.json()["code"]) == (409, "secrets_lost")
    assert safe.heard("undo_plan") == []


async def test_an_undo_that_waits_is_not_ended_for_one_that_cannot_be(
    tmp_path: Path, safe: Safe, judged: Callable[[Any], Any]
) -> None:
    tools = safe.toml().replace('effect = "write"\n', 'effect = "write"\nmode = "announce"\n', 1)
    async with town(tmp_path / "town", tools=tools, policy=POLICY, wrap=judged) as here:
        done = (await here.ask("safe.put", {"token": GIVEN})).json()
        await here.rest()
        waiting = await undo(here, done)
        assert (done["status"], waiting["status"]) == ("applied", "awaiting_approval")
        await here.stop()
        secrets_path(here.stage.folder / "placet.db").write_text("")
        await here.start()
        await here.person("dana").comment(REPOSITORY, here.number(done), "/undo")
        await here.rest()
        assert (await here.seen(waiting))["status"] == "awaiting_approval"
        assert safe.heard("undo") == []


async def test_a_key_that_others_can_read_refuses_the_start(here: Town) -> None:
    path = secrets_path(here.hall.settings.store)
    await here.stop()
    path.chmod(0o644)
    with pytest.raises(SettingsError, match="chmod 600"):
        await here.start()
    await here.stop()
    path.chmod(0o600)
    path.write_text("no key")
    with pytest.raises(SettingsError, match="holds no keys"):
        await here.start()


SIZE, OLD = 76_543_217, 81_234_567
SECRETS = '''secrets = ["/arguments/size", "/preconditions/old/sha256", "/result/body/size"]
method = "PUT"'''


async def test_a_recipe_keeps_and_puts_back_what_nobody_sees(
    tmp_path: Path, judged: Callable[[Any], Any]
) -> None:
    shop = Shop()
    shop.sizes["a"] = OLD
    policy = BOX_POLICY.replace('"box.*"', '"api.*"')
    with served(shop) as address:
        tools = TOOLS.replace("ADDRESS", address).replace('method = "PUT"', SECRETS)
        async with town(tmp_path / "town", tools=tools, policy=policy, wrap=judged) as here:
            seen = await here.propose("api.put", {"id": "a", "size": SIZE})
            assert here.kept(seen).plan.kept == {}
            applied = await approve(here, seen)
            assert (applied["_verification"]["verdict"], shop.sizes["a"]) == ("verified", SIZE)
            back = await approve(here, await undo(here, applied))
            assert (back["_verification"]["verdict"], shop.sizes["a"]) == ("verified", OLD)
            repo = pygit2.Repository(str(here.world.repository(REPOSITORY).git.path))
            told = [str([seen, applied, back]).encode(), on_github(here, seen, back).encode()]
            told += [in_the_store(here), *(repo[oid].read_raw() for oid in repo)]
            for secret in (str(SIZE), str(OLD), digest(SIZE), digest(OLD)):
                assert [data for data in told if secret.encode() in data] == []
