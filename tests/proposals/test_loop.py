"""The agent's one loop, over the real store and gate: facts every round, and one way out."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest

from proposals.agent_ports import Guard, ModelFailed, Prompt
from proposals.loop import Ended, Limits, Loop, Stop
from proposals.store import Store
from proposals.transcript import Message, Transcript, Use
from tests.club import Club
from tests.proposals.test_store import NOW
from tests.scripted import Provider, Step, results, words

pytestmark = pytest.mark.anyio
Family = Literal["anthropic", "openai"]
ANN = {"name": "Ann", "year": 1990}
NOTHING = "Changes this turn (0 applied): none"


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Stage:
    """A loop over a club, with what the user saw."""

    club: Club
    model: Provider
    limits: Limits
    clock: Clock = field(default_factory=Clock)
    seen: list[str] = field(default_factory=list)
    guard: Guard | None = None
    transcript: Transcript = field(default_factory=Transcript)

    async def says(self, text: str, *steps: Step) -> Ended:
        self.model.steps += steps
        loop = Loop(
            self.model, self.club, self.guard or self.club, self.clock, self.seen.append,
            "You enter members.", self.limits,
        )  # fmt: skip
        shown = len(self.seen)
        ended = await loop.turn(self.transcript, text)
        self.transcript = ended.transcript
        assert ended.reply == "\n\n".join(self.seen[shown:])
        return ended


Make = Callable[..., Stage]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "placet.db")
    yield store
    store.close()


@pytest.fixture
def make(store: Store) -> Make:
    def made(family: Family = "anthropic", **limits: Any) -> Stage:
        return Stage(Club(store, NOW), Provider(family, []), Limits(**limits))

    return made


def stood(ended: Ended) -> list[str]:
    return [e["status"] for e in ended.report["entries"]]


async def test_the_report_comes_with_the_results_and_after_them(make: Make) -> None:
    stage = make()
    ended = await stage.says("Enter Ann.", [("club__enter", ANN)], ["I asked for approval."])
    assert stood(ended) == ["pinned"]
    message = stage.model.prompts[1].messages[-1]
    [told] = results(message)
    assert (told["status"], told["executed"]) == ("pinned", False)
    report, pending = words(message)
    assert report.startswith("Changes this turn (0 applied):\n- club.enter (p_")
    assert pending == "<pending>\nnone\n</pending>"
    kinds = [type(block).__name__ for block in message.blocks]
    assert kinds == ["Result", "Said", "Said"]


async def test_the_report_is_there_also_when_nothing_happened(make: Make) -> None:
    stage = make()
    await stage.says("Hello.", ["Hello."])
    await stage.says("Who?", [("club__find", ANN)], ["Nobody."])
    for prompt in stage.model.prompts:
        assert NOTHING in words(prompt.messages[-1])[-2]
        assert words(prompt.messages[-1])[-1] == "<pending>\nnone\n</pending>"


async def test_a_turn_begins_with_the_one_before_and_what_ended_since(make: Make) -> None:
    stage = make()
    await stage.says("Enter Ann.", [("club__enter", ANN)], ["I asked for approval."])
    stage.club.yes()
    ended = await stage.says("And now?", ["She is entered."])
    _, report, _ = words(stage.model.prompts[-1].messages[-1])
    assert "): applied" in report.split("\n")[1]
    assert [e["status"] for e in ended.report["ended_since_last"]] == ["applied"]
    assert stage.club.register == {"Ann": 1990}


@pytest.mark.parametrize("family", ["anthropic", "openai"])
async def test_the_missing_year(make: Make, family: Family) -> None:
    """The agent asks, is answered, writes, and it is verified."""
    stage = make(family)
    asked = await stage.says("Enter Ann.", [("club__enter", {"name": "Ann"})], ["Which year?"])
    assert (stood(asked), asked.reply) == (["draft"], "Which year?")
    assert [d["section"] for d in asked.report["pending_drafts"]] == ["member"]
    wrote = await stage.says("1990.", [("club__enter", ANN)], ["I asked for approval."])
    assert "club.enter in member" in words(stage.model.prompts[2].messages[-1])[-1]
    assert (stood(wrote), wrote.report["pending_drafts"]) == (["pinned"], [])
    stage.club.yes()
    done = await stage.says("Done?", ["Yes."])
    [entry] = done.report["ended_since_last"]
    assert (entry["status"], entry["why"]) == ("applied", "")
    assert stage.club.register == {"Ann": 1990}


async def test_a_write_that_fails_is_told_as_failed_whatever_the_model_says(make: Make) -> None:
    stage = make()
    stage.club.fault = "the register is locked"
    await stage.says("Enter Ann.", [("club__enter", ANN)], ["Saved!"])
    stage.club.yes()
    ended = await stage.says("Good.", ["Yes, it is saved."])
    _, report, _ = words(stage.model.prompts[-1].messages[-1])
    assert report.split("\n")[1].endswith("): FAILED: the register is locked")
    assert [e["status"] for e in ended.report["ended_since_last"]] == ["failed"]
    assert stage.club.register == {}


async def test_a_model_that_only_claims_is_asked_once_and_the_claim_stays_seen(make: Make) -> None:
    stage = make()
    await stage.says("Enter Ann.", [("club__enter", {"name": "Ann"})], ["Which year?"])
    claims = await stage.says("1990.", ["Saved!"], ["It is not saved; asking again."])
    assert claims.reply == "Saved!\n\nIt is not saved; asking again."
    assert claims.report["changes_this_turn"] == 0
    correction, report, pending = words(stage.model.prompts[-1].messages[-1])
    assert all(way in correction for way in ("Write it:", "Ask:", "Discard:"))
    assert report.startswith(NOTHING)
    assert "club.enter in member" in pending
    again = await stage.says("And?", ["Saved, really!"])
    assert (again.reply, again.stop) == ("Saved, really!", Stop.DONE)
    assert len(again.report["pending_drafts"]) == 1


async def test_a_corrected_model_can_still_write_in_the_same_turn(make: Make) -> None:
    stage = make()
    await stage.says("Enter Ann.", [("club__enter", {"name": "Ann"})], ["Which year?"])
    ended = await stage.says("1990.", ["Saved!"], [("club__enter", ANN)], ["It waits now."])
    assert (ended.reply, stood(ended)) == ("Saved!\n\nIt waits now.", ["pinned"])
    assert ended.report["pending_drafts"] == []


async def test_a_guard_that_is_never_content_is_heard_once_a_turn(make: Make) -> None:
    class Never:
        async def correction(self) -> str | None:
            return "Not yet."

    stage = make()
    stage.guard = Never()
    ended = await stage.says("Hello.", ["Hello."], ["Hello again."], ["And again."])
    assert (ended.reply, ended.stop) == ("Hello.\n\nHello again.", Stop.DONE)


async def test_a_draft_can_be_let_go(make: Make) -> None:
    stage = make()
    asked = await stage.says("Enter Ann.", [("club__enter", {"name": "Ann"})], ["Which year?"])
    [draft] = asked.report["pending_drafts"]
    ended = await stage.says(
        "Forget it.", [("placet_discard_draft", {"draft": draft["draft"]})], ["It is let go."]
    )
    [told] = results(stage.model.prompts[-1].messages[-1])
    assert told["_verification"]["verdict"] == "verified"
    assert ended.report["pending_drafts"] == []


async def test_which_tool_is_called_is_the_models_own_choice(make: Make) -> None:
    stage = make()
    await stage.says("Hello.", ["Hello."])
    assert stage.model.prompts[0].tool_choice == "auto"
    assert stage.model.asked[0]["tool_choice"] == {"type": "auto"}


async def test_calls_of_one_answer_each_have_their_own_result_in_order(make: Make) -> None:
    stage = make("openai")
    bob = {"name": "Bob", "year": 2001}
    step: Step = [("club__enter", ANN), ("club__enter", bob), ("club__find", ANN)]
    ended = await stage.says("Enter both.", step, ["Both wait."])
    told = results(stage.model.prompts[1].messages[-1])
    assert [t.get("status", t) for t in told] == ["pinned", "pinned", {"year": None}]
    assert len({t["proposal"] for t in told[:2]}) == 2
    assert stood(ended) == ["pinned", "pinned"]


async def test_it_ends_after_25_rounds(make: Make) -> None:
    stage = make()
    steps: list[Step] = [[("club__find", {"name": "A", "year": n})] for n in range(40)]
    ended = await stage.says("Look.", *steps)
    assert (ended.stop, len(stage.model.prompts)) == (Stop.ROUNDS, 25)
    assert ended.reply == "I stopped after 25 rounds."
    stage.model.steps.clear()
    assert (await stage.says("Go on.", ["Fine."])).stop is Stop.DONE


async def test_it_ends_when_a_tool_fails_the_same_way_three_times(make: Make) -> None:
    stage = make()
    steps: list[Step] = [[("fs__rm", {"n": n})] for n in range(9)]
    ended = await stage.says("Tidy up.", *steps)
    assert (ended.stop, len(stage.model.prompts)) == (Stop.REPEATED, 3)
    assert stood(ended) == ["denied"]
    assert ended.report["entries"][0]["tool"] == "fs.rm"


async def test_failures_of_different_kinds_or_in_one_round_do_not_add_up(make: Make) -> None:
    stage = make()
    ended = await stage.says(
        "Tidy up.",
        [("fs__rm", {}), ("fs__rm", {}), ("fs__rm", {}), ("fs__rm", {})],
        [("club__enter", {"name": "Ann"})],
        [("club__enter", {"name": "Ann", "year": "x"})],
        [("fs__mv", {})],
        [("fs__rm", {})],
        ["I cannot."],
    )
    assert ended.stop is Stop.DONE


async def test_it_ends_when_its_time_is_over(make: Make) -> None:
    stage = make(seconds=60.0)

    def slow(_: Prompt) -> Any:
        stage.clock.now += 40
        return [("club__find", ANN)]

    ended = await stage.says("Look.", slow, slow, slow)
    assert (ended.stop, len(stage.model.prompts)) == (Stop.TIME, 2)
    assert ended.reply == "I stopped: the turn took longer than 60 s."


async def test_a_model_that_never_answers_is_not_waited_for(make: Make) -> None:
    stage = make(seconds=0.05)

    async def forever() -> Any:
        await anyio.sleep_forever()

    ended = await stage.says("Hello?", lambda _: forever())
    assert ended.stop is Stop.TIME


async def test_a_model_that_breaks_ends_the_turn_and_not_the_agent(make: Make) -> None:
    stage = make()
    broken = await stage.says("Hello?", ModelFailed("503"))
    assert (broken.stop, broken.reply) == (Stop.MODEL, "I stopped: the model gave no answer.")
    assert (await stage.says("Hello?", ["Hello."])).stop is Stop.DONE


async def test_a_model_that_says_nothing_leaves_no_hole(make: Make) -> None:
    stage = make()
    await stage.says("Hello?", [])
    await stage.says("Hello?", ["  "])
    ended = await stage.says("Hello?", ["Hello."])
    assert ended.reply == "Hello."
    roles = [m.role for turn in stage.transcript.turns for m in turn.messages]
    assert roles == ["user", "assistant"] * 3


async def test_arguments_that_cannot_be_read_call_nothing(make: Make) -> None:
    class Cut(Provider):
        async def reply(self, prompt: Prompt) -> Message:
            if self.steps:
                return await super().reply(prompt)
            return Message("assistant", (Use("x", "club__enter", {}, "It was cut off."),))

    stage = make()
    stage.model = Cut("anthropic", [])
    ended = await stage.says("Enter Ann.")
    assert (ended.stop, stood(ended)) == (Stop.REPEATED, [])
    [told] = results(stage.transcript.turns[0].messages[2])
    assert told["error"] == {"code": "unreadable_arguments", "message": "It was cut off."}


@pytest.mark.parametrize("family", ["anthropic", "openai"])
async def test_29_turns_with_four_compactions_and_no_failed_call(
    make: Make, store: Store, family: Family
) -> None:
    stage = make(family, characters=22_000)
    for n in range(29):
        member = {"name": f"member {n}", "year": 1970 + n}
        ended = await stage.says(
            f"Enter member {n}. " + "Please mind the details. " * 10,
            [f"I look first ({n}).", ("club__find", member)],
            [("club__enter", member), ("club__find", member)],
            [f"Member {n} waits for approval."],
        )
        assert (ended.stop, stood(ended)) == (Stop.DONE, ["pinned"])
        stage.club.yes()
    assert stage.transcript.foldings == 4
    assert stage.club.register == {f"member {n}": 1970 + n for n in range(29)}
    assert len(stage.model.prompts) == 29 * 3
    outcomes = [r for p in stage.model.prompts for r in results(p.messages[-1])]
    assert [r for r in outcomes if r.get("error")] == []
    assert len(outcomes) == 29 * 3
    assert store.rows("SELECT count(*) AS n FROM proposal WHERE state = 'applied'") == [{"n": 29}]
    first = stage.model.prompts[-1].messages[0]
    assert words(first)[0].startswith("Earlier turns, a line each:\n- user: Enter member 0.")
    sizes = [sum(m.size for m in p.messages) for p in stage.model.prompts]
    assert max(sizes) < 22_000 + 12_000


async def test_no_transaction_is_open_while_the_model_thinks(make: Make, store: Store) -> None:
    stage = make()
    seen: list[bool] = []

    def looks(answer: list[Any]) -> Step:
        def step(_: Prompt) -> Any:
            seen.append(store.db.conn.in_transaction)
            return answer

        return step

    await stage.says("Enter Ann.", looks([("club__enter", ANN)]), looks(["It waits."]))
    assert seen == [False, False]


async def test_a_failed_call_undoes_nothing_of_the_one_before(make: Make, store: Store) -> None:
    stage = make()
    ended = await stage.says("Both.", [("club__enter", ANN), ("fs__rm", {})], ["One waits."])
    assert stood(ended) == ["pinned", "denied"]
    assert len(store.alive()) == 1


async def test_what_was_said_before_is_replayed_as_it_was(make: Make) -> None:
    stage = make()
    await stage.says("Enter Ann.", [("club__enter", ANN)], ["It waits."])
    before = stage.model.asked[-1]["messages"]
    await stage.says("Thanks.", ["You are welcome."])
    assert stage.model.asked[-1]["messages"][: len(before)] == before


LOOP = Path(__file__).parent.parent.parent / "proposals" / "loop.py"
MAY = {"asyncio", "json", "collections", "collections.abc", "dataclasses", "enum", "typing"}
MAY_OURS = {"agent_ports", "transcript"}


def imported(source: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "__import__":
            found.add("__import__")
    return found


def test_the_loop_imports_ports_and_nothing_that_could_act() -> None:
    assert imported(LOOP.read_text()) <= MAY | {f".{name}" for name in MAY_OURS}


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("from .store import Store", id="store"),
        pytest.param("from proposals.gate import Gate", id="gate-by-its-full-name"),
        pytest.param("import time", id="clock"),
        pytest.param("def f():\n    import httpx", id="inside-a-function"),
        pytest.param("__import__('socket')", id="by-call"),
        pytest.param("from . import store", id="the-package"),
    ],
)
def test_the_guard_of_the_imports_sees(source: str) -> None:
    assert not imported(source) <= MAY | {f".{name}" for name in MAY_OURS}
