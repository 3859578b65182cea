from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.counting import changed_mind, counted, eligible, missing, peer_dismissed
from checks.facts import Access, Person, Standing, Voice
from checks.policy import Group, Rule
from checks.voices import names
from tests.checks.scene import (
    ANN,
    BOB,
    BOSS,
    CAT,
    FACTS,
    NOW,
    PLAIN,
    POLICIES,
    YES,
    able,
    comment,
    dismissed,
    heard,
    no,
    policy,
    said,
    under,
)

FINANCE, SECURITY = "acme/finance", "acme/security"


def groups(*wanted: tuple[int, list[str] | None]) -> tuple[Group, ...]:
    asked = ({"approvals": n} | ({"from": names} if names else {}) for n, names in wanted)
    return tuple(Group.model_validate(group) for group in asked)


def ruled(wanted: tuple[Group, ...]) -> Rule:
    return Rule(tools=("*",), require=wanted)


ONE_OF_EACH = groups((1, ["team:acme/finance"]), (1, ["user:ann", "team:acme/security"]))


@pytest.mark.parametrize(
    ("people", "wanted", "words"),
    [
        pytest.param({}, groups((1, None)), "1 person", id="nobody yet"),
        pytest.param({BOB: ()}, groups((2, None)), "1 person", id="one of two"),
        pytest.param({BOB: (), CAT: ()}, groups((2, None)), "", id="two different people"),
        pytest.param({}, groups((2, None), (1, None)), "2 people and 1 person", id="two groups"),
        pytest.param(
            {BOB: (FINANCE, SECURITY)}, ONE_OF_EACH, "1 person of @ann or acme/security",
            id="a person in both groups leaves the other place open",
        ),
        pytest.param(
            {BOB: (FINANCE, SECURITY), CAT: (FINANCE,)}, ONE_OF_EACH, "",
            id="the one in both groups moves over for the one who fits one place",
        ),
        pytest.param(
            {ANN: (), BOB: (SECURITY,)}, ONE_OF_EACH, "1 person of acme/finance",
            id="two people for one and the same place",
        ),
        pytest.param(
            {ANN: (FINANCE,), BOB: (FINANCE,)}, ONE_OF_EACH, "", id="named in one, member of other"
        ),
    ],
)  # fmt: skip
def test_missing(
    people: dict[Person, tuple[str, ...]], wanted: tuple[Group, ...], words: str
) -> None:
    access = {p.id: Access(p.id, "write", frozenset(teams)) for p, teams in people.items()}
    for order in permutations(people):
        voices = [said(p, 10) for p in order]
        assert missing(voices, ruled(wanted), replace(FACTS, access=access)) == words


WHO = ["user:ann", "user:BOB", "user:cat", "team:acme/finance", "team:acme/security"]
groups_ = st.lists(
    st.tuples(st.integers(1, 2), st.none() | st.lists(st.sampled_from(WHO), min_size=1)),
    min_size=1,
    max_size=3,
).map(lambda wanted: groups(*wanted))
teams_ = st.frozensets(st.sampled_from([FINANCE, SECURITY]))
crowd_ = st.dictionaries(st.sampled_from([ANN, BOB, CAT, Person(4, "dan")]), teams_)


def every_place_can_be_filled(
    people: Sequence[Person], places: Sequence[Group], access: dict[int, Access]
) -> bool:
    """By trying every seating."""
    return any(
        all(g.admits(p.login, access[p.id].teams) for g, p in zip(places, seated, strict=True))
        for seated in permutations(people, len(places))
    )


@given(crowd_, groups_)
def test_missing_is_what_trying_every_seating_finds(
    crowd: dict[Person, frozenset[str]], wanted: tuple[Group, ...]
) -> None:
    access = {p.id: Access(p.id, "write", teams) for p, teams in crowd.items()}
    places = [group for group in wanted for _ in range(group.approvals)]
    voices, facts = [said(p, 10) for p in crowd], replace(FACTS, access=access)
    filled = missing(voices, ruled(wanted), facts) == ""
    assert filled == every_place_can_be_filled(list(crowd), places, access)


@pytest.mark.parametrize(
    ("wanted", "admitted"),
    [
        pytest.param(["user:ANN"], True, id="login in upper case"),
        pytest.param(["user:annie"], False, id="a longer login"),
        pytest.param(["user:an"], False, id="a shorter login"),
        pytest.param(["team:ACME/finance"], True, id="organisation in upper case"),
        pytest.param(["team:acme/security"], False, id="another team"),
        pytest.param(["team:other/finance"], False, id="a team of that name elsewhere"),
        pytest.param(None, True, id="anyone"),
    ],
)
def test_a_group_admits(wanted: list[str] | None, admitted: bool) -> None:  # noqa: FBT001
    [group] = groups((1, wanted))
    assert group.admits("ann", frozenset({FINANCE})) is admitted


