"""Tokens of mode `confirm`: bound to one preview, one use, ten minutes; four distinct refusals."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proposals.confirm import LIVES, Bound, Confirmation, Doubt, bind, hashed, mint, refused
from proposals.lifecycle import Event, State
from proposals.plan import Proposal
from proposals.store import Store
from tests.proposals.test_store import NOW, PINNED, PROPOSAL, conditions

BOUND = bind("bot", "db.t", {"id": 1}, PINNED.digest)
TOKEN, KEPT = mint(bytes(range(32)), BOUND, "p_1", NOW)
LATER = NOW + timedelta(minutes=1)


def doubt(token: str | None, kept: Confirmation | None, bound: Bound = BOUND) -> Doubt | None:
    found = refused(token, kept, bound, LATER)
    return found.code if found else None


def test_the_token_of_exactly_this_preview_starts_it() -> None:
    assert refused(TOKEN, KEPT, BOUND, LATER) is None


@pytest.mark.parametrize(
    ("token", "kept", "bound", "code"),
    [
        pytest.param(None, None, BOUND, Doubt.MISSING, id="none-was-sent"),
        pytest.param("", None, BOUND, Doubt.MISSING, id="an-empty-one-was-sent"),
        pytest.param("pc_" + "0" * 64, None, BOUND, Doubt.MISMATCH, id="a-forged-one"),
        pytest.param(TOKEN, KEPT, replace(BOUND, agent="eve"), Doubt.MISMATCH, id="another-agent"),
        pytest.param(
            TOKEN, KEPT, bind("bot", "db.u", {"id": 1}, BOUND.plan), Doubt.MISMATCH,
            id="another-tool",
        ),
        pytest.param(
            TOKEN, KEPT, bind("bot", "db.t", {"id": 2}, BOUND.plan), Doubt.MISMATCH,
            id="arguments-changed-after-the-preview",
        ),
        pytest.param(
            TOKEN, KEPT, replace(BOUND, plan="sha256:1"), Doubt.MISMATCH, id="another-plan"
        ),
        pytest.param(TOKEN, replace(KEPT, used=NOW), BOUND, Doubt.CONSUMED, id="used-before"),
        pytest.param(TOKEN, replace(KEPT, expires=LATER), BOUND, Doubt.EXPIRED, id="too-late"),
        pytest.param(
            TOKEN, replace(KEPT, expires=NOW, used=NOW), BOUND, Doubt.CONSUMED,
            id="used-before-and-too-late",
        ),
        pytest.param(
            TOKEN, replace(KEPT, expires=NOW, used=NOW), replace(BOUND, agent="eve"),
            Doubt.MISMATCH, id="somebody-else-learns-nothing-of-a-used-one",
        ),
    ],
)  # fmt: skip
def test_each_refusal_has_its_own_code(
    token: str | None, kept: Confirmation | None, bound: Bound, code: Doubt
) -> None:
    assert doubt(token, kept, bound) is code


def test_each_refusal_says_what_to_do() -> None:
    found = [
        refused(None, None, BOUND, LATER),
        refused(TOKEN, None, BOUND, LATER),
        refused(TOKEN, replace(KEPT, used=NOW), BOUND, LATER),
        refused(TOKEN, KEPT, BOUND, NOW + LIVES),
    ]
    assert {f.code for f in found if f} == set(Doubt)
    assert len({f.hint for f in found if f}) == len({f.message for f in found if f}) == 4


def test_a_token_lives_for_ten_minutes_and_no_longer() -> None:
    assert refused(TOKEN, KEPT, BOUND, NOW + timedelta(minutes=10, microseconds=-1)) is None
    assert refused(TOKEN, KEPT, BOUND, NOW + timedelta(minutes=10)) is not None


def test_what_is_kept_does_not_give_the_token_away() -> None:
    assert KEPT.token == hashed(TOKEN)
    assert TOKEN not in repr(KEPT)


def test_a_token_without_enough_chance_is_not_made() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        mint(b"short", BOUND, "p_1", NOW)


@given(st.text())
def test_any_other_text_is_no_token(text: str) -> None:
    assert hashed(text) != KEPT.token


@given(st.text(), st.text(), st.text(), st.text())
def test_the_members_of_a_binding_cannot_be_shifted_into_each_other(
    tool: str, name: str, other: str, value: str
) -> None:
    one, two = bind("bot", tool, {name: value}, "d"), bind("bot", other, {name: value}, "d")
    assert (one == two) == (tool == other)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "placet.db")
    yield store
    store.close()


def claimed(store: Store, mode: str = "confirm") -> Proposal:
    store.add(replace(PROPOSAL, mode=mode), NOW)
    store.move("p_1", Event.PLANNED, NOW, pinned=PINNED, summary="Change 1 row")
    return store.move("p_1", Event.GRANTED, NOW, nonce="n1")


def test_a_confirmation_comes_back_as_it_was_kept(store: Store) -> None:
    store.keep_confirmation(KEPT)
    assert store.confirmation(KEPT.token) == KEPT
    assert store.confirmation(TOKEN) is None


def test_a_start_uses_its_token_up(store: Store) -> None:
    proposal = claimed(store)
    store.keep_confirmation(KEPT)
    assert store.start("p_1", conditions(proposal, token=KEPT.token), LATER)
    kept = store.confirmation(KEPT.token)
    assert kept == replace(KEPT, used=LATER)
    assert doubt(TOKEN, kept) is Doubt.CONSUMED


@pytest.mark.parametrize(
    ("kept", "token", "at"),
    [
        pytest.param(KEPT, None, LATER, id="no-token"),
        pytest.param(KEPT, "0" * 64, LATER, id="an-unknown-token"),
        pytest.param(KEPT, KEPT.token, NOW + LIVES, id="an-expired-token"),
        pytest.param(
            replace(KEPT, proposal="p_2"), KEPT.token, LATER, id="a-token-of-another-proposal"
        ),
        pytest.param(
            replace(KEPT, bound=replace(BOUND, plan="sha256:1")), KEPT.token, LATER,
            id="a-token-of-another-plan",
        ),
        pytest.param(
            replace(KEPT, bound=replace(BOUND, agent="eve")), KEPT.token, LATER,
            id="a-token-of-another-agent",
        ),
    ],
)  # fmt: skip
def test_whoever_asks_the_store_nothing_starts_unconfirmed(
    store: Store, kept: Confirmation, token: str | None, at: datetime
) -> None:
    proposal = claimed(store)
    store.keep_confirmation(kept)
    given = conditions(proposal, token=token, valid_until=NOW + timedelta(hours=1))
    assert not store.start("p_1", given, at)
    found = store.proposal("p_1")
    assert found is not None
    assert found.state is State.CLAIMED
    assert store.confirmation(kept.token) == kept


@pytest.mark.parametrize(
    ("mode", "bound"), [("confirm", True), ("announce", False), ("approve", False)]
)
def test_only_a_call_of_mode_confirm_is_bound_to_its_token(
    store: Store,
    mode: str,
    bound: bool,  # noqa: FBT001
) -> None:
    claimed(store, mode)
    store.keep_confirmation(KEPT)
    assert store.bound("p_1") is bound


def test_a_start_that_is_not_won_leaves_the_token_for_the_next_try(store: Store) -> None:
    proposal = claimed(store)
    store.keep_confirmation(KEPT)
    assert not store.start("p_1", conditions(proposal, token=KEPT.token, nonce="n0"), LATER)
    assert store.confirmation(KEPT.token) == KEPT
    assert store.start("p_1", conditions(proposal, token=KEPT.token), LATER)


def test_a_used_token_starts_nothing_again(store: Store) -> None:
    proposal = claimed(store)
    store.keep_confirmation(KEPT)
    assert store.start("p_1", conditions(proposal, token=KEPT.token), LATER)
    store.move("p_1", Event.NOT_STARTED, LATER)
    again = store.move("p_1", Event.GRANTED, LATER, nonce="n1")
    assert not store.start("p_1", conditions(again, token=KEPT.token), LATER)


def test_a_foreign_token_undoes_the_start_that_names_it(store: Store) -> None:
    proposal = claimed(store, mode="approve")
    store.keep_confirmation(replace(KEPT, proposal="p_2"))
    with pytest.raises(LookupError):
        store.start("p_1", conditions(proposal, token=KEPT.token), LATER)
    found = store.proposal("p_1")
    assert found is not None
    assert found.state is State.CLAIMED


def test_the_other_modes_ask_for_no_token(store: Store) -> None:
    assert store.start("p_1", conditions(claimed(store, mode="announce")), LATER)
