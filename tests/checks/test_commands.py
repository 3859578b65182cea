import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.commands import Command, Verb, ignored, looks_like_approval, names, parse

SHORT = "3f9a1c0de4b2"
FULL = SHORT + "0" * 52
APPROVE = Command(Verb.APPROVE)
APPROVE_SHORT = Command(Verb.APPROVE, digest=SHORT)


@pytest.mark.parametrize(
    ("body", "command"),
    [
        pytest.param("/approve", APPROVE, id="bare"),
        pytest.param(f"/approve {SHORT}", APPROVE_SHORT, id="twelve-digits"),
        pytest.param(f"/approve {FULL}", Command(Verb.APPROVE, digest=FULL), id="all-digits"),
        pytest.param(f"/approve sha256:{SHORT}", APPROVE_SHORT, id="with-the-prefix"),
        pytest.param(f"/approve {SHORT.upper()}", APPROVE_SHORT, id="upper-case-digits"),
        pytest.param(f"/APPROVE {SHORT}", APPROVE_SHORT, id="upper-case-verb"),
        pytest.param("/Approve", APPROVE, id="phone-keyboard-case"),
        pytest.param(f"/approve \t {SHORT}\t ", APPROVE_SHORT, id="blanks-around-the-digest"),
        pytest.param("/approve ", APPROVE, id="blank-at-the-end"),
        pytest.param(f"/approve {SHORT}\r\n\r\nthanks", APPROVE_SHORT, id="crlf"),
        pytest.param("/approve\nthanks, go on", APPROVE, id="free-text-on-later-lines"),
        pytest.param(
            f"/approve {SHORT}\n\n<!-- synced by a tracker -->",
            APPROVE_SHORT,
            id="trailer-appended-by-another-client",
        ),
        pytest.param("/approve\n\n> /reject", APPROVE, id="quoted-reject-below"),
        pytest.param("/approve\n/replan", APPROVE, id="another-command-below-is-ignored"),
        pytest.param("/reject", Command(Verb.REJECT), id="reject"),
        pytest.param("/reject\n/approve", Command(Verb.REJECT), id="reject-then-approve"),
        pytest.param(
            "/reject  zu teuer, größer! ",
            Command(Verb.REJECT, text="zu teuer, größer!"),
            id="reject-with-a-reason",
        ),
        pytest.param(
            f"/reject {SHORT} too many",
            Command(Verb.REJECT, digest=SHORT, text="too many"),
            id="reject-of-one-plan-with-a-reason",
        ),
        pytest.param(
            f"/reject {SHORT}x",
            Command(Verb.REJECT, text=f"{SHORT}x"),
            id="a-reason-that-only-begins-like-a-digest",
        ),
        pytest.param(
            "/reject \t XXL is too large for X \t",
            Command(Verb.REJECT, text="XXL is too large for X"),
            id="blanks-and-tabs-alone-are-taken-off-a-reason",
        ),
        pytest.param(
            "/reject \u00a0too much\u3000 ",
            Command(Verb.REJECT, text="\u00a0too much\u3000"),
            id="other-spaces-stay-in-a-reason",
        ),
        pytest.param(
            f"/resolve {SHORT} APPLIED I looked",
            Command(Verb.RESOLVE, digest=SHORT, word="applied", text="I looked"),
            id="resolve-applied",
        ),
        pytest.param(
            f"/resolve sha256:{SHORT} failed",
            Command(Verb.RESOLVE, digest=SHORT, word="failed"),
            id="resolve-failed",
        ),
        pytest.param("/replan", Command(Verb.REPLAN), id="replan"),
        pytest.param("/withdraw", Command(Verb.WITHDRAW), id="withdraw"),
        pytest.param(f"/undo {SHORT}", Command(Verb.UNDO, digest=SHORT), id="undo"),
    ],
)
def test_the_first_line_is_a_command(body: str, command: Command) -> None:
    assert parse(body) == command


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("", id="empty"),
        pytest.param("/", id="only-a-slash"),
        pytest.param(f"> /approve {SHORT}", id="quoted-reply"),
        pytest.param("> /approve\n\nno way", id="quoted-reply-with-an-answer"),
        pytest.param(">/approve", id="quoted-without-a-blank"),
        pytest.param("```\n/approve\n```", id="fenced-code"),
        pytest.param("~~~\n/approve\n~~~", id="fenced-code-with-tildes"),
        pytest.param("    /approve", id="indented-code"),
        pytest.param("`/approve`", id="inline-code"),
        pytest.param("\t/approve", id="tab-first"),
        pytest.param(" /approve", id="one-blank-first"),
        pytest.param("- /approve", id="list-item"),
        pytest.param("<!--\n/approve\n-->", id="html-comment"),
        pytest.param("<!-- -->/approve", id="after-an-html-comment"),
        pytest.param("\n/approve", id="second-line"),
        pytest.param("I read it all.\n/approve", id="command-after-text"),
        pytest.param(f"/approve {SHORT}\u2028thanks", id="line-separator-ends-no-line"),
        pytest.param("/approve\u2029", id="paragraph-separator-ends-no-line"),
        pytest.param("/approve\x0bthanks", id="vertical-tab-ends-no-line"),
        pytest.param("/approve\x0c", id="form-feed-ends-no-line"),
        pytest.param("/approve\x85", id="next-line-ends-no-line"),
        pytest.param("/approve\rthanks", id="carriage-return-ends-no-line"),
        pytest.param("/approve\r", id="carriage-return-alone"),
        pytest.param("/approve\r\r\n", id="two-carriage-returns"),
        pytest.param("/approve\x1c\n", id="file-separator"),
        pytest.param("/approve\x00", id="nul"),
        pytest.param(f"/approve\u00a0{SHORT}", id="no-break-space"),
        pytest.param("/approve\u00a0", id="no-break-space-at-the-end"),
        pytest.param(f"/approve\u3000{SHORT}", id="ideographic-space"),
        pytest.param("/app\u200brove", id="zero-width-space"),
        pytest.param("\ufeff/approve", id="byte-order-mark"),
        pytest.param("/approve\u200d", id="zero-width-joiner"),
        pytest.param("\u202e/approve", id="right-to-left-override"),
        pytest.param("\uff0fapprove", id="full-width-slash"),
        pytest.param("\u2044approve", id="fraction-slash"),
        pytest.param("/\u0430pprove", id="cyrillic-a"),
        pytest.param("/\uff41pprove", id="full-width-a"),
        pytest.param("/re\u017folve " + SHORT + " applied", id="long-s-is-no-s"),
        pytest.param(f"/approve {SHORT[:-1]}\uff12", id="full-width-digit"),
        pytest.param(f"/approve {SHORT[:-1]}\u0662", id="arabic-digit"),
        pytest.param(f"/approve {SHORT}\u0301", id="combining-accent"),
        pytest.param("/approved", id="another-ending"),
        pytest.param("/approve-all", id="hyphenated"),
        pytest.param("/approve.", id="full-stop"),
        pytest.param("/approve all", id="a-word-that-is-no-digest"),
        pytest.param(f"/approve {SHORT} please", id="a-word-after-the-digest"),
        pytest.param(f"/approve {SHORT} {SHORT}", id="two-digests"),
        pytest.param(f"/approve{SHORT}", id="no-blank-before-the-digest"),
        pytest.param(f"/approve {SHORT[:11]}", id="eleven-digits"),
        pytest.param(f"/approve {FULL}0", id="sixty-five-digits"),
        pytest.param(f"/approve sha256: {SHORT}", id="blank-inside-the-digest"),
        pytest.param(f"/approve sha512:{SHORT}", id="another-hash"),
        pytest.param(f"/approve `{SHORT}`", id="digest-in-code"),
        pytest.param(f"/approve {SHORT[:-1]}g", id="not-hex"),
        pytest.param("Please /approve", id="politely"),
        pytest.param("@placet /approve", id="mention-first"),
        pytest.param("//approve", id="two-slashes"),
        pytest.param("/ approve", id="blank-after-the-slash"),
        pytest.param("/approve /reject", id="two-commands-on-a-line"),
        pytest.param("/approve\n/reject", id="approve-then-reject-starts-nothing"),
        pytest.param("/approve\r\nfine\r\n/WITHDRAW", id="approve-then-withdraw-starts-nothing"),
        pytest.param(f"/resolve {SHORT} applied\n/reject", id="resolve-then-reject"),
        pytest.param("/resolve applied", id="resolve-without-a-digest"),
        pytest.param(f"/resolve {SHORT}", id="resolve-without-a-word"),
        pytest.param(f"/resolve {SHORT} done", id="resolve-with-another-word"),
        pytest.param(f"/resolve {SHORT} appliedish", id="resolve-with-a-longer-word"),
        pytest.param("/rejected", id="rejected"),
        pytest.param("/replan now", id="replan-with-words"),
        pytest.param("/undo it", id="undo-with-words"),
        pytest.param("/merge", id="unknown-verb"),
    ],
)
def test_anything_else_is_no_command(body: str) -> None:
    assert parse(body) is None


