import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.explain import explain
from checks.facts import Facts, Standing
from checks.policy import Freeze, Group, Policy, Rule, Source, load
from checks.reasons import Reason
from checks.simulate import (
    BadChange,
    Scene,
    add_comment,
    add_review,
    as_data,
    difference,
    dismiss,
    later,
    move_head,
    named_in,
    press,
    scene_of,
    under,
)
from checks.telling import difference_text
from checks.verdict import Decision, Verdict, judge
from tests.checks import scene as day
from tests.checks.scene import (
    ANN,
    BOB,
    BOSS,
    DIGEST,
    FACTS,
    NOW,
    PLAIN,
    POLICIES,
    YES,
    able,
    comment,
    heard,
    no,
    policy,
    reasons,
)

TWO = policy("require: [{approvals: 2}]")
SHORT = policy("require: [{approvals: 1}]", "approval_valid: 30m")
SILENT = heard()


def verdict(facts: Facts) -> Verdict:
    return judge(facts, POLICIES, NOW)


@pytest.mark.parametrize(
    ("facts", "decision", "reason"),
    [
        pytest.param(SILENT, Decision.WAITING, Reason.APPROVALS_MISSING, id="nobody"),
        pytest.param(add_review(SILENT, BOB, "approve", NOW), Decision.APPROVED, None, id="review"),
        pytest.param(
            add_review(FACTS, BOB, "request-changes", NOW), Decision.WAITING, Reason.BLOCKED,
            id="changes-requested",
        ),
        pytest.param(press(SILENT, BOB, "approve", NOW), Decision.APPROVED, None, id="button"),
        pytest.param(
            press(FACTS, BOB, "reject", NOW), Decision.ENDED, Reason.REJECTED, id="reject-button"
        ),
        pytest.param(
            add_comment(SILENT, BOB, "/approve", NOW), Decision.APPROVED, None, id="comment"
        ),
        pytest.param(
            add_comment(SILENT, BOB, f"/approve {DIGEST[7:19]}", NOW), Decision.APPROVED, None,
            id="with-its-digest",
        ),
        pytest.param(
            add_comment(SILENT, BOB, "/approve " + "0" * 12, NOW), Decision.WAITING,
            Reason.OTHER_DIGEST, id="with-another-digest",
        ),
        pytest.param(
            add_comment(FACTS, BOB, "/reject no", NOW), Decision.ENDED, Reason.REJECTED, id="no"
        ),
        pytest.param(
            add_comment(FACTS, BOSS, "/reject", NOW), Decision.ENDED, Reason.WITHDRAWN, id="back"
        ),
        pytest.param(
            add_review(SILENT, BOSS, "approve", NOW), Decision.WAITING, Reason.REQUESTER, id="own"
        ),
        pytest.param(
            add_review(replace(able(BOB, "read"), voices=()), BOB, "approve", NOW),
            Decision.WAITING, Reason.PERMISSION_TOO_LOW, id="a-reader",
        ),
        pytest.param(move_head(FACTS), Decision.ENDED, Reason.HEAD_MOVED, id="a-push"),
        pytest.param(
            dismiss(FACTS, YES.key, BOB), Decision.WAITING, Reason.DISMISSED, id="dismissed"
        ),
        pytest.param(
            dismiss(heard(YES, no(BOB, 20)), no(BOB, 20).key, day.CAT), Decision.APPROVED, None,
            id="a-block-lifted-by-a-peer",
        ),
        pytest.param(
            dismiss(heard(YES, no(BOB, 20)), no(BOB, 20).key), Decision.WAITING, Reason.BLOCKED,
            id="a-block-dismissed-by-nobody-knows-whom",
        ),
    ],
)  # fmt: skip
def test_a_change_comes_to(facts: Facts, decision: Decision, reason: Reason | None) -> None:
    found = verdict(facts)
    assert found.decision is decision
    assert reason is None or reason in reasons(found)


def test_a_change_leaves_the_facts_it_was_made_of() -> None:
    before = replace(FACTS)
    for changed in (
        add_review(FACTS, BOB, "approve", NOW),
        move_head(FACTS),
        dismiss(FACTS, YES.key),
    ):
        assert changed != before
    assert before == FACTS


def test_talk_changes_nothing() -> None:
    assert add_comment(FACTS, BOB, "lgtm", NOW) == FACTS


