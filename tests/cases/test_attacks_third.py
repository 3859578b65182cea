"""A third attacker, with fresh eyes, against the modes in which nobody is asked first."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from checks.facts import Surface
from checks.policy import floor
from proposals.flow.unasked import start_now
from sandbox.stage import REPOSITORY
from sandbox.testing import Town, town
from tests.cases.acting import short
from tests.notes import Notes
from webhook_app.doors.hall import token_hash

pytestmark = pytest.mark.anyio

POLICY = """\
version: 1
rules:
  - tools: ["note.*"]
    require: [{approvals: 1}]
    expires: 4h
"""
CALL = {"name": "a", "text": "1"}


class Desk:
    """A town whose agent writes notes, in each mode."""

    def __init__(self, here: Town, notes: Notes) -> None:
        self.here = here
        self.notes = notes

    async def call(self, tool: str, key: str = "", token: str = "", **more: Any) -> dict[str, Any]:
        """Call a tool as the agent does, or as the one with this token."""
        headers = {"Idempotency-Key": key} if key else {}
        headers |= {"Authorization": f"Bearer {token}"} if token else {}
        body = {"tool": tool, "arguments": CALL, **more}
        async with self.here.http() as http:
            found = await http.post("/v1/proposals", json=body, headers=headers)
        await self.here.rest()
        return dict(found.json())

    async def say(self, said: dict[str, Any], words: str, who: str = "lee") -> str:
        """Comment on a page; what Placet says last there then."""
        await self.here.person(who).comment(REPOSITORY, self.here.number(said), words)
        await self.here.rest()
        return self.here.comments(said)[-1]

    async def unknown(self, tool: str = "note.announce") -> dict[str, Any]:
        """A call that was started, and nobody knows what came of it."""
        self.notes.ills("die", "blind")
        said = await self.call(tool)
        self.notes.ills()
        assert said["status"] == "unknown"
        return said

    async def otherwise(self, old: str, new: str) -> None:
        """The operator changes placet.toml and restarts."""
        await self.here.stop()
        file = self.here.stage.config
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))
        await self.here.start()

    def pulls(self) -> list[str]:
        return [pull.title for pull in self.here.world.repository(REPOSITORY).pulls.values()]


@pytest.fixture
async def desk(tmp_path: Path, judged: Callable[[Any], Any]) -> AsyncIterator[Desk]:
    notes = Notes(tmp_path / "notes")
    async with town(tmp_path / "town", tools=notes.toml(), policy=POLICY, wrap=judged) as here:
        yield Desk(here, notes)


# -- a call that waits is not done in a mode that its tool no longer has -------------------------


@pytest.mark.parametrize("now", ["approve", "confirm"])
async def test_an_announced_call_that_waited_is_not_done_in_another_mode(
    desk: Desk, now: str
) -> None:
    """Held by a stop, the operator then wants people asked; the agent's same call started it."""
    desk.here.store.halt("stop!", desk.here.world.clock.now())
    held = await desk.call("note.announce")
    desk.here.store.resume()
    await desk.otherwise('mode = "announce"', f'mode = "{now}"')
    again = await desk.call("note.announce")
    assert (desk.notes.runs, desk.notes.all) == ([], {})
    assert again["proposal"] != held["proposal"]
    old = await desk.here.seen(held)
    assert (old["status"], old["error"]["code"]) == ("ended", "mode_changed")
    assert "Call it again" in old["error"]["hint"]
    waits = {"approve": "awaiting_approval", "confirm": "confirmation_required"}[now]
    assert (await desk.here.seen(again))["status"] == waits


async def test_under_its_key_it_is_ended_and_told_to_call_again(desk: Desk) -> None:
    """The same with an idempotency key, which names one proposal for ever."""
    desk.here.store.halt("stop!", desk.here.world.clock.now())
    held = await desk.call("note.announce", key="k")
    desk.here.store.resume()
    await desk.otherwise('mode = "announce"', 'mode = "approve"')
    again = await desk.call("note.announce", key="k")
    assert (again["proposal"], again["status"]) == (held["proposal"], "ended")
    assert (again["error"]["code"], desk.notes.runs) == ("mode_changed", [])
    assert "with a new idempotency key" in again["error"]["hint"]


