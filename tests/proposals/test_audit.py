"""A ledger is proven from its files alone, and every way to tamper with it has its own words."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.facts import Person
from proposals.audit import Change, Commit, File, Kept, Keys, Ledger, Report, Weight, audit
from proposals.canonical import digest
from proposals.evidence import BadEvidence, evidence_of, scene_of, stamp
from proposals.flow.statements import plan_bytes
from proposals.receipt import Signer
from tests.books import (
    BLOB,
    LEE,
    NOW,
    OTHER,
    POLICY,
    REQUESTER,
    SIGNER,
    Book,
    book,
    proposal,
    scene,
)

Files = list[File]
FIRST, SECOND, THIRD = (proposal(n).id for n in (1, 2, 3))


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 2**53 - 1) | st.text(max_size=4),
    lambda inside: st.lists(inside, max_size=2) | st.dictionaries(st.text(max_size=3), inside),
    max_leaves=3,
)


def audited(ledger: Ledger, kept: list[Kept] | None = None, trust: Signer = SIGNER) -> Report:
    return audit(ledger, Keys.of([trust.keyid], [], ledger.files), kept)


def codes(report: Report) -> set[str]:
    return {finding.code for finding in report.findings}


def edited(name: str, change: Callable[[str], str]) -> Callable[[Files], Files]:
    """Somebody edits one file's text."""

    def edit(files: Files) -> Files:
        [one] = [f for f in files if f.path.endswith(name)]
        assert one.data
        text = change(one.data.decode())
        assert text != one.data.decode(), "nothing was edited"
        return [replace(f, data=text.encode()) if f is one else f for f in files]

    return edit


def without(name: str) -> Callable[[Files], Files]:
    return lambda files: [f for f in files if not f.path.endswith(name)]


def test_an_untouched_ledger_is_clean() -> None:
    report = audited(book().ledger())
    assert report.findings == ()
    assert report.notes == (), "nothing was left unlooked at"
    assert (report.statements, report.last, report.clean) == (5, 5, True)
    assert [(r.proposal, r.outcome, r.approved_by) for r in report.rows] == [
        (FIRST, "applied (verified)", ("lee (review)",)),
        (SECOND, "applied (verified)", ("lee (review)",)),
        (THIRD, "ended (rejected)", ()),
    ]


def test_an_empty_ledger_is_clean_and_says_nothing() -> None:
    report = audited(Book().ledger())
    assert (report.clean, report.statements, report.rows) == (True, 0, ())


def swap_readable_approvals(files: Files) -> Files:
    """Exchange the approvals that people read in the two starts."""
    both = {f.path: json.loads(f.data or b"") for f in files if f.path.endswith("start.json")}
    [a, b] = both.values()
    one, two = a["statement"]["predicate"], b["statement"]["predicate"]
    one["approvals"], two["approvals"] = two["approvals"], one["approvals"]
    write = {path: json.dumps(said, indent=2, sort_keys=True) + "\n" for path, said in both.items()}
    return [replace(f, data=write[f.path].encode()) if f.path in write else f for f in files]


def resigned(files: Files) -> Files:
    """Somebody signs the second proposal's end again, with a key of their own."""
    other = book()
    other.signer = OTHER
    theirs = {f.path: f for f in other.files()}
    path = f"proposals/2026/11/{SECOND}/end.json"
    return [theirs[f.path] if f.path == path else f for f in files]


def moved(files: Files) -> Files:
    """The rejected proposal gets the second one's start."""
    [start] = [f for f in files if f.path.endswith(f"{SECOND}/start.json")]
    return [*files, replace(start, path=start.path.replace(SECOND, THIRD))]


def move_plan(files: Files) -> Files:
    """The rejected proposal gets the first one's plan."""
    [plan] = [f for f in files if f.path.endswith(f"{FIRST}/plan.json")]
    return [*files, replace(plan, path=plan.path.replace(FIRST, THIRD))]


def start_as_end(files: Files) -> Files:
    [start] = [f for f in files if f.path.endswith(f"{FIRST}/start.json")]
    return [*files, replace(start, path=start.path.replace("start.json", "end-2.json"))]


