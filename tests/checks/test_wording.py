"""A verdict in words: short, true for as long as it stands there, and with a remedy for each no."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from checks.facts import Access, Facts, Person, Stance, Standing, Surface, Voice
from checks.policy import Source, load
from checks.reasons import REASONS, Finding, Reason, Weight
from checks.verdict import Decision, Verdict, judge
from checks.voices import Heard
from checks.wording import (
    asked,
    check_title,
    code,
    heard_table,
    hidden_count,
    mention,
    moment,
    reply_to,
    span,
    stamp,
    visible,
)
from tests.reading import alive, read

NOW = datetime(2026, 12, 1, 11, 0, tzinfo=UTC)
LATER = NOW + timedelta(hours=3)
POLICY = load("""
version: 1
rules:
  - {tools: ["*"], require: [{approvals: 1, from: [team:acme/data]}], surfaces: [review, comment]}
freeze:
  - {from: 2026-12-24T00:00Z, until: 2026-12-27T00:00Z, reason: holidays}
""")
DATA = frozenset({"acme/data"})
LEE, SAM, DANA = Person(1, "lee"), Person(2, "sam"), Person(3, "dana")
FACTS = Facts(
    tool="db.update_rows",
    effect="write",
    digest="sha256:" + "3f9a" * 16,
    identities=frozenset({DANA.id}),
    valid_from=NOW - timedelta(hours=1),
    expires=LATER,
    pinned_head="c0ffee1",
    head="c0ffee1",
    pinned_base="placet/ledger",
    base="placet/ledger",
    access={
        1: Access(1, "write", DATA),
        2: Access(2, "read", DATA),
        3: Access(3, "write", DATA),
    },
)


def said(who: Person, stance: Stance = Stance.APPROVE, minute: int = 0, **more: object) -> Voice:
    voice = Voice(
        key=f"review:{minute}",
        person=who,
        surface=Surface.REVIEW,
        stance=stance,
        at=NOW - timedelta(minutes=30 - minute),
        order=minute,
        head="c0ffee1",
    )
    return replace(voice, **more)  # type: ignore[arg-type]


def judged(*voices: Voice, at: datetime = NOW, **change: object) -> Verdict:
    facts = replace(FACTS, voices=voices, **change)  # type: ignore[arg-type]
    return judge(facts, [Source("propose", POLICY)], at)


FREEZE = datetime(2026, 12, 25, tzinfo=UTC)


@pytest.mark.parametrize(
    ("verdict", "title"),
    [
        pytest.param(
            judged(),
            "Waiting for 1 approval from acme/data · until 1 Dec 14:00 UTC",
            id="nobody-heard",
        ),
        pytest.param(
            judged(said(LEE)), "Approved: planning again before anything runs", id="approved"
        ),
        pytest.param(
            judged(said(DANA)),
            "@dana's approval does not count: the agent works for them",
            id="requester",
        ),
        pytest.param(
            judged(said(SAM)),
            "@sam's approval does not count: their access is too low",
            id="reader",
        ),
        pytest.param(
            judged(said(DANA, minute=1), said(SAM, minute=2)),
            "@sam's approval does not count: their access is too low",
            id="the-latest-is-named",
        ),
        pytest.param(
            judged(said(LEE, Stance.BLOCK)), "Blocked by @lee: changes were requested", id="blocked"
        ),
        pytest.param(
            judged(said(LEE, Stance.REJECT)), "Rejected by @lee: nothing was changed", id="rejected"
        ),
        pytest.param(
            judged(said(DANA, Stance.REJECT)), "Withdrawn by @dana: nothing was changed", id="taken"
        ),
        pytest.param(judged(at=LATER), "Expired: nothing was changed", id="expired"),
        pytest.param(
            judged(said(LEE), expires=FREEZE + timedelta(days=9), at=FREEZE),
            "On hold: changes are frozen until 2026-12-27 00:00 UTC",
            id="frozen",
        ),
        pytest.param(
            judged(head="bad"), "Ended: the branch moved. Nothing was changed", id="head-moved"
        ),
    ],
)
def test_the_title_calls_to_action(verdict: Verdict, title: str) -> None:
    assert check_title(verdict, LATER, NOW) == title


@pytest.mark.parametrize("reason", sorted(Reason))
def test_every_reason_has_a_short_title_and_an_answer_with_a_remedy(reason: Reason) -> None:
    finding = Finding(reason, "frozen until 2026-12-27 00:00 UTC: x", who="d" * 39)
    heard = Heard(said(Person(9, "d" * 39)), reason)
    decided = {Weight.ENDS: Decision.ENDED, Weight.DOUBTS: Decision.DOUBTFUL}
    verdict = Verdict(decided.get(finding.weight, Decision.WAITING), (finding,), (heard,), LATER)
    title = check_title(verdict, LATER, NOW)
    assert len(title) <= 110  # 39 of them are the login
    assert "{" not in title
    for answer in (reply_to(finding), reply_to(heard)):
        first, _, then = answer.partition("\n\n")
        assert first
        assert then == REASONS[reason].remedy


def test_no_title_counts_down() -> None:
    early, late = (check_title(judged(), LATER, at) for at in (NOW, NOW + timedelta(hours=2)))
    assert early == late


def test_many_groups_are_counted_instead_of_named() -> None:
    needed = " and ".join(f"{n} people of acme/team-{n}" for n in range(2, 6)) + " still needed"
    verdict = replace(judged(), needed=needed)
    assert asked(verdict) == "14 approvals"


def test_everyone_heard_stands_in_the_table(golden: Callable[..., None]) -> None:
    voices = [
        said(LEE, minute=1),
        said(SAM, minute=2, surface=Surface.COMMENT),
        said(DANA, minute=3),
        said(SAM, Stance.BLOCK, minute=4),
        said(Person(8, "kim"), minute=5, standing=Standing.DISMISSED),
        said(Person(7, "robot[bot]", "Bot"), minute=6),
    ]
    golden(heard_table(judged(*voices)) + "\n", "heard.md")


def test_a_block_that_was_lifted_is_not_shown_as_one() -> None:
    verdict = judged(said(LEE, Stance.BLOCK, 1), said(LEE, minute=2))
    assert "| `@lee` | requested changes (review) | no | It no longer holds. |" in heard_table(
        verdict
    )


def test_a_block_that_holds_is_shown_as_one() -> None:
    table = heard_table(judged(said(LEE, Stance.BLOCK)))
    assert "| `@lee` | requested changes (review) | yes |  |" in table


def test_nobody_heard_makes_no_table() -> None:
    assert heard_table(judged()) == ""


def test_a_long_table_says_how_many_it_leaves_out() -> None:
    table = heard_table(judged(*(said(SAM, minute=n) for n in range(33))))
    assert table.count("`@sam`") == 30
    assert table.endswith("3 earlier ones are not shown.")


def test_the_table_calls_nobody() -> None:
    assert alive(heard_table(judged(said(LEE), said(Person(9, "a|b @c"))))) == []


def test_an_answer_calls_the_person_it_is_for() -> None:
    answer = reply_to(Heard(said(DANA), Reason.REQUESTER))
    assert answer.startswith("@dana, your approval does not count: the agent that asks works for")


def test_an_answer_to_another_digest_names_it() -> None:
    answer = reply_to(Heard(said(DANA, digest="9be19be19be1"), Reason.OTHER_DIGEST))
    assert "it names another plan (`9be19be19be1`)." in answer


@pytest.mark.parametrize(
    ("length", "words"),
    [
        pytest.param(timedelta(seconds=40), "40 s", id="seconds"),
        pytest.param(timedelta(seconds=-5), "0 s", id="never-less-than-nothing"),
        pytest.param(timedelta(seconds=60), "1 min", id="a-minute"),
        pytest.param(timedelta(minutes=25), "25 min", id="minutes"),
        pytest.param(timedelta(hours=4, seconds=-2), "4 h", id="almost"),
        pytest.param(timedelta(hours=3, minutes=20), "3 h 20 min", id="both"),
        pytest.param(timedelta(minutes=59, seconds=40), "1 h", id="rounds-up"),
        pytest.param(timedelta(hours=47), "47 h", id="nearly-two-days"),
        pytest.param(timedelta(days=2), "2 days", id="days"),
        pytest.param(timedelta(days=2, hours=5), "2 days 5 h", id="days-and-hours"),
    ],
)
def test_a_length_of_time(length: timedelta, words: str) -> None:
    assert span(length) == words


def test_a_moment_has_its_zone_and_its_distance() -> None:
    assert moment(LATER, NOW) == "1 Dec 14:00 UTC (in 3 h)"
    assert moment(NOW, LATER) == "1 Dec 11:00 UTC (3 h ago)"
    assert stamp(LATER) == "1 Dec 2026 14:00 UTC"
    assert stamp(datetime(2027, 1, 2, 3, 4, tzinfo=UTC), NOW) == "2 Jan 2027 03:04 UTC"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("plain é 日本 😀", "plain é 日本 😀", id="ordinary"),
        pytest.param("a\u202eb", r"a\u202eb", id="bidi"),
        pytest.param("a\u200bb", r"a\u200bb", id="zero-width"),
        pytest.param("a\U000e0041", r"a\udb40\udc41", id="tag"),
        pytest.param("a\ufe0f\U000e0100", r"a\ufe0f\udb40\udd00", id="variation-selectors"),
        pytest.param("a\u3164\u2800\u115f", r"a\u3164\u2800\u115f", id="blank-letters"),
        pytest.param("a\xa0b\u2003c", r"a\u00a0b\u2003c", id="other-spaces"),
        pytest.param("a\x00\x1b[2J\x7f\x85", r"a\u0000\u001b[2J\u007f\u0085", id="control"),
        pytest.param("a\r\nb\tc", r"a\u000d\nb\u0009c", id="line-end-and-tab"),
        pytest.param("\ue000\U0010ffff\ud800", r"\ue000\udbff\udfff\ud800", id="no-characters"),
        pytest.param("a" + "\u0301" * 3, "a" + r"\u0301" * 3, id="heaped-marks"),
    ],
)
def test_what_cannot_be_seen_is_spelled_out(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(shown) == shown


def test_line_ends_and_tabs_are_no_surprise() -> None:
    assert hidden_count("a\r\n\tb\u202e\U000e0041") == 2


def test_a_code_span_keeps_the_space_at_an_end() -> None:
    assert code("X ") == "` X  `"
    assert code("  ") == "`  `"
    assert (code("Xa"), code("aX")) == ("`Xa`", "`aX`")


@given(st.text(alphabet=st.one_of(st.sampled_from("`|\\ \n<@#!["), st.characters())))
@example("`")
@example(" a ")
@example("  ")
@example("``a`")
def test_a_code_span_holds_any_text_and_nothing_escapes(text: str) -> None:
    seen = read(f"before {code(text)} after")
    assert seen.loud.strip() == ("before  after" if text else "before (empty) after")
    assert seen.codes == ([visible(text)] if text else [])


@given(st.text())
@example("dana")
@example("dana/../x")
@example("a b")
@example("GH-7")
def test_only_a_login_is_ever_called(login: str) -> None:
    called = mention(login)
    assert not called.startswith("@GH-")
    assert (
        called.startswith("`")
        or called.removeprefix("@").replace("-", "a").replace("_", "a").isalnum()
    )


FROZEN_ANSWER = f"{REASONS[Reason.FROZEN].means} (`until noon`)"


@pytest.mark.parametrize(
    ("about", "first"),
    [
        pytest.param(Heard(said(LEE), None), "@lee, your approval counts.", id="it-counts"),
        pytest.param(
            Heard(said(SAM, Stance.REJECT), None), "@sam, your rejection counts.", id="a-no-counts"
        ),
        pytest.param(
            Heard(said(SAM, digest="9be19be19be1"), Reason.PERMISSION_TOO_LOW),
            "@sam, your approval does not count: your access here is too low.",
            id="a-digest-that-is-not-the-matter",
        ),
        pytest.param(
            Heard(said(SAM), Reason.OTHER_DIGEST),
            "@sam, your approval does not count: it names another plan.",
            id="another-plan-without-a-digest",
        ),
        pytest.param(
            Heard(said(SAM), Reason.EXPIRED),
            f"@sam, your approval does not count: {REASONS[Reason.EXPIRED].means.rstrip('.')}.",
            id="a-reason-of-the-proposal",
        ),
        pytest.param(
            Finding(Reason.FROZEN, "until noon", "floor"), FROZEN_ANSWER, id="what-it-tells"
        ),
        pytest.param(
            Finding(Reason.FROZEN, "until noon", "floor", "lee"),
            FROZEN_ANSWER + " (`@lee`)",
            id="and-of-whom",
        ),
        pytest.param(
            Finding(Reason.CLOSED, "by hand"),
            REASONS[Reason.CLOSED].means,
            id="what-it-need-not-tell",
        ),
    ],
)
def test_an_answer_is_what_happened_and_what_to_do(about: Heard | Finding, first: str) -> None:
    assert about.reason or first.endswith("counts.")
    remedy = f"\n\n{REASONS[about.reason].remedy}" if about.reason else ""
    assert reply_to(about) == first + remedy


@pytest.mark.parametrize(
    ("finding", "title"),
    [
        pytest.param(
            Finding(Reason.REJECTED, ""), "Rejected: nothing was changed", id="by-nobody-known"
        ),
        pytest.param(
            Finding(Reason.ACCESS_UNKNOWN, "", who="sam"),
            "On hold: GitHub did not say what @sam may do",
            id="somebody",
        ),
        pytest.param(
            Finding(Reason.ACCESS_UNKNOWN, ""),
            "On hold: GitHub did not say what someone may do",
            id="someone",
        ),
        pytest.param(
            Finding(Reason.FROZEN, "for a while"),
            "On hold: changes are frozen until later",
            id="no-moment",
        ),
    ],
)
def test_a_title_names_whom_and_until_when_as_far_as_that_is_known(
    finding: Finding, title: str
) -> None:
    verdict = replace(judged(), findings=(finding,))
    assert check_title(verdict, LATER, NOW) == title


@pytest.mark.parametrize(
    ("needed", "words"),
    [
        pytest.param("", "1 approval", id="nothing-said"),
        pytest.param("2 people still needed", "2 approvals", id="anybody"),
        pytest.param("1 person of acme/data", "1 approval from acme/data", id="a-team"),
        pytest.param("1 person of " + "a" * 44, "1 approval from " + "a" * 44, id="sixty"),
        pytest.param("1 person of " + "a" * 45, "1 approval", id="sixty-one"),
    ],
)
def test_whose_approvals_are_missing(needed: str, words: str) -> None:
    assert asked(replace(judged(), needed=needed)) == words


def test_a_moment_that_is_now_is_in_no_time() -> None:
    assert moment(NOW, NOW).endswith("(in 0 s)")


def test_what_is_no_login_stands_in_code_as_it_is() -> None:
    assert mention("-x") == "`@-x`"
    assert "| `@a?b` |" in heard_table(judged(replace(said(LEE), person=Person(1, "a|b"))))


def test_each_hidden_character_is_counted_and_a_lone_tab_is_not() -> None:
    assert [hidden_count(text) for text in ("\t", "\r", "a\tb\rc", "\u202e", "\r\u202e")] == [
        0, 0, 0, 1, 1,
    ]  # fmt: skip
