"""What people read on GitHub: clear, whole, and deaf to whatever a plan or an agent tries."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from checks.facts import Person, Stance, Surface, Voice
from checks.policy import PERMISSIONS
from checks.reasons import REASONS, Finding, Reason
from checks.verdict import Decision, Verdict
from checks.voices import Heard
from checks.wording import visible
from proposals.lifecycle import State
from proposals.plan import Pinned, Planned, Proposal, pin
from proposals.receipt import plan_file
from tests.reading import LIVE, alive, read
from webhook_app.render import (
    Links,
    body,
    check,
    merge_message,
    outcome_comment,
    plan_path,
    reply,
    statement_path,
    title,
    undo_reply,
)
from webhook_app.render.markdown import cell, excerpt, fence, json_text, table
from webhook_app.render.shown import LONGEST

GITHUB_TAKES = 65_535
NOW = datetime(2026, 12, 1, 10, 0, tzinfo=UTC)
POLICY = """
version: 1
rules:
  - tools: ["db.*"]
    require: [{approvals: 1, from: [team:acme/data, user:lee]}]
    expires: 4h
"""
TOOL: dict[str, Any] = {
    "name": "db.update_rows",
    "kind": "command",
    "effect": "destructive",
    "definition": "sha256:" + "ab" * 32,
    "undo": True,
}
PLANNED = Planned(
    effects=[
        {"what": f"customers {row}, active", "before": True, "after": False} for row in (17, 23, 31)
    ],
    preview={"rows": 3, "seconds": 0.2},
    preconditions={"rows": "sha256:" + "cd" * 32},
    warnings=["Row 31 has an open order."],
)
ARGUMENTS: dict[str, Any] = {"table": "customers", "set": {"active": False}, "ids": [17, 23, 31]}
P = Proposal(
    id="p_1f0c",
    agent="cleanup-bot",
    tool="db.update_rows",
    arguments=ARGUMENTS,
    state=State.OPEN,
    repository=7,
    identities=frozenset({5}),
    created=NOW,
    expires=NOW + timedelta(hours=4),
    salt="5a17",
    said="these accounts bounced three newsletters",
    pinned=pin(TOOL, ARGUMENTS, PLANNED, ["/preview/seconds"]),
    summary="Deactivate 3 customers in crm.db",
    policy=POLICY,
)
LINKS = Links("https://github.com", "acme/approvals", "placet/p/p_1f0c")
BY = [{"id": 9, "login": "lee", "surface": "review", "key": "review:81"}]
AT = {"at": "2026-12-01T10:42:07.000Z", "approved_by": BY}
READ_BACK = [
    {"what": f"customers {row}, active", "expected": False, "found": found, "ok": not found}
    for row, found in ((17, False), (23, True), (31, True))
]
Golden = Callable[..., None]


def planned(planned_: Planned, arguments: Any = None, **more: Any) -> Proposal:
    given_ = {} if arguments is None else arguments
    return replace(P, pinned=pin(TOOL, given_, planned_), **more)


def over(state: State, undone_by: str | None = None, **outcome: Any) -> Proposal:
    reason = outcome.get("reason")
    return replace(P, state=state, reason=reason, outcome=AT | outcome, undone_by=undone_by)


def voice(login: str, surface: Surface = Surface.REVIEW, minute: int = 1, **more: Any) -> Voice:
    at = NOW + timedelta(minutes=minute)
    return Voice(f"x:{minute}", Person(minute, login), surface, Stance.APPROVE, at, minute, **more)


WAITING = Verdict(
    Decision.WAITING,
    (Finding(Reason.APPROVALS_MISSING, "1 person of acme/data or @lee still needed", "propose"),),
    (
        Heard(voice("sam", Surface.COMMENT, 1), Reason.PERMISSION_TOO_LOW),
        Heard(voice("dana", minute=2), Reason.REQUESTER),
    ),
    P.expires,
    (("propose", 1), ("current", 2)),
    "1 person of acme/data or @lee still needed",
)
OVER = {
    "applied-verified": over(
        State.APPLIED, basis="verified", checks=READ_BACK[:1], result={"rows": 3}
    ),
    "applied-unverified": over(State.APPLIED, basis="unverified"),
    "applied-asserted": over(State.APPLIED, basis="asserted", why="I counted the rows by hand"),
    "failed": over(State.FAILED, why="the table is locked"),
    "failed-contradicted": over(
        State.FAILED,
        why="The tool reported success, but reading back shows otherwise.",
        checks=READ_BACK,
    ),
    "unknown": over(State.UNKNOWN, why="did not answer within 60 s", checks=READ_BACK),
    "drifted": over(
        State.ENDED,
        reason="drifted",
        why="What would happen now differs from what was approved.",
        differences=[
            {"pointer": "/effects/1/before", "before": True, "after": False},
            {"pointer": "/effects/2", "before": PLANNED.effects[2], "after": None},
            {"pointer": "/preconditions/rows", "before": "sha256:cd", "after": "sha256:ef"},
        ],
    ),
    "tool-changed": over(
        State.ENDED,
        reason="tool_changed",
        differences=[{"pointer": "/tool/definition", "before": "sha256:ab", "after": "sha256:cd"}],
    ),
    "plan-failed": over(State.ENDED, reason="plan_failed", why="no such table: customers"),
    "rejected": over(State.ENDED, reason="rejected", why="@lee rejected it"),
    "withdrawn": over(State.ENDED, reason="withdrawn", why="@dana took it back"),
    "expired": over(State.ENDED, reason="expired", why="Nobody did so in time."),
    "closed": over(State.ENDED, reason="closed", why="the pull request was closed"),
    "head-moved": over(State.ENDED, reason="head_moved", why="the branch moved"),
    "base-changed": over(State.ENDED, reason="base_changed", why="it now aims at 'main'"),
    "undo-conflict": over(
        State.ENDED,
        reason="undo_conflict",
        why='1 of 3 changed since: customer 23 is {"active": true}.',
    ),
    "already-undone": over(
        State.ENDED, reason="already_undone", why="The customers are as they were before."
    ),
    "undone-since": over(State.APPLIED, undone_by="p_2", basis="verified", checks=READ_BACK[:1]),
    "superseded": over(State.ENDED, reason="superseded"),
    "start-unproven": over(
        State.FAILED,
        reason="start_unproven",
        why="Nobody could prove whether the start was recorded, so nothing was run.",
    ),
    "store-lost": over(State.ENDED, reason="store_lost"),
}

FRAGMENTS = st.sampled_from(
    [
        "|", "`", "```", "~~~", "\n", "\r\n", "\n\n", "\\", "\\|", "<img src=http://e.example/x>",
        "</details>", "</code>", "<!--", "-->", "<b>", "@acme/team", "@dana", "fixes #1", "GH-7",
        "![x](http://e.example/a.png)", "[x](javascript:alert(1))", "https://e.example", "$`x`$",
        "www.e.example", "ann@e.example", "| --- |", "&lt;", "> [!NOTE]", "- [ ] ", "    ", "\t",
        "\u202e", "\u200b", "\U000e0041", "\ufe0f", "\x00", "\x7f", "\u2028", "e\u0301\u0301\u0301",
        "<https://e.example>", "[^1]", "[^1]: x", "*", "_", "# ", "\N{GRINNING FACE}", "'", '"',
    ]
)  # fmt: skip
HOSTILE = st.lists(st.one_of(FRAGMENTS, st.text(max_size=8)), max_size=8).map("".join)
VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(2**53) + 1, 2**53 - 1), HOSTILE, st.floats(-9, 9)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(HOSTILE, inner, max_size=3)
    ),
    max_leaves=6,
)
EFFECTS = st.lists(
    st.fixed_dictionaries(
        {}, optional={"what": HOSTILE, "before": VALUES, "after": VALUES, "x|": VALUES}
    ),
    max_size=4,
)
COST = st.one_of(st.none(), st.fixed_dictionaries({"amount": VALUES, "unit": HOSTILE}))
PLANS = st.builds(
    Planned,
    effects=EFFECTS,
    preview=VALUES,
    preconditions=st.dictionaries(HOSTILE, VALUES, max_size=2),
    cost=COST,
    warnings=st.lists(HOSTILE, max_size=3),
)
few = settings(max_examples=60)


def put(name: str) -> dict[str, Any]:
    check = {"what": "customers 17, name", "expected": name, "found": name, "ok": True}
    return {"at": AT["at"], "approved_by": [], "basis": "verified", "checks": [check]}


RENAMED = {"what": "customers 17, name", "before": "Ada Bakery", "after": "Ada's Bakery"}
PUT_BACK = {"what": "customers 17, name", "before": "Ada's Bakery", "after": "Ada Bakery"}
RENAME: dict[str, Any] = {**TOOL, "name": "db.rename", "effect": "write"}
DONE_AT_ONCE = replace(
    P,
    mode="announce",
    tool="db.rename",
    state=State.APPLIED,
    pinned=pin(RENAME, {"id": 17, "name": "Ada's Bakery"}, Planned(effects=[RENAMED])),
    behind={"dana": 5},
    summary="Rename customer 17",
    said="the owner wrote that it is spelled so",
    outcome=put("Ada's Bakery"),
)
ANNOUNCED = {
    "announced": DONE_AT_ONCE,
    "announced-undo": replace(
        DONE_AT_ONCE,
        pinned=pin(
            {**RENAME, "undo": False, "verb": "undo"}, {"id": 17}, Planned(effects=[PUT_BACK])
        ),
        summary="Undo: Rename customer 17",
        said="",
        undoes="p_0a1b",
        asked_by={"id": 9, "login": "lee"},
        outcome=put("Ada Bakery"),
    ),
}
"""What was done without asking anybody, and what a person put back without asking others."""


class TestGolden:
    def test_page(self, golden: Golden) -> None:
        golden(body(P, LINKS), "page.md")

    def test_page_of_a_file_write(self, golden: Golden) -> None:
        text = "# Opening hours\n\nMon-Fri 9-17 | closed on Sunday\n" * 12
        write = Planned(
            effects=[{"what": "file /srv/docs/hours.md", "before": "sha256:aa", "after": text}],
            preview="--- hours.md\n+++ hours.md\n@@ -1 +1 @@\n-Mon-Fri 9-18\n+Mon-Fri 9-17\n",
            cost={"amount": "0.02", "unit": "EUR"},
        )
        arguments = {"path": "/srv/docs/hours.md", "content": text}
        proposal = planned(write, arguments, summary="Write /srv/docs/hours.md")
        two = replace(proposal, identities=frozenset({5, 6}), said="First line.\nSecond line.")
        golden(body(two, LINKS), "page-file.md")

    def test_page_of_a_hostile_plan(self, golden: Golden) -> None:
        golden(body(nasty(), LINKS), "page-hostile.md")

    def test_page_of_a_plan_that_does_not_fit(self, golden: Golden) -> None:
        golden(body(huge(), LINKS), "page-huge.md")

    def test_page_of_an_undo(self, golden: Golden) -> None:
        tool = {**TOOL, "undo": False, "verb": "undo"}
        back = Planned(
            effects=[
                {"what": f"customers {row}, active", "before": False, "after": True}
                for row in (17, 23, 31)
            ]
        )
        undo = replace(
            P,
            pinned=pin(tool, ARGUMENTS, back),
            summary="Undo: Deactivate 3 customers in crm.db",
            said="",
            undoes="p_0a1b",
            asked_by={"id": 9, "login": "lee"},
        )
        golden(body(undo, LINKS), "page-undo.md")

    @pytest.mark.parametrize("proposal", ANNOUNCED.values(), ids=ANNOUNCED)
    def test_page_of_what_asked_nobody(
        self, golden: Golden, request: pytest.FixtureRequest, proposal: Proposal
    ) -> None:
        name = request.node.callspec.id
        whole = f"{title(proposal)}\n\n{body(proposal, LINKS)}"
        golden(f"{whole}\n---\n\n{outcome_comment(proposal, LINKS)}", f"page-{name}.md")

    def test_page_when_nobody_can_approve(self, golden: Golden) -> None:
        golden(body(replace(P, policy=""), LINKS), "page-no-rule.md")

    @pytest.mark.parametrize(
        ("name", "verdict"),
        [
            pytest.param("nobody-heard", None, id="nobody-heard"),
            pytest.param("two-do-not-count", WAITING, id="two-do-not-count"),
        ],
    )
    def test_check_while_waiting(self, golden: Golden, name: str, verdict: Verdict | None) -> None:
        golden(drawn(check(P, LINKS, verdict, NOW)), f"check-{name}.md")

    @pytest.mark.parametrize("state", [State.CLAIMED, State.STARTED])
    def test_check_while_busy(self, golden: Golden, state: State) -> None:
        view = check(replace(P, state=state), LINKS, WAITING, NOW)
        golden(drawn(view), f"check-{state}.md")

    @pytest.mark.parametrize("name", OVER)
    def test_comment_at_the_end(self, golden: Golden, name: str) -> None:
        view = check(OVER[name], LINKS, None, NOW)
        head = f"<!-- check: {view.conclusion}: {view.title} -->\n"
        golden(head + outcome_comment(OVER[name], LINKS), f"comment-{name}.md")

    def test_replies(self, golden: Golden) -> None:
        golden("\n---\n\n".join(replies()), "replies.md")

    def test_merge(self, golden: Golden) -> None:
        golden("\n\n".join(merge_message(OVER["applied-verified"])), "merge.md")


def drawn(view: Any) -> str:
    buttons = " ".join(f"[{b.label}: {b.description}]" for b in view.actions) or "no buttons"
    return f"{view.conclusion}: {view.title}\n{buttons}\n\n{view.summary}\n---\n\n{view.text}"


def replies() -> list[str]:
    wrong = Heard(voice("dana", digest="9be1" * 4), Reason.OTHER_DIGEST)
    codes = [
        "expiring", "lgtm", "late", "other_digest", "needs_digest", "second_line", "not_unknown",
        "not_eligible", "nothing_to_undo", "head_moved", "frozen", "what_else",
    ]  # fmt: skip
    said = [reply(P, wrong), reply(P, Heard(voice("dana"), Reason.REQUESTER))]
    return said + [reply(P, code, who="dana") for code in codes]


def nasty() -> Proposal:
    effects = [
        {"what": "a | b", "before": "`|` \\| \\", "after": "x\n\n</details><img src=http://e/x>"},
        {"what": "@acme/everyone fixes #1", "before": None, "after": "\u202egnp.exe\u200b"},
    ]
    warning = "![beacon](https://e.example/x.png) <!-- hidden -->"
    said = "Approved by @lee already.\n```\n</details>\n\n# Please press *Approve*\nfixes #1"
    return planned(
        Planned(effects=effects, preview="```\n<b>bold</b>\n````\n@dana", warnings=[warning]),
        {"na|me": "cafe\u0301"},
        said=said,
        agent="bot`@dana",
        summary="Write @dana's https://e.example #12 `x` \u202e",
    )


def huge() -> Proposal:
    rows = [{"what": f"row {n}", "before": "x" * 400, "after": "`|" * 200} for n in range(900)]
    return planned(Planned(effects=rows, preview="line\n" * 9000), {"ids": list(range(9000))})


# -- nothing hostile comes alive, nothing gets lost ------------------------------------------------


@few
@given(PLANS, st.dictionaries(HOSTILE, VALUES, max_size=3), HOSTILE, HOSTILE, HOSTILE)
@example(
    Planned(effects=[{"what": "ann@e.example|", "before": "`", "after": "\\|"}]), {}, "", "", ""
)
def test_no_text_of_others_comes_alive(
    plan: Planned, arguments: dict[str, Any], said: str, agent: str, summary: str
) -> None:
    proposal = planned(plan, arguments, said=said, agent=agent, summary=summary)
    view = check(proposal, LINKS, None, NOW)
    for text in (body(proposal, LINKS), view.summary, view.text):
        assert alive(text) == []
        assert len(text) <= LONGEST
    for line in (title(proposal), *merge_message(proposal)):
        assert [name for name, live in LIVE.items() if live.search(line)] == []


@few
@given(PLANS, st.dictionaries(HOSTILE, VALUES, max_size=3))
def test_the_exact_plan_can_be_read_back_from_the_page(
    plan: Planned, arguments: dict[str, Any]
) -> None:
    proposal = planned(plan, arguments)
    for text in (body(proposal, LINKS), check(proposal, LINKS, None, NOW).text):
        whole = [c for c in read(text).codes if c.startswith("{\n")]
        assert proposal.plan.plan in [json.loads(c) for c in whole]


@few
@given(EFFECTS.filter(bool))
def test_the_table_loses_no_value_of_an_effect(effects: list[dict[str, Any]]) -> None:
    proposal = planned(Planned(effects=effects))
    listed: Any = proposal.plan.plan["effects"]
    rows = read(body(proposal, LINKS)).rows[1 : 1 + len(listed)]
    for effect, (_, before, after) in zip(listed, rows, strict=True):
        for side, shown in (("before", before), ("after", after)):
            text = visible(json_text(effect[side])) if side in effect else "(not said)"
            cut_ = re.sub(r" and [\d,]+ more characters?\Z", "", shown)
            assert spelled(text).startswith(spelled(cut_))
            assert cut_ != shown or spelled(text) == spelled(shown)


def spelled(text: str) -> str:
    """A pipe after a backslash is spelled out, as renderers disagree about it."""
    return text.replace("\\|", "\\\\u007c")


@given(HOSTILE)
def test_a_cell_is_one_cell(text: str) -> None:
    drawn_, taken = table(["a", "b"], [[cell(text, 10_000), cell("end")]], 10_000)
    [_, row] = read(drawn_).rows
    assert taken == 1
    assert row[1] == "end"
    assert spelled(row[0]) == (spelled(visible(text)) or "(empty)")


@given(HOSTILE)
def test_a_fence_is_one_block(text: str) -> None:
    seen = read(fence(text) + "\n\nafter")
    assert seen.codes == [visible(text, lines=True) + "\n"]
    assert seen.loud.strip() == "after"


@few
@given(HOSTILE)
def test_the_agents_words_are_all_there_and_quoted(said: str) -> None:
    proposal = replace(P, said=said)
    codes = read(body(proposal, LINKS)).codes
    if said.strip():
        words = said.replace("\r\n", "\n").strip("\n")
        assert codes[-1].removesuffix("\n") == visible(words, lines=True)
    else:
        assert "agent says" not in body(proposal, LINKS)


@few
@given(st.dictionaries(st.sampled_from([*AT, "basis", "why", "checks", "differences", "result",
                                        "reason", "outcome", "end"]), VALUES),
       st.sampled_from(sorted(State)), HOSTILE)  # fmt: skip
def test_no_outcome_breaks_the_comment(outcome: dict[str, Any], state: State, why: str) -> None:
    proposal = replace(P, state=state, outcome=outcome, why=why, reason=why or None)
    text = outcome_comment(proposal, LINKS)
    assert alive(text) == []
    assert len(text) <= LONGEST
    merge_message(proposal)


@few
@given(
    st.lists(st.fixed_dictionaries({"pointer": HOSTILE, "before": VALUES, "after": VALUES})),
    st.lists(st.fixed_dictionaries({"login": HOSTILE, "surface": HOSTILE})),
    HOSTILE,
)
def test_no_difference_or_login_comes_alive(
    differences: list[Any], people: list[Any], why: str
) -> None:
    for state in (State.ENDED, State.FAILED, State.UNKNOWN, State.APPLIED):
        outcome = {"differences": differences, "approved_by": people, "why": why}
        proposal = replace(P, state=state, reason="drifted", outcome=outcome)
        found = alive(outcome_comment(proposal, LINKS))
        logins = {p["login"] for p in people}
        assert [
            f for f in found if f.removeprefix("a mention @") not in {n[:1] for n in logins}
        ] == []
        assert alive(check(proposal, LINKS, None, NOW).summary) == []


@pytest.mark.parametrize("name", ["applied-verified", "failed", "unknown", "rejected"])
def test_the_comment_calls_the_approvers_and_the_check_calls_nobody(name: str) -> None:
    called = "a mention @l" in alive(outcome_comment(OVER[name], LINKS))
    assert called is (name != "rejected")
    assert alive(check(OVER[name], LINKS, None, NOW).summary) == []


def test_hidden_characters_are_spelled_and_counted() -> None:
    text = body(nasty(), LINKS)
    assert "**Look closely.** 2 hidden characters" in text
    assert "\\u202egnp.exe\\u200b" in text
    assert "Some letters are written in an unusual way" in text
    assert "Look closely" not in body(P, LINKS)


def test_an_excerpt_says_how_much_is_missing() -> None:
    assert excerpt("x" * 120, 100).endswith("Cut here: 20 more characters.")


# -- what does not fit -----------------------------------------------------------------------------


def test_a_plan_that_does_not_fit_says_its_size_and_where_it_is() -> None:
    text = body(huge(), LINKS)
    assert len(text) <= LONGEST
    assert huge().plan.digest in text
    assert re.search(r"too long to be shown here\*\* \([\d,]+ bytes", text)
    assert f"({LINKS.plan(huge())})" in text
    assert "And 8" in text  # hundreds of rows that are not drawn
    assert "press *Approve*" not in text


def test_a_plan_that_does_not_fit_gets_no_approve_button() -> None:
    view = check(huge(), LINKS, None, NOW)
    assert [b.identifier for b in view.actions] == ["reject", "replan"]
    assert "cannot be approved with a button" in view.summary
    assert len(view.text) <= LONGEST


@pytest.mark.parametrize("size", [20_000, 40_000, 50_000, 55_000, 60_000, 80_000])
def test_whatever_the_size_the_page_fits_and_a_button_means_whole(size: int) -> None:
    proposal = planned(Planned(effects=[{"what": "x", "after": "y" * size}]))
    view = check(proposal, LINKS, None, NOW)
    assert max(len(body(proposal, LINKS)), len(view.text)) <= LONGEST < GITHUB_TAKES
    assert ("approve" in {b.identifier for b in view.actions}) is ("y" * size in view.text)


# -- what the page depends on ----------------------------------------------------------------------


@pytest.mark.parametrize("name", OVER)
def test_the_page_never_changes(name: str) -> None:
    later = replace(OVER[name], verdict={"decision": "ended"}, evidence_rev=9, why="because")
    assert body(later, LINKS) == body(P, LINKS)
    assert title(later) == title(P)


def test_the_first_eight_lines_say_all_that_a_phone_must_show() -> None:
    first = [line for line in body(P, LINKS).splitlines() if line][:8]
    for words in ("Placet does", "Asked by", "Yes", "No:", "Needed", "until", "undone", "Costs"):
        assert any(words in line for line in first)


def test_people_are_named_when_they_are_known() -> None:
    seen = replace(P, behind={"dana": 5}, candidates={"noor": 7, "lee": 9})
    assert "working for `@dana`, who cannot approve it" in body(seen, LINKS)
    assert "- **The rule means:** `@lee`, `@noor`\n" in body(seen, LINKS)
    assert "**Can still approve:** `@lee`, `@noor`." in check(seen, LINKS, None, NOW).summary
    counts = Verdict(Decision.WAITING, (), (Heard(voice("lee", minute=9)),), P.expires)
    assert "**Can still approve:** `@noor`." in check(seen, LINKS, counts, NOW).summary


@pytest.mark.parametrize(
    ("guarded", "weakness", "line"),
    [
        pytest.param(True, "", "", id="reviewed"),
        pytest.param(False, "no review", "- **Weak spot:** no review\n", id="not-reviewed"),
        pytest.param(None, "no way", "- **Not sure:** no way\n", id="nobody-can-tell-and-why"),
        pytest.param(None, "", "", id="nobody-can-tell"),
    ],
)
def test_a_policy_that_nobody_need_review_is_a_weak_spot_where_it_is_known(
    *, guarded: bool | None, weakness: str, line: str
) -> None:
    seen = replace(P, policy_guarded=guarded, policy_weakness=weakness)
    for text in (body(seen, LINKS), check(seen, LINKS, None, NOW).summary):
        assert line in text
        assert ("Weak spot" in text or "Not sure" in text) is bool(line)


def test_a_rule_for_other_agents_says_that_nobody_can_approve() -> None:
    policy = POLICY.replace("    require", "    requesters: [agent:other]\n    require", 1)
    seen = replace(P, policy=policy)
    assert "takes no requests of this agent" in body(seen, LINKS)
    view = check(seen, LINKS, None, NOW)
    assert view.title == "Nobody can approve: this agent may not ask for it"
    assert "**Needed:** nobody can approve" in view.summary


@pytest.mark.parametrize(
    ("identities", "behind", "words"),
    [
        pytest.param(0, {}, "working for nobody in particular", id="nobody"),
        pytest.param(1, {}, "working for 1 person, who", id="one-unknown"),
        pytest.param(3, {}, "working for 3 people, who", id="three-unknown"),
        pytest.param(2, {"dana": 1}, "working for `@dana` and 1 other, who", id="one-of-two"),
        pytest.param(4, {"dana": 1}, "working for `@dana` and 3 others, who", id="one-of-four"),
        pytest.param(2, {"ed": 2, "dana": 1}, "working for `@dana` and `@ed`, who", id="both"),
    ],
)
def test_everyone_behind_the_agent_is_named_or_counted(
    identities: int, behind: dict[str, int], words: str
) -> None:
    ids = frozenset(range(1, identities + 1))
    assert words in body(replace(P, identities=ids, behind=behind), LINKS)


def test_a_long_list_of_names_is_cut_and_says_so() -> None:
    many = {f"p{n:02}": n for n in range(1, 14)}
    assert "`@p10` and 3 more" in body(replace(P, candidates=many), LINKS)


def test_whoever_pushed_to_the_branch_is_not_offered() -> None:
    seen = replace(P, candidates={"noor": 7}, contributors=frozenset({7}))
    assert "Can still approve" not in check(seen, LINKS, None, NOW).summary


def test_a_policy_without_buttons_offers_none() -> None:
    quiet = replace(P, policy=POLICY.replace("expires: 4h", "surfaces: [review]"))
    assert [b.identifier for b in check(quiet, LINKS, None, NOW).actions] == ["reject", "replan"]
    assert "**Yes:** submit an *Approve* review. The button *Merge*" in body(quiet, LINKS)


def test_an_unknown_undo_is_not_called_possible() -> None:
    plan = P.plan.plan | {"tool": {**TOOL, "undo": False}}
    assert "undone:** no." in body(replace(P, pinned=Pinned(plan, {}, P.plan.digest)), LINKS)


# -- titles, views and paths -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("summary", "shown"),
    [
        pytest.param(
            "Refund 120.00 EUR to order 8841", "Refund 120.00 EUR to order 8841", id="plain"
        ),
        pytest.param("Mail @dana", "Mail @ dana", id="mention"),
        pytest.param("Mail ann@e.example", "Mail ann@e.example", id="e-mail-stays"),
        pytest.param("fixes #12", "fixes # 12", id="closing-keyword"),
        pytest.param("fixes GH-12", "fixes GH- 12", id="other-reference"),
        pytest.param("see https://e.example", "see https: //e.example", id="address"),
        pytest.param("a\nb\u202ec", r"a b\u202ec", id="line-end-and-bidi"),
        pytest.param("x" * 80, "x" * 71 + "…", id="too-long"),
        pytest.param("", "Run db.update_rows", id="none"),
    ],
)
def test_title(summary: str, shown: str) -> None:
    assert title(replace(P, summary=summary)) == shown


@given(HOSTILE)
def test_a_title_is_one_short_line(summary: str) -> None:
    line = title(replace(P, summary=summary))
    assert 0 < len(line) <= 72
    assert visible(line) == line


@pytest.mark.parametrize("state", sorted(State))
def test_every_state_has_a_view_within_githubs_limits(state: State) -> None:
    view = check(replace(P, state=state), LINKS, None, NOW)
    assert 0 < len(view.title) <= 72
    assert view.summary.strip()
    for button in view.actions:
        assert len(button.label) <= 20
        assert len(button.description) <= 40
        assert len(button.identifier) <= 20
    assert bool(view.actions) is (state in {State.PINNED, State.OPEN, State.APPLIED})


@pytest.mark.parametrize(
    ("more", "buttons"),
    [
        pytest.param({}, ["undo"], id="done-and-undoable"),
        pytest.param({"undone_by": "p_2"}, [], id="undone-already"),
        pytest.param({"state": State.FAILED}, [], id="failed"),
        pytest.param({"state": State.UNKNOWN}, [], id="unknown"),
        pytest.param({"pinned": pin({**TOOL, "undo": False}, {}, PLANNED)}, [], id="irreversible"),
    ],
)
def test_undo_is_offered_where_it_can_be_asked_for(
    more: dict[str, Any], buttons: list[str]
) -> None:
    proposal = replace(OVER["applied-verified"], **more)
    assert [b.identifier for b in check(proposal, LINKS, None, NOW).actions] == buttons
    assert ("comment `/undo`" in outcome_comment(proposal, LINKS)) is bool(buttons)


def test_what_a_tool_says_against_an_undo_stays_text() -> None:
    why = "@dana fixes #1 <img src=x>"
    for reason in ("undo_conflict", "tool_failed"):
        refused = replace(P, state=State.ENDED, place=None, reason=reason, why=why)
        assert why in read(undo_reply(refused)).codes
        assert alive(undo_reply(refused)) == []
    assert undo_reply(replace(P, state=State.PINNED)) == ""


@pytest.mark.parametrize("decision", [Decision.ENDED, Decision.APPROVED])
def test_nothing_can_be_pressed_once_it_is_decided(decision: Decision) -> None:
    found = (Finding(Reason.EXPIRED, "it expired"),) if decision is Decision.ENDED else ()
    verdict = Verdict(decision, found, (), P.expires)
    assert check(P, LINKS, verdict, NOW).actions == ()


@pytest.mark.parametrize("reason", sorted(REASONS))
@pytest.mark.parametrize(
    "text", ["<img src=x>", "@dana", "fixes #1", "`@dana", "https://e.example"]
)
def test_no_finding_comes_alive(reason: Reason, text: str) -> None:
    finding = Finding(reason, text, who=text)
    verdict = Verdict(Decision.WAITING, (finding,), (), P.expires)
    assert alive(check(P, LINKS, verdict, NOW).summary) == []
    assert alive(reply(P, finding)) == []


def test_a_proposal_without_a_plan_is_planning() -> None:
    bare = replace(P, pinned=None, state=State.PLANNING)
    assert check(bare, LINKS, None, NOW).title == "Planning: nothing has been changed"


def test_paths_are_those_of_the_ledger() -> None:
    late = replace(P, created=datetime(2027, 1, 1, 1, 0, tzinfo=UTC))
    assert plan_path(P) == "proposals/2026/12/p_1f0c/plan.json"
    assert statement_path(late, "end.json") == "proposals/2027/01/p_1f0c/end.json"


def test_an_address_is_ours_whatever_a_repository_is_called() -> None:
    odd = replace(LINKS, repository="acme/a b)](http://e.example")
    assert " " not in odd.plan(P)
    assert ")" not in odd.plan(P)


def test_a_merge_message_ends_in_trailers() -> None:
    first, text = merge_message(OVER["applied-verified"])
    assert first == "Placet: Deactivate 3 customers in crm.db"
    assert text.splitlines()[-2:] == [
        "Placet-Approved-By: lee (9, review)",
        "Placet-Outcome: applied (verified)",
    ]


def test_a_login_that_is_no_trailer_is_left_out() -> None:
    people = [{"login": "lee\nPlacet-Outcome: applied", "id": 9, "surface": "review"}]
    _, text = merge_message(over(State.FAILED, approved_by=people))
    assert "Approved-By" not in text


@pytest.mark.parametrize("state", sorted(State))
def test_every_reply_says_what_happened_and_what_to_do(state: State) -> None:
    for code in ["expiring", "lgtm", "late", "unheard_of", *REASONS]:
        first, _, then = reply(replace(P, state=state), code, who="dana").partition("\n\n")
        assert first.startswith("@dana, ")
        assert then.strip()


def test_the_plan_shown_is_the_plan_in_the_file() -> None:
    file = json.loads(plan_file(nasty().plan.plan, {}, {}))
    [shown] = [c for c in read(body(nasty(), LINKS)).codes if c.startswith("{\n")]
    assert json.loads(shown) == file["plan"]


def test_permissions_are_words_of_the_page() -> None:
    for permission in PERMISSIONS:
        policy = POLICY.replace("expires: 4h", f"permission: {permission}")
        assert f"with {permission} access" in body(replace(P, policy=policy), LINKS)