def doubled_key(text: str) -> str:
    return text.replace('"plan": {', '"plan": {},\n  "plan": {', 1)


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        pytest.param(
            edited(f"{FIRST}/plan.json", lambda t: t.replace('"n": 1', '"n": 100')),
            "wrong_subject",
            "the plan was edited",
            id="edited-plan",
        ),
        pytest.param(
            edited(f"{FIRST}/plan.json", lambda t: t + "\n"),
            "wrong_rendering",
            "its bytes are not those that Placet wrote",
            id="edited-spaces-of-a-plan",
        ),
        pytest.param(
            edited(f"{FIRST}/plan.json", doubled_key),
            "not_canonical",
            "plan",
            id="duplicate-key-in-plan",
        ),
        pytest.param(
            edited(f"{FIRST}/end.json", lambda t: t.replace('"verified"', '"asserted"')),
            "readable_differs",
            "the readable part was edited",
            id="readable-part-differs",
        ),
        pytest.param(
            swap_readable_approvals, "readable_differs", "what people read", id="swapped-approvals"
        ),
        pytest.param(
            edited(
                f"{FIRST}/end.json", lambda t: t.replace('"payload": "eyJf', '"payload": "eyJg')
            ),
            "bad_signature",
            "what it signs was changed afterwards",
            id="edited-signed-part",
        ),
        pytest.param(
            without(f"{FIRST}/end.json"), "gap", "number 2 is missing", id="deleted-statement"
        ),
        pytest.param(
            without(f"{FIRST}/start.json"),
            "no_start",
            "nobody's approval is recorded",
            id="end-without-start",
        ),
        pytest.param(
            without(f"{FIRST}/end.json"), "no_end", "no end is recorded", id="start-without-end"
        ),
        pytest.param(
            resigned, "wrong_key", "a key that you do not trust", id="signed-with-a-new-key"
        ),
        pytest.param(moved, "moved", "it was moved", id="moved-to-another-folder"),
        pytest.param(moved, "fork", "two statements have the number 3", id="twice-the-number"),
        pytest.param(move_plan, "plan_moved", "signed for another proposal", id="moved-plan"),
        pytest.param(
            edited(f"{FIRST}/end.json", lambda t: t.replace('"signatures"', '"signed"')),
            "not_an_envelope",
            "no signature",
            id="no-signature",
        ),
        pytest.param(
            start_as_end, "wrong_predicate", "signed as something else", id="start-as-an-end"
        ),
        pytest.param(
            lambda files: [replace(f, mode="120000") for f in files],
            "not_a_file",
            "no plain file",
            id="links-instead-of-files",
        ),
        pytest.param(
            lambda files: [replace(f, data=None) for f in files],
            "too_large",
            "larger than anything",
            id="files-too-large-to-read",
        ),
    ],
)
def test_tampering_with_files_is_found(
    change: Callable[[Files], Files], code: str, words: str
) -> None:
    report = audited(book().ledger(change))
    [found, *_] = [f for f in report.findings if f.code == code] or [None]
    assert found is not None, report.findings
    assert words in found.why
    assert found.path
    assert found.commit
    assert found.weight is Weight.GRAVE


def predicate_of(made: Book, place: int) -> dict[str, Any]:
    return made.said[place].predicate


def swap_signed_approvals(made: Book) -> None:
    a, b = predicate_of(made, 0), predicate_of(made, 2)
    a["approvals"], b["approvals"] = b["approvals"], a["approvals"]


def approve_oneself(made: Book) -> None:
    predicate_of(made, 0)["approvals"][0] |= {"id": REQUESTER, "login": "dana"}
    predicate_of(made, 1)["approved_by"][0] |= {"id": REQUESTER, "login": "dana"}


def hide_the_requester(made: Book) -> None:
    """The start forgets whom the agent works for; the plan that people were shown does not."""
    approve_oneself(made)
    predicate_of(made, 0)["identities"] = []
    predicate_of(made, 0)["excluded"]["identities"] = []


def approve_what_one_asked_for(made: Book) -> None:
    predicate_of(made, 0)["asked_by"] = {"id": LEE, "login": "lee"}


def hide_who_asked(made: Book) -> None:
    """The start forgets who asked; the plan that people were shown does not."""
    made.plans[FIRST] = replace(made.plans[FIRST], asked_by={"id": LEE, "login": "lee"})


def with_key(place: int, **changes: Any) -> Callable[[Book], None]:
    return lambda made: predicate_of(made, place).update(changes)