async def test_a_preview_whose_tool_asks_people_now_ends_and_they_are_asked(desk: Desk) -> None:
    """The same call gave a token that nothing took, for as long as the preview lived."""
    held = await desk.call("note.confirm")
    await desk.otherwise('mode = "confirm"', 'mode = "approve"')
    token = {"confirm_token": held["confirm_token"]}
    assert (await desk.call("note.confirm", **token))["code"] == "no_token_needed"
    again = await desk.call("note.confirm")
    assert (again["proposal"] != held["proposal"], again["confirm_token"]) == (True, None)
    assert (await desk.here.seen(again))["status"] == "awaiting_approval"
    assert (await desk.here.seen(held))["error"]["code"] == "mode_changed"
    assert (len(desk.pulls()), desk.notes.runs) == (1, [])


FLOOR = {"write": floor(1, (Surface.REVIEW,))}


@pytest.mark.parametrize(
    ("now", "because"),
    [
        pytest.param({"floors": FLOOR}, "to approve", id="a-floor-wants-approvals"),
        pytest.param({"repositories": {"default": 1}}, "for others", id="others-govern-it"),
    ],
)
async def test_what_else_decides_whether_people_are_asked_is_looked_at_again(
    desk: Desk, now: dict[str, Any], because: str
) -> None:
    """The same by another way than the tool's own mode, right at the start itself."""
    desk.here.store.halt("stop!", desk.here.world.clock.now())
    held = desk.here.kept(await desk.call("note.announce"))
    desk.here.store.resume()
    over = await start_now(replace(desk.here.hall.ports, **now), held, None)
    assert (over.state.value, over.reason, desk.notes.runs) == ("ended", "mode_changed", [])
    assert because in over.why


async def test_an_undo_that_costs_something_asks_people(desk: Desk) -> None:
    """Taking back a free change was to cost 100 EUR, and nobody was asked about that."""
    said = await desk.call("note.announce")
    desk.notes.ills("dear")
    await desk.say(said, "/undo")
    undo = desk.here.store.undo_of(said["proposal"])
    assert undo is not None
    assert (undo.mode, undo.state.value, desk.notes.runs) == ("approve", "open", ["apply"])


async def test_what_is_announced_no_longer_is_taken_back_by_people(desk: Desk) -> None:
    """The operator wants people asked about this tool: its undo asked nobody all the same."""
    said = await desk.call("note.announce")
    await desk.otherwise('mode = "announce"', 'mode = "approve"')
    await desk.say(said, "/undo")
    assert desk.notes.runs == ["apply"]
    undo = desk.here.store.undo_of(said["proposal"])
    assert undo is not None
    assert (undo.mode, undo.state.value) == ("approve", "open")


# -- what came of a start is said by nobody behind it --------------------------------------------


@pytest.mark.parametrize("who", ["dana", "ci-robot"], ids=["the-agents-person", "a-machine"])
async def test_whoever_is_behind_a_call_never_says_what_came_of_it(desk: Desk, who: str) -> None:
    """The agent's own person, or a machine, stated the outcome of a call that asked nobody."""
    robot = desk.here.world.add_user("ci-robot")
    desk.here.world.set_permission(REPOSITORY, "ci-robot", "write")
    await desk.otherwise("[server]\n", f"[server]\nmachines = [{robot.id}]\n")
    said = await desk.unknown()
    answer = await desk.say(said, f"/resolve {short(said)} applied all good", who)
    assert (await desk.here.seen(said))["status"] == "unknown"
    assert "this settles nothing" in answer
    assert "Somebody with write access, for whom the agent does not work" in answer
    await desk.say(said, f"/resolve {short(said)} failed there is no such note", "lee")
    assert (await desk.here.seen(said))["status"] == "failed"


