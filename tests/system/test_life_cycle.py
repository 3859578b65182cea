"""What happens to a repository while proposals wait: each its own end or pause, told to all."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from proposals.lifecycle import State
from sandbox.github import Fault
from sandbox.github.actions import refs
from sandbox.github.model import Installation
from sandbox.stage import REPOSITORY
from sandbox.testing import Town
from tests.system.acting import approve
from tests.system.conftest import Box

pytestmark = pytest.mark.anyio

LEDGER = "placet/ledger"
MERGE = r"/pulls/\d+/merge"
END = r"/contents/proposals/.*/end\.json"


async def operator(here: Town, method: str, path: str, body: Any = None) -> dict[str, Any]:
    """Ask through the operator's socket, as the command line does."""
    transport = httpx.AsyncHTTPTransport(uds=str(here.stage.folder / "placet.db.sock"))
    async with httpx.AsyncClient(transport=transport, base_url="http://placet") as http:
        return dict((await http.request(method, path, json=body)).raise_for_status().json())


async def problems(here: Town) -> dict[str, str]:
    """What the operator is told to see to, by code."""
    return {p["code"]: p["why"] for p in (await operator(here, "GET", "/status"))["problems"]}


def installation(here: Town) -> Installation:
    return next(iter(here.world.state.installations.values()))


async def look_round(here: Town) -> None:
    """What the sweep does every few minutes."""
    worker: Any = here.hall.worker
    await worker._look_round(frozenset())  # noqa: SLF001 (five minutes are too long to wait)
    await here.rest()


async def held(here: Town, seen: dict[str, Any], code: str) -> dict[str, Any]:
    """It waits, nothing ran, and the agent is told why."""
    now = await here.seen(seen)
    assert (now["status"], now["error"]["code"], now["executed"]) == (
        seen["status"],
        code,
        False,
    )
    assert "held up" in now["say_to_user"]
    return now


# the operator's stop


async def test_nothing_starts_while_frozen_and_every_page_says_so(here: Town, box: Box) -> None:
    first, second = [await here.propose("box.add", {"n": n}) for n in (1, 2)]
    said = await operator(here, "POST", "/freeze", {"why": "quarter end"})
    assert set(said["waiting"]) == {first["proposal"], second["proposal"]}
    await here.rest()
    for seen in (first, second):
        output = here.check(seen).output
        assert "On hold" in output["title"]
        assert "quarter end" in output["summary"]
    await here.person("lee").review(REPOSITORY, here.number(first), "APPROVE")
    await here.rest()
    assert ((await here.seen(first))["status"], box.runs) == ("awaiting_approval", 0)
    assert "quarter end" in str((await operator(here, "GET", "/status"))["halts"])
    assert (await operator(here, "POST", "/unfreeze"))["was_frozen"]
    assert (await here.over(first))["status"] == "applied"
    assert "On hold" not in here.check(second).output["title"]
    assert box.runs == 1