@pytest.mark.parametrize(
    ("change", "told"),
    [
        pytest.param(lambda: add_review(FACTS, BOB, "yes", NOW), "request-changes", id="word"),
        pytest.param(lambda: press(FACTS, BOB, "replan", NOW), "approve or reject", id="button"),
        pytest.param(lambda: add_comment(FACTS, BOB, "/replan", NOW), "/replan", id="command"),
        pytest.param(lambda: dismiss(FACTS, "review:9"), "review:1", id="no-such-review"),
        pytest.param(
            lambda: dismiss(heard(comment(ANN, 5)), comment(ANN, 5).key), "none", id="a-comment"
        ),
    ],
)
def test_what_cannot_happen_is_refused_in_words(change: object, told: str) -> None:
    assert callable(change)
    with pytest.raises(BadChange, match=told):
        change()


def test_two_additions_are_two_facts() -> None:
    facts = press(add_review(SILENT, ANN, "approve", NOW), BOB, "approve", NOW)
    assert len({v.key for v in facts.voices}) == len({v.order for v in facts.voices}) == 2
    assert judge(facts, day.under(TWO), NOW).decision is Decision.APPROVED


def test_later_is_the_same_scene_under_a_later_clock() -> None:
    facts = add_review(SILENT, BOB, "approve", NOW)
    scene = Scene(facts, tuple(day.under(SHORT)), NOW)
    assert scene.verdict().decision is Decision.APPROVED
    lapsed = later(scene, timedelta(minutes=30))
    assert Reason.APPROVAL_LAPSED in reasons(lapsed.verdict())
    assert later(scene, timedelta(hours=3)).verdict().decision is Decision.ENDED


def test_a_policy_on_trial_takes_the_place_of_the_one_of_now_alone() -> None:
    sources = under(
        [Source("floor", PLAIN), Source("propose", TWO), Source("current", PLAIN)], SHORT
    )
    assert [(s.name, s.policy) for s in sources] == [
        ("floor", PLAIN), ("propose", TWO), ("current", SHORT),
    ]  # fmt: skip
    assert [s.name for s in under([Source("propose", TWO)], SHORT)] == ["propose", "current"]


def test_the_difference_names_what_is_gone_and_what_is_new() -> None:
    before, after = verdict(SILENT), verdict(add_review(SILENT, BOSS, "approve", NOW))
    found = difference(before, after)
    assert (found["gone"], [r["code"] for r in found["new"]]) == ([], ["requester"])
    assert "+ now also: requester @boss" in difference_text(found)
    gone = difference(before, verdict(FACTS))
    assert {r["code"] for r in gone["gone"]} == {"approvals_missing"}
    assert "- no longer: approvals_missing: 1 person still needed" in difference_text(gone)
    assert difference_text(difference(before, before)) == ""


def test_everybody_the_facts_tell_of_is_known_by_login() -> None:
    facts = dismiss(heard(YES, no(replace(BOB, login="Bob"), 20)), YES.key, day.CAT)
    assert named_in(facts) == {"ann": ANN, "bob": replace(BOB, login="Bob"), "cat": day.CAT}


durations_ = st.builds(
    lambda n, unit: timedelta(**{unit: n}),
    st.integers(1, 90),
    st.sampled_from(["seconds", "minutes", "hours", "days"]),
)
rules_ = st.builds(
    lambda **given: Rule(**{name: v for name, v in given.items() if v is not None}),
    tools=st.just(("billing.*",)),
    require=st.just((Group(approvals=2), Group.model_validate({"from": ["user:ann"]}))),
    permission=st.sampled_from(["read", "admin"]),
    expires=durations_,
    approval_valid=st.none() | durations_,
    message=st.none() | st.text(min_size=1, max_size=5),
)
FREEZE = Freeze.model_validate(
    {"from": "2026-12-24T00:00Z", "until": "2026-12-27T00:00+02:00", "reason": "holidays"}
)
policies_ = st.builds(
    lambda rules, more: Policy(version=1, rules=tuple(rules), **more),
    st.lists(rules_, min_size=1, max_size=2),
    st.sampled_from([{}, {"freeze": (FREEZE,)}]),
)


@given(policies_, st.sampled_from(list(Standing)))
def test_a_scene_comes_back_from_json_as_it_was(policy: Policy, standing: Standing) -> None:
    facts = replace(
        FACTS,
        voices=(replace(YES, standing=standing, dismisser=BOB),),
        people={"ann": 1},
        skew=timedelta(seconds=-3),
        halted="stop",
    )
    sources = (Source("floor", policy), Source("current", None, "line 3: no", "b" * 40))
    scene = Scene(facts, sources, NOW)
    assert scene_of(json.loads(json.dumps(as_data(scene)))) == scene