async def test_whoever_asked_for_an_undo_does_not_say_what_came_of_it(desk: Desk) -> None:
    """An undo at once went astray, and the one who wanted it stated that it was done."""
    said = await desk.call("note.announce")
    desk.notes.ills("die", "blind")
    await desk.say(said, "/undo", "lee")
    undo = desk.here.store.undo_of(said["proposal"])
    assert undo is not None
    seen = {"proposal": undo.id, "digest": undo.plan.digest}
    await desk.say(seen, f"/resolve {short(seen)} applied", "lee")
    assert (await desk.here.seen(seen))["status"] == "unknown"
    await desk.say(seen, f"/resolve {short(seen)} applied", "noor")
    assert (await desk.here.seen(seen))["status"] == "applied"


async def test_a_machine_takes_nothing_back_at_once(desk: Desk) -> None:
    """An account that its operator declared to be a machine undid without asking people."""
    robot = desk.here.world.add_user("ci-robot")
    desk.here.world.set_permission(REPOSITORY, "ci-robot", "write")
    await desk.otherwise("[server]\n", f"[server]\nmachines = [{robot.id}]\n")
    said = await desk.call("note.announce")
    await desk.say(said, "/undo", "ci-robot")
    assert (desk.notes.runs, desk.notes.all) == (["apply"], {"a": "1"})


# -- what costs something is never announced afterwards ------------------------------------------


async def test_a_plan_with_a_cost_is_not_done_first_and_announced_afterwards(desk: Desk) -> None:
    """A tool that touches nothing, as declared, planned to spend 100 EUR: nobody was asked."""
    desk.notes.ills("cost")
    said = await desk.call("note.announce")
    assert (said["status"], said["error"]["code"], desk.notes.runs) == ("ended", "costs", [])
    assert "100 EUR" in said["error"]["message"]
    assert 'touches = ["spend"]' in said["error"]["hint"]
    shown = await desk.call("note.confirm")
    assert (shown["status"], shown["cost"]["amount"]) == ("confirmation_required", 100)


# -- while nobody knows what came of a start, nobody starts it again unasked ----------------------


@pytest.mark.parametrize(
    ("key", "token"),
    [pytest.param("other", "", id="another-key"), pytest.param("", "other", id="another-agent")],
)
async def test_the_same_call_waits_until_an_earlier_start_is_settled(
    desk: Desk, key: str, token: str
) -> None:
    """Announced once more under another key, or by another agent, it ran again at once."""
    other, now = frozenset({1}), desk.here.world.clock.now()
    desk.here.store.add_agent("other-bot", token_hash("other"), other, now)
    said = await desk.unknown()
    again = await desk.call("note.announce", key, token)
    assert again["code"] == "unsettled"
    assert desk.here.kept(said).at.url in again["detail"]
    assert desk.notes.runs == ["apply"]
    await desk.say(said, f"/resolve {short(said)} failed it is not there", "lee")
    done = await desk.call("note.announce", f"{key}2", token)
    assert (done["status"], desk.notes.runs) == ("applied", ["apply", "apply"])


async def test_a_preview_does_not_start_what_was_started_meanwhile(desk: Desk) -> None:
    """Two previews of one call: the first got lost on its way, and the second was confirmed."""
    first = await desk.call("note.confirm", "1")
    second = await desk.call("note.confirm", "2")
    desk.notes.ills("die", "blind")
    lost = await desk.call("note.confirm", "1", confirm_token=first["confirm_token"])
    desk.notes.ills()
    held = await desk.call("note.confirm", "2", confirm_token=second["confirm_token"])
    assert (lost["status"], held["status"]) == ("unknown", "confirmation_required")
    assert first["proposal"] in held["error"]["message"]
    assert desk.notes.runs == ["apply"]


