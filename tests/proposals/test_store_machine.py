"""The store against a simple model of it: whatever is done in whatever order, and reopened."""

import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
)

from checks.facts import Person, Stance, Surface, Voice
from proposals.lifecycle import ALIVE, TRANSITIONS, Event, IllegalMoveError, State
from proposals.plan import Pinned, Place, Planned, Proposal, pin
from proposals.store import Delivery, Started, Step, Store

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
REPOSITORY = 5
PINNED: Pinned = pin(
    {"name": "db.t", "kind": "command", "effect": "write", "definition": "sha256:0"},
    {"id": 1},
    Planned(effects=[{"what": "row 1", "before": 1, "after": 2}]),
)
ASKED = Proposal(
    id="p_0",
    agent="bot",
    tool="db.t",
    arguments={"n": 0},
    state=State.PLANNING,
    repository=REPOSITORY,
    identities=frozenset({11}),
    created=NOW,
    expires=NOW + timedelta(hours=9),
    salt="00",
)
VOICE = Voice("review:1", Person(22, "lee"), Surface.REVIEW, Stance.APPROVE, NOW, 9, head="a" * 40)
# START happens only in `start`, whose UPDATE holds the conditions.
MOVES = [event for event in Event if event is not Event.START]
WRONG: list[dict[str, Any]] = [{"nonce": "n0"}, {"digest": "sha256:0"}, {"evidence_rev": -1}]
STEPS = ("end", "settle", "tell")


@dataclass
class Known:
    """What the model knows of one proposal; `waits`: its undone steps by their order."""

    n: int
    number: int
    key: str | None
    state: State = State.PLANNING
    rev: int = 0
    nonce: str | None = None
    started: bool = False
    ended: datetime | None = None
    voices: set[str] = field(default_factory=set)
    waits: list[str] = field(default_factory=list)
    told: set[str] = field(default_factory=set)