@pytest.mark.parametrize(
    "data",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"facts": {}, "sources": [], "now": NOW.isoformat()}, id="no-facts"),
        pytest.param(as_data(Scene(FACTS, (), NOW)) | {"now": "soon"}, id="no-time"),
        pytest.param(as_data(Scene(FACTS, (), NOW)) | {"sources": [{"name": "x"}]}, id="no-policy"),
        pytest.param(
            as_data(Scene(FACTS, (), NOW))
            | {"sources": [{"name": "x", "policy": {"version": 2}, "problem": "", "blob": None}]},
            id="a-policy-that-is-none",
        ),
    ],
)
def test_what_is_no_scene_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(BadChange, match=r"no facts of a proposal: [A-Z][A-Za-z]*Error"):
        scene_of(data)


def test_a_policy_comes_back_from_its_own_yaml() -> None:
    text = json.dumps(TWO.model_dump(mode="json", by_alias=True, exclude_defaults=True))
    assert load(text) == TWO


def test_a_simulated_comment_is_a_comment_with_its_words() -> None:
    [said] = add_comment(SILENT, BOB, f"/approve {DIGEST[7:19]}", NOW).voices
    assert (said.surface.value, said.head, said.digest) == ("comment", None, DIGEST[7:19])
    assert said.text == f"/approve {DIGEST[7:19]}"


def test_what_is_simulated_stands_beside_what_was_said_in_its_order() -> None:
    both = add_review(add_comment(FACTS, BOB, "/approve", NOW), day.CAT, "approve", NOW)
    assert both.voices[0] == YES
    assert [v.key for v in both.voices[1:]] == ["comment:simulated-2", "review:simulated-3"]
    orders = [v.order for v in both.voices]
    assert orders == sorted(set(orders))


def test_a_dismissal_takes_that_review_alone() -> None:
    facts = dismiss(heard(YES, no(BOB, 20)), YES.key, BOB)
    assert [v.standing for v in facts.voices] == [Standing.DISMISSED, Standing.STANDS]


def test_a_move_is_to_a_head_of_the_same_form() -> None:
    moved = move_head(FACTS)
    assert (moved.head, moved.moved) == ("0" * len(FACTS.head), True)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        pytest.param(lambda: add_review(FACTS, BOB, "lgtm", NOW),
            "a review says approve or request-changes, not 'lgtm'", id="review"),
        pytest.param(lambda: press(FACTS, BOB, "undo", NOW),
            "a button says approve or reject, not 'undo'", id="button"),
        pytest.param(lambda: dismiss(SILENT, "review:9"),
            "there is no review 'review:9'; the reviews are: none", id="no-reviews"),
        pytest.param(lambda: dismiss(heard(YES, no(BOB, 20)), "review:9"),
            f"there is no review 'review:9'; the reviews are: {YES.key}, {no(BOB, 20).key}",
            id="other-reviews"),
    ],
)  # fmt: skip
def test_what_cannot_be_simulated_is_refused_in_words(
    change: Callable[[], Facts], told: str
) -> None:
    with pytest.raises(BadChange) as refused:
        change()
    assert str(refused.value) == told


def test_a_scene_explains_itself_as_the_judge_would() -> None:
    sources = [Source("current", SHORT)]
    scene = Scene(FACTS, tuple(sources), NOW)
    assert scene.explained() == explain(FACTS, sources, judge(FACTS, sources, NOW), NOW)


@pytest.mark.parametrize(
    ("reason", "line"),
    [
        pytest.param(("c", "", "", ""), "c", id="bare"),
        pytest.param(("c", "why", "", ""), "c: why", id="why"),
        pytest.param(("c", "why", "floor", "bob"), "c @bob: why (the server's floor)", id="floor"),
        pytest.param(("c", "", "other", ""), "c (other)", id="unknown-policy"),
    ],
)
def test_a_difference_names_the_code_who_why_and_whose(
    reason: tuple[str, str, str, str], line: str
) -> None:
    told = dict(zip(("code", "because", "policy", "who"), reason, strict=True))
    text = difference_text({"gone": [told], "new": [told]})
    assert text == f"- no longer: {line}\n+ now also: {line}"