def change_approval(**changes: Any) -> Callable[[Book], None]:
    return lambda made: predicate_of(made, 0)["approvals"][0].update(changes)


def weaken_the_rule(made: Book) -> None:
    for rule in predicate_of(made, 0)["rules"]:
        rule["matched"] = rule["matched"] | {"permission": "read"}


def forget_the_current_policy(made: Book) -> None:
    predicate_of(made, 0)["rules"].pop()


def end_first(made: Book) -> None:
    made.said[0], made.said[1] = made.said[1], made.said[0]


def without_number(made: Book) -> None:
    made.said[0].seq = -1


def freeze(made: Book) -> None:
    times = {"from": "2026-11-30T00:00Z", "until": "2026-12-01T00:00Z", "reason": "a holiday"}
    predicate_of(made, 0)["rules"][0]["freeze"] = [times]


def leave_out(place: int) -> Callable[[Book], None]:
    return lambda made: made.said.pop(place) and None


def renumber(made: Book) -> None:
    made.said[3].seq, made.said[4].seq = 14, 15


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        pytest.param(
            swap_signed_approvals, "not_approved", "another commit", id="swapped-approvals"
        ),
        pytest.param(
            with_key(0, approvals=[]), "no_approvals", "nobody's approval", id="no-approvals"
        ),
        pytest.param(approve_oneself, "requester_approved", "@dana", id="approver-in-identities"),
        pytest.param(
            approve_what_one_asked_for, "asker_approved", "@lee asked for it", id="asked-for-it"
        ),
        pytest.param(approve_what_one_asked_for, "not_approved", "still needed", id="asker-anew"),
        pytest.param(hide_who_asked, "asker_approved", "@lee asked for it", id="asker-hidden"),
        pytest.param(hide_the_requester, "requester_approved", "@dana", id="requester-hidden"),
        pytest.param(
            change_approval(permission="read"), "not_approved", "access", id="reader-approved"
        ),
        pytest.param(
            change_approval(id=77, login="eve", teams=[]),
            "not_approved",
            "1 person of @lee or acme/data still needed",
            id="not-in-the-group",
        ),
        pytest.param(
            change_approval(at=stamp(NOW - timedelta(minutes=31))),
            "not_approved",
            "older",
            id="older-than-the-page",
        ),
        pytest.param(
            with_key(0, judged=stamp(NOW + timedelta(minutes=40))),
            "not_approved",
            "still needed",
            id="lapsed",
        ),
        pytest.param(
            with_key(0, started=stamp(NOW + timedelta(hours=5))),
            "started_late",
            "did not start while it was approved",
            id="started-after-it-lapsed",
        ),
        pytest.param(weaken_the_rule, "other_rule", BLOB[:12], id="rule-is-not-the-policy's"),
        pytest.param(forget_the_current_policy, "no_policy", "current", id="policy-left-out"),
        pytest.param(with_key(0, rules=[]), "no_evidence", "rules", id="no-rules"),
        pytest.param(with_key(0, rules="all"), "no_evidence", "rules", id="rules-are-nonsense"),
        pytest.param(leave_out(0), "no_start", "no start", id="end-without-start"),
        pytest.param(leave_out(1), "no_end", "no end", id="start-without-end"),
        pytest.param(renumber, "gap", "number 4 to 13 is missing", id="gap-in-the-numbers"),
        pytest.param(with_key(0, plan={}), "other_plan", "another digest", id="other-plan-inside"),
        pytest.param(
            with_key(1, approved_by=[{"id": 3, "key": "review:3"}]),
            "other_approvals",
            "different approvals",
            id="end-names-other-approvals",
        ),
        pytest.param(with_key(1, nonce="0"), "other_claim", "another start", id="other-nonce"),
        pytest.param(
            with_key(4, repository=7), "other_repository", "another repository", id="replayed"
        ),
        pytest.param(with_key(4, created="2026-10-30"), "moved", "month", id="other-month"),
        pytest.param(
            with_key(1, outcome="ended"), "contradiction", "there is a start", id="contradiction"
        ),
        pytest.param(
            with_key(0, target={"repository": 5}), "no_evidence", "whose page", id="other-form"
        ),
        pytest.param(with_key(0, head="HEAD"), "no_head", "no commit", id="no-commit-approved"),
        pytest.param(end_first, "wrong_order", "before it started", id="ended-before-it-started"),
        pytest.param(without_number, "no_number", "no number", id="no-number"),
        pytest.param(freeze, "not_approved", "frozen until", id="frozen"),
    ],
)
def test_even_who_holds_the_key_cannot_sign_what_should_not_be(
    change: Callable[[Book], object], code: str, words: str
) -> None:
    made = book()
    change(made)
    report = audited(made.ledger())
    assert code in codes(report), report.findings
    assert any(words in f.why for f in report.findings if f.code == code), report.findings


