from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.advice import advice, covers
from checks.policy import load


def warned(*rules: str) -> list[str]:
    lines = "".join(f"  - {rule}\n" for rule in rules)
    return advice(load(f"version: 1\nrules:\n{lines}"))


ANY = "require: [{approvals: 1}]"


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        pytest.param([f"{{tools: ['*'], {ANY}}}", f"{{tools: ['a.*'], {ANY}}}"],
            ["rule 2: it can never match, because rule 1"], id="behind-the-catch-all"),
        pytest.param([f"{{tools: ['a.*'], {ANY}}}", f"{{tools: ['*'], {ANY}}}"], [], id="in-order"),
        pytest.param([f"{{tools: ['a.*', 'b.*'], {ANY}}}", f"{{tools: ['b.x', 'c.x'], {ANY}}}"],
            ["rule 2: 'b.x' can never match here, because rule 1"], id="one-glob-of-two"),
        pytest.param([f"{{tools: ['a.*'], {ANY}}}", f"{{tools: ['b.*'], {ANY}}}",
            f"{{tools: ['a.x', 'b.x'], {ANY}}}"],
            ["rule 3: it can never match, because rule 1 and rule 2"], id="by-two-rules"),
        pytest.param([f"{{tools: ['billing'], {ANY}}}"],
            ["rule 1: 'billing' has no dot, and every tool's name has one"], id="no-dot"),
        pytest.param([f"{{tools: ['billing*'], {ANY}}}"],
            ["rule 1: 'billing*' has no dot, so it may take tools of other"], id="only-a-star"),
        pytest.param([f"{{tools: ['*'], {ANY}}}"], [], id="the-catch-all-needs-no-dot"),
        pytest.param([f"{{tools: ['*'], permission: read, {ANY}}}"],
            ["rule 1: permission: read lets everyone decide"], id="readers"),
        pytest.param([f"{{tools: ['*'], permission: triage, {ANY}}}"],
            ["rule 1: permission: triage lets people decide"], id="triage"),
        pytest.param(["{tools: ['*'], require: [{approvals: 2, from: [user:ann]}]}"],
            ["rule 1: the places for 2 people of @ann can never all be filled"], id="one-for-two"),
        pytest.param(["{tools: ['*'], require: [{from: [user:ann]}, {from: [user:ANN]}]}"],
            ["rule 1: the places for 1 person of @ANN can never"], id="one-in-two-groups"),
        pytest.param(
            ["{tools: [x.y], require: [{from: [user:a, user:b]}, {approvals: 2, from: [user:a]}]}"],
            ["rule 1: the places for 2 people of @a can never"], id="two-in-three-places"),
        pytest.param(
            ["{tools: ['*'], require: [{from: [user:a, user:b]}, {from: [user:a]}]}"], [],
            id="the-one-in-both-moves-over"),
        pytest.param(["{tools: [x.*], require: [{approvals: 2, from: [user:ann, team:acme/d]}]}"],
            [], id="a-team-may-be-large"),
        pytest.param(["{tools: [x.*], require: [{approvals: 3, from: [user:ann, team:acme/d]}]}"],
            [], id="a-team-is-more-than-one-person"),
        pytest.param(["{tools: ['*'], require: [{approvals: 3}]}"], [], id="anybody"),
    ],
)  # fmt: skip
def test_advice(rules: list[str], told: list[str]) -> None:
    found = warned(*rules)
    assert len(found) == len(told)
    for line, start in zip(found, told, strict=True):
        assert line.startswith(start)


globs_ = st.text("ab.*?", min_size=1, max_size=6)
names_ = st.text("ab.", max_size=6)


@given(globs_, globs_, st.lists(names_, max_size=20))
def test_what_is_covered_never_matches_alone(wide: str, narrow: str, names: list[str]) -> None:
    if covers(wide, narrow):
        for name in names:
            assert fnmatchcase(name, wide) or not fnmatchcase(name, narrow)


@pytest.mark.parametrize(
    ("wide", "narrow", "covered"),
    [
        ("*", "a.b", True),
        ("a.*", "a.b*", True),
        ("a.b*", "a.*", False),
        ("a.?", "a.b", True),
        ("a.?", "a.*", False),
        ("a.b", "a.?", False),
        ("*?", "?*", True),
        ("a*b", "a.xb", True),
        ("a*b*", "ab", True),
        ("a.b", "a.b", True),
        ("a.b", "A.b", False),
        ("a", "ab", False),
        ("ab", "a", False),
    ],
)
def test_covers(wide: str, narrow: str, covered: bool) -> None:  # noqa: FBT001
    assert covers(wide, narrow) is covered


@pytest.mark.parametrize(
    ("rules", "ends"),
    [
        pytest.param([f"{{tools: ['*'], {ANY}}}", f"{{tools: ['a.*'], {ANY}}}"],
            ["; move it up or take it out"], id="never-reached"),
        pytest.param(["{tools: ['*'], require: [{approvals: 2, from: [user:ann]}]}"],
            ["one person fills one place; name more people or a team"], id="unfillable"),
        pytest.param([f"{{tools: ['a.b', 'billin?', 'x'], {ANY}}}"],
            ["may take tools of other systems; write", "it matches nothing"],
            id="a-question-mark-is-a-pattern-and-the-next-glob-is-looked-at-too"),
    ],
)  # fmt: skip
def test_advice_says_what_to_do(rules: list[str], ends: list[str]) -> None:
    found = warned(*rules)
    assert len(found) == len(ends)
    for line, end in zip(found, ends, strict=True):
        assert end in line


def test_every_group_is_looked_at_whatever_stands_before_it() -> None:
    team, one = "{from: [team:acme/d]}", "{approvals: 2, from: [user:ann]}"
    assert len(warned(f"{{tools: ['a.*'], require: [{team}, {one}]}}")) == 1
    assert len(warned(f"{{tools: ['a.*'], {ANY}}}", f"{{tools: ['b.*'], require: [{one}]}}")) == 1