async def test_a_page_says_that_the_same_call_may_have_been_done(desk: Desk) -> None:
    """`/replan` of a lost start opened a page that said nothing of it to the approver."""
    before = await desk.call("note.ask", "before")
    lost = await desk.call("note.ask", "lost")
    desk.notes.ills("die", "blind")
    await desk.here.person("lee").review(REPOSITORY, desk.here.number(lost), "APPROVE")
    assert (await desk.here.over(lost))["status"] == "unknown"
    desk.notes.ills()
    where = desk.here.kept(lost).at.url
    assert any("Look before you decide" in s and where in s for s in desk.here.comments(before))
    await desk.say(lost, "/replan")
    fresh = next(p for p in desk.here.store.proposals() if p.parent == lost["proposal"])
    seen = {"proposal": fresh.id}
    assert "**Look first:** this call, or one on the same thing, was started" in (
        desk.here.pull(seen).body or ""
    )
    assert where in (desk.here.pull(seen).body or "")
    assert "Look first" in desk.here.check(seen).output["summary"]
    assert "Look first" not in (desk.here.pull(before).body or "")


# -- what a person took back stays so -------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "token"),
    [
        pytest.param("", "", id="again"),
        pytest.param("other", "", id="another-key"),
        pytest.param("", "other", id="another-agent"),
    ],
)
async def test_what_a_person_undid_is_not_announced_again_for_an_hour(
    desk: Desk, key: str, token: str
) -> None:
    """A person undid it, and the agent did it again, as often as it liked."""
    clock = desk.here.world.clock
    desk.here.store.add_agent("other-bot", token_hash("other"), frozenset({1}), clock.now())
    said = await desk.call("note.announce")
    await desk.say(said, "/undo")
    again = await desk.call("note.announce", key, token)
    code = again["error"]["code"] if token else again["code"]
    assert (code, desk.notes.all) == ("undone_before", {})
    clock.advance(timedelta(minutes=61))
    done = await desk.call("note.announce", f"{key}2", token)
    assert (done["status"], desk.notes.all) == ("applied", {"a": "1"})


async def test_a_call_that_waited_is_not_done_over_a_persons_undo(desk: Desk) -> None:
    """A second call of the same waited in a stop; a person undid the first; it then ran."""
    said = await desk.call("note.announce", "1")
    desk.here.store.halt("stop!", desk.here.world.clock.now())
    desk.notes.write({})
    held = await desk.call("note.announce", "2")
    desk.notes.write({"a": "1"})
    desk.here.store.resume()
    await desk.say(said, "/undo")
    again = await desk.call("note.announce", "2")
    assert (again["proposal"], again["status"]) == (held["proposal"], "ended")
    assert (again["error"]["code"], desk.notes.all) == ("undone_before", {})


async def test_people_may_have_it_again_by_their_own_approval(desk: Desk) -> None:
    """The cool-down is for agents: `/replan` asks people, as the refusal says."""
    said = await desk.call("note.announce")
    await desk.say(said, "/undo")
    await desk.say(said, "/replan")
    fresh = next(p for p in desk.here.store.proposals() if p.parent == said["proposal"])
    assert (fresh.mode, fresh.state.value) == ("approve", "open")


# -- an agent does not stand in the way of a person's undo ---------------------------------------


@pytest.mark.parametrize("pressed", [False, True], ids=["comment", "button"])
async def test_an_agents_undo_does_not_stand_in_the_way_of_a_persons(
    desk: Desk, pressed: Any
) -> None:
    """The agent asked for an ordinary undo first: the one at once was "asked already"."""
    said = await desk.call("note.announce")
    async with desk.here.http() as http:
        asked = (await http.post(f"/v1/proposals/{said['proposal']}/undo")).json()
    await desk.here.rest()
    assert (await desk.here.seen(asked))["status"] == "awaiting_approval"
    if pressed:
        await desk.here.person("lee").press(desk.here.check(said).id, "undo")
        await desk.here.rest()
    else:
        await desk.say(said, "/undo")
    assert (desk.notes.runs, desk.notes.all) == (["apply", "undo"], {})
    old = await desk.here.seen(asked)
    assert (old["status"], old["error"]["code"]) == ("ended", "superseded")
    assert desk.here.pull(asked).state == "closed"