UNDO = replace(proposal(7), undoes=FIRST)


def said_later(*facts: tuple[str, dict[str, Any]]) -> Book:
    """A ledger on which something is said of the first proposal afterwards."""
    made = book()
    for kind, said in facts:
        made.later(proposal(1), kind, **said)
    return made


def undone(by: str = UNDO.id, digest_: str = UNDO.plan.digest) -> dict[str, Any]:
    return {"fact": "undone", "undone_by": {"proposal": by, "digest": digest_}}


@pytest.mark.parametrize(
    ("made", "code", "words"),
    [
        pytest.param(
            said_later(("end-2", {"outcome": "failed", "basis": "asserted"})),
            "contradiction",
            "only an unknown outcome is settled later",
            id="second-outcome",
        ),
        pytest.param(
            said_later(("end-2", {"outcome": "applied"})),
            "contradiction",
            "had said applied",
            id="the-same-outcome-again",
        ),
        pytest.param(
            said_later(("end-2", undone())), "undo_unproven", "no such undo", id="forged-undo"
        ),
        pytest.param(
            said_later(("end-2", undone(SECOND, proposal(2).plan.digest))),
            "undo_unproven",
            "no such undo",
            id="undone-by-what-was-no-undo",
        ),
        pytest.param(
            said_later(("end-2", {"fact": "praised"})), "strange_fact", "praised", id="other-fact"
        ),
        pytest.param(
            said_later(("end-3", undone()), ("end-2", undone())),
            "wrong_order",
            "it was written before",
            id="written-before-the-earlier-one",
        ),
    ],
)
def test_what_is_said_later_must_follow_from_what_was_said(
    made: Book, code: str, words: str
) -> None:
    report = audited(made.ledger())
    assert code in codes(report), report.findings
    assert any(words in f.why for f in report.findings if f.code == code), report.findings


def with_undo() -> Book:
    made = book()
    made.ran(UNDO)
    made.later(proposal(1), "end-2", **undone())
    return made


def test_an_undo_is_believed_by_its_own_statements() -> None:
    report = audited(with_undo().ledger())
    assert (report.findings, report.notes) == ((), ())
    assert report.rows[0].outcome == "applied (verified), undone"


@pytest.mark.parametrize(
    "digest_", [proposal(1).plan.digest, ""], ids=["of-another-plan", "without-one"]
)
def test_an_undo_with_another_digest_is_not_believed(digest_: str) -> None:
    made = with_undo()
    made.said[-1].predicate["undone_by"]["digest"] = digest_
    assert codes(audited(made.ledger())) == {"undo_unproven"}


def test_an_undo_that_the_original_does_not_name_is_a_note() -> None:
    made = with_undo()
    made.said.pop()
    report = audited(made.ledger())
    assert report.clean
    assert "does not say so yet" in report.notes[0]


def unknown(*later: dict[str, Any]) -> Book:
    """A proposal that ended unknown, and what was said of it afterwards."""
    made = Book()
    made.ran(proposal(1))
    made.said[1].predicate["outcome"] = "unknown"
    del made.said[1].predicate["basis"]
    made.commits.clear()
    for part, said in enumerate(later, 2):
        made.later(proposal(1), f"end-{part}", **said)
    return made


def test_an_unknown_outcome_is_no_fault_and_is_said() -> None:
    report = audited(unknown().ledger())
    assert (report.clean, report.rows[0].outcome) == (True, "unknown")
    assert "unknown, not settled" in report.notes[0]


def test_what_settles_an_unknown_outcome_is_its_outcome() -> None:
    said = {"outcome": "failed", "basis": "asserted"}
    report = audited(unknown(said).ledger())
    assert (report.findings, report.notes) == ((), ())
    assert report.rows[0].outcome == "failed (asserted)"
    twice = audited(unknown(said, {"outcome": "applied"}).ledger())
    assert codes(twice) == {"contradiction"}