async def test_a_freeze_survives_a_restart(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await operator(here, "POST", "/freeze", {"why": "quarter end"})
    await here.stop()
    await here.start()
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    assert box.runs == 0
    await operator(here, "POST", "/unfreeze")
    assert (await here.over(seen))["status"] == "applied"


async def test_a_freeze_between_the_claim_and_the_start_stops_the_start(
    here: Town, box: Box
) -> None:
    seen = await here.propose("box.add", {"n": 4})

    async def freeze() -> None:
        here.store.halt("stop!", here.world.clock.now())

    # The policy is read last, after the claim.
    here.world.faults.add(Fault("GET", "/contents/.github/placet.yml", when="after", run=freeze))
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    events = [move["event"] for move in here.store.history(seen["proposal"])]
    assert ("granted" in events, "start" in events, box.runs) == (True, False, 0)
    assert "stop!" in here.check(seen).output["summary"]


async def test_a_repository_that_nobody_knows_cannot_be_resumed(here: Town) -> None:
    with pytest.raises(httpx.HTTPStatusError, match="404"):
        await operator(here, "POST", "/resume", {"repository": "billing"})


# the installation


async def test_a_suspended_installation_pauses_and_loses_nothing(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    here.world.suspend(installation(here))
    await look_round(here)
    told = await held(here, seen, "suspended")
    assert "unsuspend" in told["error"]["message"]
    assert "unsuspend" in (await problems(here))["suspended"]
    here.world.unsuspend(installation(here))
    await here.rest()
    assert (await here.seen(seen))["error"] is None
    assert not await problems(here)
    assert (await approve(here, seen))["status"] == "applied"
    assert box.runs == 1


async def test_what_expired_while_suspended_is_over_and_its_receipt_follows(
    here: Town, box: Box
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    here.world.suspend(installation(here))
    await look_round(here)
    here.world.clock.advance(timedelta(hours=5))
    here.world.unsuspend(installation(here))
    over = await here.over(seen)
    assert (over["error"]["code"], box.runs) == ("expired", 0)
    assert here.pull(seen).state == "closed"


async def uninstalled(here: Town) -> None:
    here.world.uninstall(installation(here))


async def removed(here: Town) -> None:
    here.world.select_repositories(installation(here), remove=[REPOSITORY])


TAKEN = [pytest.param(uninstalled, id="uninstalled"), pytest.param(removed, id="removed")]


@pytest.mark.parametrize("take", TAKEN)
async def test_a_repository_taken_from_the_app_ends_what_was_open(
    here: Town, box: Box, take: Any
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await take(here)
    await here.until(seen, lambda p: p.state is State.ENDED)
    over = await here.seen(seen)
    assert (over["error"]["code"], box.runs) == ("not_installed", 0)
    assert "not installed" in over["error"]["message"]
    assert "not_installed" in await problems(here)


@pytest.mark.parametrize("take", TAKEN)
async def test_what_was_approved_but_not_started_does_not_run(
    here: Town, box: Box, take: Any
) -> None:
    seen = await here.propose("box.add", {"n": 4})

    async def taking() -> None:
        await take(here)

    here.world.faults.add(Fault("GET", "/contents/.github/placet.yml", when="after", run=taking))
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.until(seen, lambda p: p.state is State.ENDED)
    assert box.runs == 0


async def test_a_renamed_repository_goes_on_by_its_id(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    here.world.rename_repository(REPOSITORY, "decisions")
    await look_round(here)
    await here.person("lee").review("acme/decisions", here.number(seen), "APPROVE")
    await here.until(seen, lambda p: p.state is State.APPLIED)
    await here.rest()
    assert box.runs == 1
    pull = here.world.repository("acme/decisions").pulls[here.number(seen)]
    assert pull.merged_at is not None


async def test_a_repository_moved_to_another_account_ends_after_a_while(
    here: Town, box: Box
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    other = here.world.add_organisation("zeta", owners=["noor"])
    here.world.repository(REPOSITORY).owner_id = other.id
    await look_round(here)
    told = await held(here, seen, "not_installed")
    assert "another account" in told["error"]["message"]
    here.world.clock.advance(timedelta(minutes=11))
    await look_round(here)
    assert ((await here.seen(seen))["error"]["code"], box.runs) == ("not_installed", 0)
    assert here.kept(seen).state is State.ENDED


async def test_a_repository_transferred_to_an_account_that_counts_goes_on_by_its_id(
    here: Town, box: Box
) -> None:
    zeta = here.world.add_organisation("zeta", owners=["noor"])
    here.world.install(here.stage.app, "zeta")
    await here.stop()
    text = here.stage.config.read_text()
    acme = here.world.account("acme").id
    here.stage.config.write_text(
        text.replace(f"accounts = [{acme}]", f"accounts = [{acme}, {zeta.id}]")
    )
    await here.start()
    seen = await here.propose("box.add", {"n": 4})
    here.world.repository(REPOSITORY).owner_id = zeta.id
    await look_round(here)
    await here.person("lee").review("zeta/approvals", here.number(seen), "APPROVE")
    await here.until(seen, lambda p: p.state is State.APPLIED)
    await here.rest()
    assert box.runs == 1
    assert here.world.repository("zeta/approvals").pulls[here.number(seen)].merged_at is not None
    assert not await problems(here)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"archived": True}, "unarchive", id="archived"),
        pytest.param({"private": False}, "private again", id="public"),
    ],
)
async def test_a_repository_that_bars_us_pauses_until_it_does_not(
    here: Town, box: Box, change: dict[str, bool], words: str
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    code = "archived" if "archived" in change else "public"
    repo = here.world.repository(REPOSITORY)
    for name, value in change.items():
        setattr(repo, name, value)
    await look_round(here)
    await held(here, seen, code)
    assert words in (await problems(here))[code]
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    assert box.runs == 0
    for name, value in change.items():
        setattr(repo, name, not value)
    await look_round(here)
    assert (await here.over(seen))["status"] == "applied"
    assert not await problems(here)


async def test_a_renamed_default_branch_changes_nothing(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    repo = here.world.repository(REPOSITORY)
    tip = repo.git.branch("main") or ""
    noor = here.person("noor")
    refs.create_ref(here.world, repo, noor.caller, "refs/heads/trunk", tip)
    repo.default_branch = "trunk"
    await noor.delete_branch(REPOSITORY, "main")
    assert (await approve(here, seen))["status"] == "applied"
    assert box.runs == 1


async def test_a_broken_tenant_holds_up_nobody_else(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    here.world.add_organisation("zeta", owners=["noor"])
    here.world.add_repository("zeta/x")
    theirs = here.world.install(here.stage.app, "zeta")
    away = here.world.repository("zeta/x").id
    await _served_too(here, away)
    here.world.faults.add(Fault("POST", f"/installations/{theirs.id}/", status=502, times=99))
    await look_round(here)
    lost = (await here.ask("far.add", {"n": 1})).json()
    assert (await approve(here, seen))["status"] == "applied"
    assert here.kept(lost).state is State.PINNED
    here.world.faults.clear()
    here.world.suspend(theirs)
    await look_round(here)
    other = await here.propose("box.add", {"n": 2})
    assert (await approve(here, other))["status"] == "applied"
    assert (await here.seen(lost))["error"]["code"] == "suspended"
    assert box.runs == 2


async def _served_too(here: Town, repository: int) -> None:
    """Let the same server govern a tool by the repository of another account."""
    await here.stop()
    text = here.stage.config.read_text()
    acme, zeta = (here.world.account(name).id for name in ("acme", "zeta"))
    text = text.replace(f"accounts = [{acme}]", f"accounts = [{acme}, {zeta}]")
    tool = text[text.index("[tool.box.add]") : text.index("[tool.box.look]")]
    far = tool.replace("[tool.box.add]", '[tool.far.add]\nrepository = "far"')
    here.stage.config.write_text(f"{text}\n[repository.far]\nid = {repository}\n\n{far}")
    await here.start()


# the ledger


async def test_a_deleted_ledger_stops_everything_until_it_is_restored(here: Town, box: Box) -> None:
    await approve(here, await here.propose("box.add", {"n": 1}))
    repo = here.world.repository(REPOSITORY)
    tip = repo.git.branch(LEDGER) or ""
    await here.person("noor").delete_branch(REPOSITORY, LEDGER)
    await here.rest()
    assert "deleted or rewrote" in str((await operator(here, "GET", "/status"))["halts"])
    asked = (await here.ask("box.add", {"n": 2})).json()
    await here.rest()
    told = await held(here, asked | {"status": "pinned"}, "ledger_gone")
    assert "Restore it" in told["error"]["message"]
    assert repo.git.branch(LEDGER) is None, "it must not begin anew"
    noor = here.person("noor")
    refs.create_ref(here.world, repo, noor.caller, f"refs/heads/{LEDGER}", tip)
    await operator(here, "POST", "/resume", {"repository": "default"})
    await here.until(asked, lambda p: p.place is not None)
    await here.rest()
    assert (await approve(here, asked))["status"] == "applied"
    assert box.runs == 2


async def forced(here: Town, *, delivered: bool) -> None:
    """Rewrite the ledger's history to its first commit and something of one's own."""
    repo = here.world.repository(REPOSITORY)
    noor = here.person("noor")
    root = [str(c.id) for c in repo.git.history(repo.git.branch(LEDGER) or "")][-1]
    if delivered:
        refs.update_ref(here.world, repo, noor.caller, f"refs/heads/{LEDGER}", root, force=True)
    else:
        repo.git.update_ref(f"refs/heads/{LEDGER}", root, force=True)


@pytest.mark.parametrize("delivered", [True, False], ids=["delivered", "seen-at-the-next-write"])
async def test_a_rewritten_ledger_stops_everything_until_audited(
    here: Town,
    box: Box,
    delivered: bool,  # noqa: FBT001
) -> None:
    await approve(here, await here.propose("box.add", {"n": 1}))
    seen = await here.propose("box.add", {"n": 2})
    await forced(here, delivered=delivered)
    await here.rest()
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    assert box.runs == 1
    repository = here.kept(seen).repository
    assert "placet audit" in (here.store.halted(repository) or "")


async def test_a_statement_of_another_hand_stops_the_next_start(here: Town, box: Box) -> None:
    await approve(here, await here.propose("box.add", {"n": 1}))
    seen = await here.propose("box.add", {"n": 2})
    theirs = {"proposals/2026/11/p_theirs/start.json": "{}\n"}
    await here.person("noor").push(REPOSITORY, LEDGER, theirs)
    over = await approve(here, seen)
    assert (over["status"], over["error"]["code"], box.runs) == ("failed", "ledger_changed", 1)
    assert "did not write" in (here.store.halted(here.kept(seen).repository) or "")


@pytest.mark.parametrize("change", [None, "{}\n"], ids=["removed", "changed"])
async def test_a_statement_of_ours_that_is_touched_stops_the_next_start(
    here: Town, box: Box, change: str | None
) -> None:
    done = await here.propose("box.add", {"n": 1})
    await approve(here, done)
    seen = await here.propose("box.add", {"n": 2})
    month = here.kept(done).created.strftime("%Y/%m")
    path = f"proposals/{month}/{done['proposal']}/end.json"
    await here.person("noor").push(REPOSITORY, LEDGER, {path: change})
    over = await approve(here, seen)
    assert (over["error"]["code"], box.runs) == ("ledger_changed", 1)


async def test_what_people_may_do_to_the_ledger_raises_no_alarm(here: Town, box: Box) -> None:
    await approve(here, await here.propose("box.add", {"n": 1}))
    merged, seen = [await here.propose("box.add", {"n": n}) for n in (2, 3)]
    await here.person("noor").merge(REPOSITORY, here.number(merged))
    await here.person("noor").push(REPOSITORY, LEDGER, {"NOTES.md": "Hello\n"})
    assert (await approve(here, seen))["status"] == "applied"
    assert not here.store.halts()
    assert box.runs == 2


async def test_nothing_is_compared_while_nobody_else_writes(here: Town) -> None:
    for n in (1, 2, 3):
        await approve(here, await here.propose("box.add", {"n": n}))
    assert not [e for e in here.world.log.entries if "/compare/" in e.path]


async def test_nobody_is_asked_while_a_ruleset_forbids_the_ledger(here: Town, box: Box) -> None:
    rules: list[dict[str, object]] = [{"type": "update"}]
    patterns = ["placet/ledger"]
    made = here.world.add_ruleset(REPOSITORY, "only people", branches=patterns, rules=rules)
    await look_round(here)
    asked = (await here.ask("box.add", {"n": 4})).json()
    await here.rest()
    told = await held(here, asked | {"status": "pinned"}, "ledger_not_writable")
    assert "only people" in told["error"]["message"]
    assert not here.world.repository(REPOSITORY).pulls
    assert "bypass" in (await problems(here))["ledger_not_writable"]
    made.bypass_app_ids.add(here.stage.app.id)
    await look_round(here)
    await here.until(asked, lambda p: p.place is not None)
    assert (await approve(here, asked))["status"] == "applied"
    assert box.runs == 1


async def test_a_start_that_a_new_ruleset_forbids_is_held_and_told(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    rules: list[dict[str, object]] = [{"type": "update"}]
    here.world.add_ruleset(REPOSITORY, "new", branches=["placet/ledger"], rules=rules)
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.until(seen, lambda _: any(p.code == "ledger_not_writable" for p in _all(here)))
    await here.rest()
    assert box.runs == 0
    assert "violations" in (await problems(here))["ledger_not_writable"]


def _all(here: Town) -> list[Any]:
    return list(here.store.problems())


# the end


async def test_a_merge_that_meets_another_commit_is_tried_again(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    busy = "Base branch was modified. Review and try the merge again."
    here.world.faults.add(Fault("PUT", MERGE, status=405, message=busy))
    await approve(here, seen)
    here.store.hurry(here.kept(seen).repository, here.world.clock.now())
    await here.until(seen, lambda _: here.store.next_due() is None or _hurried(here, seen))
    await here.rest()
    assert here.pull(seen).merged_at is not None
    assert (box.runs, await problems(here)) == (1, {})


def _hurried(here: Town, seen: dict[str, Any]) -> bool:
    here.store.hurry(here.kept(seen).repository, here.world.clock.now())
    return False


async def test_a_refused_merge_is_a_finding_and_no_second_apply(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    words = "Merge commits are not allowed on this repository."
    here.world.faults.add(Fault("PUT", MERGE, status=405, message=words, times=9))
    over = await approve(here, seen)
    assert (over["status"], box.runs) == ("applied", 1)
    assert words in (await problems(here))["merge_refused"]
    assert any("Done" in said for said in here.comments(seen))
    here.world.faults.clear()
    await here.person("noor").merge(REPOSITORY, here.number(seen))
    await here.rest()
    assert not await problems(here)
    assert box.runs == 1


async def test_a_missing_permission_is_no_limit_and_is_told_to_the_operator(
    here: Town, box: Box
) -> None:
    words = "Resource not accessible by integration"
    here.world.faults.add(Fault("POST", r"/pulls$", status=403, message=words, times=2))
    asked = (await here.ask("box.add", {"n": 4})).json()
    await here.until(asked, lambda p: p.reason == "permission_missing")
    assert words in (await problems(here))["permission_missing"]
    here.world.faults.clear()
    worker: Any = here.hall.worker
    worker.nudge(asked["proposal"])
    await here.until(asked, lambda p: p.place is not None)
    await here.rest()
    assert not await problems(here)
    assert (await approve(here, asked))["status"] == "applied"
    assert box.runs == 1


async def test_the_receipt_waits_as_long_as_github_asks(here: Town, box: Box) -> None:
    seen = await here.propose("box.add", {"n": 4})
    limit = "You have exceeded a secondary rate limit."
    headers = {"retry-after": "1"}
    here.world.faults.add(Fault("PUT", END, status=403, message=limit, headers=headers))
    await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.until(seen, lambda p: p.state is State.APPLIED)
    assert (await operator(here, "GET", "/status"))["brakes"]
    here.world.clock.advance(timedelta(seconds=2))
    await here.until(seen, lambda _: _hurried(here, seen) or here.store.next_due() is None)
    await here.rest()
    assert any("Done" in said for said in here.comments(seen))
    assert (box.runs, await problems(here)) == (1, {})