class StoreMachine(RuleBasedStateMachine):
    """One store over a real file; after every step it says what the model says."""

    ids = Bundle("ids")
    guids = Bundle("guids")

    @initialize(target=ids)
    def opened(self) -> Any:
        self.folder = tempfile.TemporaryDirectory(prefix="placet-store-")
        self.path = Path(self.folder.name) / "placet.db"
        self.store = Store(self.path)
        self.now = NOW
        self.known: dict[str, Known] = {}
        self.waiting: dict[str, Delivery] = {}
        self.done: set[str] = set()
        self.frozen = False
        first = [self._new(n, None) for n in (7, 8)]
        for id_ in first:
            self.claim(id_)
        return multiple(*first)

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            self.folder.cleanup()

    @rule(target=ids, n=st.integers(0, 2), key=st.sampled_from([None, None, "k-1", "k-2"]))
    def ask(self, n: int, key: str | None) -> Any:
        id_ = f"p_{len(self.known) + 1}"
        kept = self.store.add(replace(ASKED, id=id_, arguments={"n": n}, key=key), self.now)
        assert (kept.id == id_) is (self._same(n, key) is None)
        if (known := self._same(n, key)) is not None:
            assert kept.id in known
            return multiple()
        return self._added(id_, n, key)

    def _new(self, n: int, key: str | None) -> str:
        id_ = f"p_{len(self.known) + 1}"
        self.store.add(replace(ASKED, id=id_, arguments={"n": n}, key=key), self.now)
        return self._added(id_, n, key)

    def _added(self, id_: str, n: int, key: str | None) -> str:
        self.known[id_] = Known(n, len(self.known) + 1, key)
        return id_

    def _same(self, n: int, key: str | None) -> set[str] | None:
        """The proposals of which one must come back for this call; None when it is a new one."""
        if key is not None:
            found = {id_ for id_, known in self.known.items() if known.key == key}
        else:
            found = {
                id_
                for id_, known in self.known.items()
                if known.n == n
                and known.key is None
                and (known.ended is None or known.ended > self.now - 10 * MINUTE)
            }
        return found or None

    @rule(id_=ids, event=st.sampled_from(MOVES), step=st.sampled_from(STEPS))
    def move(self, id_: str, event: Event, step: str) -> None:
        known = self.known[id_]
        target = TRANSITIONS[known.state].get(event)
        changes = self._changes(id_, event)
        if target is None:
            with pytest.raises(IllegalMoveError):
                self.store.move(id_, event, self.now, [Step(step)], **changes)
            return
        self.store.move(id_, event, self.now, [Step(step)], **changes)
        known.state, known.nonce = target, changes.get("nonce", known.nonce)
        known.started = known.started and event is not Event.NOT_STARTED
        if target not in ALIVE:
            known.ended = self.now
        self._posted(known, step)

    def _changes(self, id_: str, event: Event) -> dict[str, Any]:
        number = self.known[id_].number
        place = Place(f"placet/p/{id_}", "placet/ledger", "a" * 40, number, "x", 80 + number, NOW)
        if event is Event.PLANNED:
            return {"pinned": PINNED}
        if event is Event.PUBLISHED:
            return {"place": place, "valid_from": NOW}
        return {"nonce": f"n-{self.now.timestamp()}"} if event is Event.GRANTED else {}

    @rule(id_=ids)
    def claim(self, id_: str) -> None:
        """Go the way that most proposals go, up to the claim."""
        way = {
            State.PLANNING: Event.PLANNED,
            State.PINNED: Event.PUBLISHED,
            State.OPEN: Event.GRANTED,
        }
        while event := way.get(self.known[id_].state):
            self.move(id_, event, "tell")

    @rule(id_=ids, lapsed=st.booleans(), calm=st.booleans())
    def start(self, id_: str, lapsed: bool, calm: bool) -> None:  # noqa: FBT001
        self.claim(id_)
        if calm:
            self._calm()
        else:
            self.deliver(id_, ours=False, again=0)
        known = self.known[id_]
        right = Started(known.nonce or "", PINNED.digest, known.rev, self.now + MINUTE)
        for wrong in WRONG:
            assert not self.store.start(id_, replace(right, **wrong), self.now)
        if lapsed:
            right = replace(right, valid_until=self.now)
        unread = any(d.number == known.number and not d.ours for d in self.waiting.values())
        may = known.state is State.CLAIMED and not (lapsed or self.frozen or unread)
        assert self.store.start(id_, right, self.now) is may
        if may:
            assert not known.started, "no history starts a proposal twice"
            known.state, known.started = State.STARTED, True

    def _calm(self) -> None:
        """Nothing is frozen and everything delivered has been read."""
        self.store.resume()
        self.frozen = False
        for guid in list(self.waiting):
            self.handle(guid)

    @rule(target=guids, id_=ids, ours=st.booleans(), again=st.integers(0, 9))
    def deliver(self, id_: str, ours: bool, again: int) -> Any:  # noqa: FBT001
        known, guid = self.known[id_], f"g-{len(self.waiting) + len(self.done) - again}"
        delivery = Delivery(
            guid, "pull_request_review", "submitted", "{}", NOW, REPOSITORY, known.number, ours=ours
        )
        fresh = guid not in self.waiting and guid not in self.done
        assert self.store.accept(delivery) is fresh
        if not fresh:
            return multiple()
        self.waiting[guid] = delivery
        placed = self.store.proposal(id_)
        assert placed is not None
        live = {*ALIVE, State.STARTED}  # a start may still wait to be written
        if not ours and placed.place is not None and known.state in live:
            known.rev += 1
        return guid

    @rule(guid=consumes(guids))
    def handle(self, guid: str) -> None:
        self.store.handled(guid)
        self.waiting.pop(guid, None)
        self.done.add(guid)

    @rule(id_=ids, key=st.sampled_from(["review:1", "comment:2"]))
    def hear(self, id_: str, key: str) -> None:
        fresh = key not in self.known[id_].voices
        assert self.store.record(id_, replace(VOICE, key=key)) is fresh
        self.known[id_].voices.add(key)

    @rule(id_=ids, step=st.sampled_from(STEPS))
    def post(self, id_: str, step: str) -> None:
        self.store.post(id_, [Step(step)], self.now)
        self._posted(self.known[id_], step)

    @staticmethod
    def _posted(known: Known, step: str) -> None:
        if step not in known.told:
            known.told.add(step)
            known.waits.append(step)

    @rule(id_=ids)
    def send(self, id_: str) -> None:
        for step in self.store.due(self.now):
            if step.proposal == id_:
                self.store.sent(step.seq)
                assert self.known[id_].waits.pop(0) == step.step

    @rule()
    def freeze(self) -> None:
        self.store.halt("stop", self.now)
        self.frozen = True

    @rule()
    def unfreeze(self) -> None:
        assert self.store.resume() is self.frozen
        self.frozen = False

    @rule(minutes=st.integers(1, 15))
    def wait(self, minutes: int) -> None:
        self.now += minutes * MINUTE

    @rule(id_=ids, event=st.sampled_from(MOVES))
    def break_off(self, id_: str, event: Event) -> None:
        """A transaction that ends in an error has never been."""

        def half() -> None:
            with self.store.tx():
                self.store.accept(Delivery("g-half", "push", "", "{}", NOW, REPOSITORY, 1))
                self.store.halt("half", self.now)
                self.store.post(id_, [Step("never")], self.now)
                self.store.move(id_, event, self.now, **self._changes(id_, event))
                raise ZeroDivisionError

        with pytest.raises((ZeroDivisionError, IllegalMoveError)):
            half()

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = Store(self.path)

    @invariant()
    def everything_is_as_the_model_has_it(self) -> None:
        if not hasattr(self, "store"):
            return
        for id_, known in self.known.items():
            kept = self.store.proposal(id_)
            assert kept is not None
            assert (kept.state, kept.evidence_rev) == (known.state, known.rev)
            assert {v.key for v in self.store.voices(id_)} == known.voices
        assert [d.guid for d in self.store.waiting(1000)] == list(self.waiting)
        first = {s.proposal: s.step for s in self.store.due(self.now, limit=1000)}
        assert first == {i: k.waits[0] for i, k in self.known.items() if k.waits}
        assert bool(self.store.halts()) is self.frozen

    @invariant()
    def the_history_starts_each_once(self) -> None:
        for id_ in getattr(self, "known", {}):
            events = Counter(move["event"] for move in self.store.history(id_))
            assert events[Event.START] - events[Event.NOT_STARTED] in (0, 1)


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(
    max_examples=100,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