def test_a_late_answer_that_contradicts_is_signed_as_that_and_noted() -> None:
    late = {"fact": "contradiction", "outcome": "applied"}
    report = audited(unknown({"outcome": "failed"}, late).ledger())
    assert report.clean
    assert "said applied" in report.notes[0]
    alone = Book()
    alone.later(proposal(1), "end", **late)
    assert "contradiction" in codes(audited(alone.ledger()))


def test_a_rewritten_chain_is_found_at_the_statement_that_follows_another_one() -> None:
    made, other = book(), book()
    predicate_of(other, 1)["why"] = "it went well"
    theirs = {f.path: f for f in other.files()}
    path = f"proposals/2026/11/{FIRST}/end.json"
    report = audited(made.ledger(lambda fs: [theirs[f.path] if f.path == path else f for f in fs]))
    assert codes(report) == {"wrong_previous"}
    assert report.findings[0].path.endswith(f"{SECOND}/start.json")


def test_a_start_that_is_the_newest_statement_is_unfinished_and_no_fault() -> None:
    made = book()
    made.ran(proposal(4))
    made.said.pop()
    made.commits.pop()
    made.plans.pop(proposal(4).id)
    report = audited(made.ledger())
    assert report.clean
    assert "unfinished" in report.notes[-1]


def test_a_forged_trailer_weighs_little() -> None:
    made = book()
    forged = made.commits[0].message.replace("lee (9", "kim (4")
    made.commits[0] = Commit(made.commits[0].sha, made.commits[0].parents, forged)
    made.commits.append(Commit("f", (), "Nice\n\nPlacet-Proposal: p_1234\n"))
    report = audited(made.ledger())
    assert [(f.code, f.weight, f.commit) for f in report.findings] == [
        ("forged_trailer", Weight.LIGHT, f"m{FIRST}"),
        ("forged_trailer", Weight.LIGHT, "f"),
    ]
    assert "prove nothing" in report.findings[0].why


def test_a_file_deleted_or_changed_in_the_history_names_the_commit() -> None:
    ledger = book().ledger()
    path = f"proposals/2026/11/{FIRST}/end.json"
    changes = (Change("bad1", "M", path), Change("bad2", "D", "proposals/x"), *ledger.changes)
    report = audited(replace(ledger, changes=changes))
    assert [(f.code, f.commit) for f in report.findings] == [
        ("file_changed", "bad1"),
        ("file_deleted", "bad2"),
    ]


def together(ledger: Ledger) -> Ledger:
    """Two statements come with one commit."""
    files = (replace(f, commit="c1") if f.commit == "c2" else f for f in ledger.files)
    return replace(ledger, files=tuple(files))


def reordered(ledger: Ledger) -> Ledger:
    return replace(ledger, commits=tuple(reversed(ledger.commits)))


@pytest.mark.parametrize(
    ("change", "name", "words"),
    [
        pytest.param(together, "end.json", "several statements at once", id="squashed"),
        pytest.param(reordered, "json", "before the statement it follows", id="reordered"),
        pytest.param(
            lambda ledger: replace(ledger, reachable=frozenset()),
            "plan.json",
            "is not in the history any more",
            id="merged-commit-gone",
        ),
    ],
)
def test_a_history_written_anew_is_called_rewritten(
    change: Callable[[Ledger], Ledger], name: str, words: str
) -> None:
    report = audited(change(book().ledger()))
    assert codes(report) == {"rewritten"}
    assert words in report.findings[0].why
    assert report.findings[0].path.endswith(name)


def test_a_strange_file_is_told_of_and_nothing_relies_on_it() -> None:
    ledger = book().ledger(lambda fs: [*fs, File("proposals/../../etc/passwd", b"x", "c1")])
    [found] = audited(ledger).findings
    assert (found.code, found.weight) == ("strange_file", Weight.LIGHT)


def kept(made: Book) -> list[Kept]:
    files = [f for f in made.files() if f.path.endswith(("start.json", "end.json"))]
    said = [json.loads(f.data or b"")["statement"] for f in files]
    return [
        Kept(n, digest(s), s["predicate"]["proposal"], "start", written=True)
        for n, s in enumerate(said, 1)
    ]