@pytest.mark.parametrize(
    "login", ["\u212aim", "\u017fam", "K\u0130m", "team:acme/finance", "user:kim", ""]
)
def test_no_look_alike_of_a_login_is_admitted(login: str) -> None:
    [group] = groups((1, ["user:kim", "user:sam", "team:acme/finance"]))
    assert not group.admits(login, frozenset())


def counting(*voices: Voice) -> list[Voice]:
    return counted(heard(*voices), PLAIN.rules[0], NOW)


def test_a_person_counts_with_their_latest_approval() -> None:
    first, last = said(ANN, 5), comment(ANN, 20)
    assert counting(last, first) == [last]


def test_a_person_counts_once_under_two_logins() -> None:
    assert len(counting(said(ANN, 5), said(replace(ANN, login="ann-old"), 20))) == 1


def test_a_no_takes_back_what_was_said_before_it_and_not_after() -> None:
    assert counting(said(ANN, 5), no(ANN, 10)) == []
    assert counting(no(ANN, 10), said(ANN, 20)) == [said(ANN, 20)]


def test_the_last_of_several_noes_cuts_in_whatever_order_they_are_heard() -> None:
    assert counting(no(ANN, 20), no(ANN, 5), said(ANN, 15)) == []
    assert counting(no(ANN, 5), no(ANN, 20), said(ANN, 15)) == []


def test_what_cannot_be_read_may_have_been_taken_back() -> None:
    assert counting(said(ANN, 5), comment(ANN, 20, standing=Standing.UNREAD)) == []


def test_a_no_by_someone_else_takes_nothing_back() -> None:
    assert counting(YES, no(BOB, 20)) == [YES]


def test_two_reviews_dismissed_one_by_one() -> None:
    first, last = said(ANN, 5), said(ANN, 20)
    assert counting(dismissed(first, BOB), last) == [last]
    assert counting(first, dismissed(last, BOB)) == []


def test_eligible_under_one_policy_is_enough_for_a_no_but_not_for_lifting_one() -> None:
    admins = policy("require: [{approvals: 1}]", "permission: admin")
    assert eligible(BOB, FACTS, under(PLAIN, admins))
    assert not eligible(BOB, FACTS, under(admins))
    assert not peer_dismissed(dismissed(no(ANN, 5), BOB), FACTS, under(PLAIN, admins))
    assert peer_dismissed(dismissed(no(ANN, 5), BOB), FACTS, under(PLAIN))


def test_nobody_is_a_peer_without_a_policy() -> None:
    assert not peer_dismissed(dismissed(no(ANN, 5), BOB), FACTS, [])


def test_only_the_author_changes_their_own_mind() -> None:
    block = no(BOB, 5)
    assert changed_mind(block, heard(block, said(BOB, 20)), POLICIES)
    assert not changed_mind(block, heard(block, said(CAT, 20)), POLICIES)
    assert not changed_mind(block, heard(block, comment(BOB, 5)), POLICIES)
    assert not changed_mind(block, heard(said(BOB, 5)), POLICIES), "on ties no wins by itself"


def test_a_changed_mind_holds_when_the_approval_lapses() -> None:
    short = policy("require: [{approvals: 1}]", "approval_valid: 1m")
    block = no(BOB, 5)
    assert changed_mind(block, heard(block, said(BOB, 20)), under(short))


def test_the_people_behind_the_request_are_eligible_for_nothing() -> None:
    assert not eligible(BOSS, able(BOSS, "admin"), POLICIES)


@pytest.mark.parametrize("prefix", ["", "a", "3f9a1c0de4b", "3f9a1c0de4b2 ", "sha256:3f9a1c"])
def test_a_short_or_odd_prefix_names_no_plan(prefix: str) -> None:
    assert not names(FACTS.digest, prefix)


@given(st.integers(12, 64), st.booleans())
def test_every_long_prefix_names_its_plan(length: int, upper: bool) -> None:  # noqa: FBT001
    prefix = FACTS.digest.removeprefix("sha256:")[:length]
    assert names(FACTS.digest, prefix.upper() if upper else prefix)
    assert not names(FACTS.digest, prefix[:-1] + ("0" if prefix[-1] != "0" else "1"))