def test_commands_on_later_lines_are_reported() -> None:
    assert ignored("/approve\r\n/replan\r\ntext\n/undo now\n/reject no") == (
        Verb.REPLAN,
        Verb.REJECT,
    )
    assert ignored("/approve") == ()


@pytest.mark.parametrize(
    ("said", "named"),
    [
        pytest.param(None, True, id="no-digest-means-this-one"),
        pytest.param(SHORT, True, id="prefix"),
        pytest.param(FULL, True, id="whole"),
        pytest.param("3f9a1c0de4b3", False, id="another-prefix"),
        pytest.param(FULL[1:], False, id="the-middle-is-no-prefix"),
    ],
)
def test_a_digest_names_a_plan(said: str | None, *, named: bool) -> None:
    assert names(f"sha256:{FULL}", Command(Verb.APPROVE, digest=said)) is named


def test_a_digest_of_another_kind_is_not_named() -> None:
    assert not names(f"sha512:{FULL}", APPROVE_SHORT)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("lgtm", id="lgtm"),
        pytest.param("LGTM, thanks!", id="lgtm-with-thanks"),
        pytest.param("Approve", id="approve"),
        pytest.param("approved!", id="approved"),
        pytest.param("I approve.", id="i-approve"),
        pytest.param("/approved", id="slash-approved"),
        pytest.param("/aprove", id="misspelt"),
        pytest.param(f"/approve {SHORT} please", id="word-after-the-digest"),
        pytest.param("Please /approve", id="politely"),
        pytest.param("`/approve`", id="in-code"),
        pytest.param("\n  /approve", id="not-on-the-first-line"),
        pytest.param("\uff0fapprove", id="full-width-slash"),
        pytest.param("/app\u200brove", id="zero-width-space"),
        pytest.param("/\u0430pprove", id="cyrillic-a"),
        pytest.param("/approve\n/reject", id="approve-and-reject"),
        pytest.param("\U0001f44d", id="thumbs-up"),
        pytest.param("\U0001f44d\U0001f3fd", id="thumbs-up-with-skin-tone"),
        pytest.param(":+1:", id="thumbs-up-shortcode"),
        pytest.param("+1", id="plus-one"),
        pytest.param("Looks good to me.", id="looks-good"),
        pytest.param("> is this fine?\n\nyes", id="yes-below-a-quote"),
        pytest.param("lgtm " + "x" * 195, id="two-hundred-characters"),
        pytest.param("o\x00k", id="control-character"),
        pytest.param("o\u034fk", id="invisible-mark"),
        pytest.param("\u2705\ufe0f", id="check-mark-in-colour"),
    ],
)
def test_a_yes_that_is_no_command_gets_an_answer(body: str) -> None:
    assert parse(body) is None
    assert looks_like_approval(body)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("/approve", id="a-command-needs-no-answer"),
        pytest.param("/reject", id="reject"),
        pytest.param("", id="empty"),
        pytest.param("not approved", id="not-approved"),
        pytest.param("I disapprove", id="disapprove"),
        pytest.param("Who can approve this?", id="a-question"),
        pytest.param("/improve", id="another-word"),
        pytest.param("/deploy prod", id="another-bots-command"),
        pytest.param("> lgtm", id="only-a-quote"),
        pytest.param("This looks wrong to me", id="looks-wrong"),
        pytest.param("lgtm " + "x" * 300, id="a-long-line"),
        pytest.param("lgtm " + "x" * 196, id="two-hundred-and-one-characters"),
    ],
)
def test_other_words_get_no_answer(body: str) -> None:
    assert not looks_like_approval(body)


near = st.lists(
    st.sampled_from([*"/ \t\r\n>`\u200b\u2028", "/approve", "APPROVE", SHORT, "sha256:", "x"])
).map("".join)


@given(st.text() | near)
def test_only_the_exact_grammar_approves(body: str) -> None:
    command = parse(body)
    looks_like_approval(body)
    ignored(body)
    if command is not None and command.verb is Verb.APPROVE:
        head = body.split("\n", maxsplit=1)[0].removesuffix("\r").encode("ascii").lower()
        assert re.fullmatch(rb"/approve([ \t]+(sha256:)?[0-9a-f]{12,64})?[ \t]*", head)
        assert (command.digest or "").encode() in head


@given(near)
def test_what_comes_before_the_command_disables_it(before: str) -> None:
    if before and not before.startswith("/"):
        assert parse(before + "/approve") is None