def test_a_cut_tail_is_seen_with_the_store_alone() -> None:
    whole, cut = book(), book()
    cut.said.pop()
    assert audited(cut.ledger()).clean, "a clone alone cannot see it"
    assert any("cut off" in words for words in audited(cut.ledger()).cannot_see)
    [found] = audited(cut.ledger(), kept(whole)).findings
    assert found.code == "cut_off"
    assert "the ledger ends at number 4, and the store has number 5" in found.why


def test_what_the_store_does_not_know_was_written_by_another() -> None:
    made = book()
    [found] = audited(made.ledger(), kept(made)[:-1]).findings
    assert found.code == "not_in_store"


def test_a_statement_that_is_not_as_the_store_has_it_is_found() -> None:
    made, known = book(), kept(book())
    made.said[4].predicate["why"] = "other words"
    found = audited(made.ledger(), known).findings
    assert {f.code for f in found} == {"not_as_kept", "not_in_store"}
    assert "number 5" in found[0].why


def test_the_commit_that_people_approved_must_hold_the_plan() -> None:
    made = book()
    of, other = proposal(1), proposal(2)
    path = f"proposals/2026/11/{of.id}/plan.json"
    shown = {BLOB: POLICY.encode(), f"{of.at.head}:{path}": plan_bytes(other, SIGNER)}
    report = audited(replace(made.ledger(), look=shown.get))
    assert codes(report) == {"other_plan"}
    assert "the commit" in report.findings[0].why
    unmerged = replace(made.ledger(without(f"{FIRST}/plan.json")), look=shown.get)
    assert codes(audited(unmerged)) == {"plan_moved"}


def test_a_statement_in_flight_is_not_missed() -> None:
    made, known = book(), kept(book())
    made.said.pop()
    assert audited(made.ledger(), [*known[:-1], replace(known[-1], written=False)]).clean


def test_without_a_trusted_key_nothing_opens() -> None:
    report = audited(book().ledger(), trust=OTHER)
    assert codes(report) >= {"wrong_key"}
    assert (report.keys, report.statements) == ((), 0)


def test_a_trusted_key_that_no_file_carries_is_asked_for() -> None:
    files = [f for f in book().files() if f.path.endswith("plan.json")]
    ledger = replace(book().ledger(), files=tuple(files), commits=())
    assert codes(audited(ledger)) == {"no_key"}
    given = Keys.of([SIGNER.keyid], [SIGNER.public], files)
    assert audit(ledger, given).clean


def test_the_policy_file_is_believed_only_by_its_name() -> None:
    weaker = POLICY.replace("approvals: 1", "approvals: 2").encode()
    report = audited(replace(book().ledger(), look={BLOB: weaker}.get))
    assert report.clean
    assert BLOB[:12] in report.notes[0]


WHOLE = book().ledger()
SIGNED = [f for f in WHOLE.files if f.path.endswith(".json")]


@given(st.sampled_from(SIGNED), st.integers(0, 10_000), st.integers(1, 255))
def test_no_changed_byte_of_a_signed_file_goes_unseen(file: File, at: int, by: int) -> None:
    data = bytearray(file.data or b"")
    data[at % len(data)] ^= by
    files = tuple(replace(f, data=bytes(data)) if f is file else f for f in WHOLE.files)
    assert not audited(replace(WHOLE, files=files)).clean


@settings(max_examples=60)
@given(st.integers(0, 4), st.data())
def test_a_signed_predicate_of_any_shape_is_no_crash(place: int, data: st.DataObject) -> None:
    made = book()
    said = predicate_of(made, place)
    name = data.draw(st.sampled_from(sorted(said)))
    before = said[name]
    inside = isinstance(before, list) and before and isinstance(before[0], dict)
    target = before[0] if inside and data.draw(st.booleans()) else said
    name = data.draw(st.sampled_from(sorted(target))) if target is not said else name
    target[name] = data.draw(JUNK)
    assert isinstance(audited(made.ledger()).data(), dict)


def test_evidence_reads_back_to_the_same_verdict() -> None:
    of = proposal(1)
    judged = scene(of, Person(LEE, "lee"))
    made = book()
    again = scene_of(predicate_of(made, 0) | evidence_of(judged, judged.verdict()))
    assert again.verdict().decision is judged.verdict().decision
    assert again.verdict().valid_until == judged.verdict().valid_until
    with pytest.raises(BadEvidence, match="judged"):
        scene_of(predicate_of(made, 0) | {"judged": "yesterday"})