async def test_two_people_who_undo_together_do_not_replace_each_other(desk: Desk) -> None:
    """One takes the place of what waits; of two at once, one would have ended the other's."""
    said = await desk.call("note.announce")
    number = desk.here.number(said)
    for who in ("lee", "noor"):
        await desk.here.person(who).comment(REPOSITORY, number, "/undo")
    await desk.here.rest()
    [undo] = [p for p in desk.here.store.proposals() if p.undoes]
    assert (undo.state.value, desk.notes.runs) == ("applied", ["apply", "undo"])


# -- nothing is called done that was taken back, or may have been ---------------------------------


async def test_an_undo_under_way_or_lost_is_told_of_with_what_it_takes_back(desk: Desk) -> None:
    """The outcome of an undo was unknown, and the call was still told as done and read back."""
    said = await desk.call("note.announce")
    desk.notes.ills("die", "blind")
    await desk.say(said, "/undo")
    seen = await desk.here.seen(said)
    assert "nobody knows what came of that" in seen["say_to_user"]
    assert "reading it back" not in seen["say_to_user"]
    assert desk.here.check(said).output["title"] == "Done; nobody knows whether it was undone"
    assert desk.here.check(said).actions == []
    undo = desk.here.store.undo_of(said["proposal"])
    assert undo is not None
    here = {"proposal": undo.id, "digest": undo.plan.digest}
    await desk.say(here, f"/resolve {short(here)} failed it is still there", "noor")
    assert (await desk.here.seen(said))["say_to_user"].startswith("Done: ")


async def test_what_was_found_as_before_is_not_called_done(desk: Desk) -> None:
    """Somebody took it back by hand; the same call was "done before", and nothing more."""
    said = await desk.call("note.announce", "1")
    desk.notes.write({})
    await desk.say(said, "/undo")
    again = await desk.call("note.announce", "1")
    assert again["proposal"] == said["proposal"]
    assert "It is as it was before" in again["say_to_user"]
    assert desk.here.check(said).output["title"] == "Done, and as it was before since"


async def test_a_contradicted_undo_leaves_a_doubt(desk: Desk) -> None:
    """The undo said that it was done, the world said not; the call was told as if nothing was."""
    said = await desk.call("note.announce", "1")
    desk.notes.ills("lazy")
    await desk.say(said, "/undo")
    again = await desk.call("note.announce", "1")
    assert "nobody knows how things are now" in again["say_to_user"]
    assert desk.here.check(said).output["title"] == "Done; its undo went otherwise than planned"


# -- a page that is over says what it said --------------------------------------------------------


@pytest.mark.parametrize("tool", ["note.announce", "note.ask"])
async def test_the_words_of_a_page_that_is_over_are_put_back_thrice(desk: Desk, tool: str) -> None:
    """ "Approved by @lee and @noor" stayed on the page of a call about which nobody was asked."""
    said = await desk.call(tool)
    if tool == "note.ask":
        await desk.here.person("lee").review(REPOSITORY, desk.here.number(said), "APPROVE")
        await desk.here.over(said)
    before = (desk.here.pull(said).title, desk.here.pull(said).body)
    for n in range(4):
        desk.here.world.clock.advance(timedelta(seconds=5))
        lie = {"title": f"Approved by all ({n})", "body": "Approved by @lee and @noor"}
        await desk.here.person("dana").edit_pull(REPOSITORY, desk.here.number(said), **lie)
        await desk.here.rest()
        now = (desk.here.pull(said).title, desk.here.pull(said).body)
        assert (now == before) is (n < 3)
    [found] = desk.here.store.problems(desk.here.kept(said).repository)
    assert (found.code, found.proposal) == ("page_edited", said["proposal"])


async def test_the_words_of_a_page_of_unknown_outcome_are_put_back(desk: Desk) -> None:
    """While people were to find out what came of it, its page could say anything."""
    said = await desk.unknown()
    before = desk.here.pull(said).body
    await desk.here.person("dana").edit_pull(REPOSITORY, desk.here.number(said), body="All is well")
    await desk.here.rest()
    assert desk.here.pull(said).body == before
