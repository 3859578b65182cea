"""What GitHub shows of an approval must be what was signed of it."""

from dataclasses import replace

import pytest

from proposals.audit import Keys, Report, Shown, audit
from tests.books import LEE, SIGNER, Book, book, proposal

GOOD = Shown(there=True, person=LEE, head=proposal(1).at.head, state="APPROVED")


def online(shown: dict[str, Shown], made: Book | None = None) -> Report:
    ledger = (made or one()).ledger()
    return audit(ledger, Keys.of([SIGNER.keyid], [], ledger.files), None, shown)


def one() -> Book:
    made = Book()
    made.ran(proposal(1))
    return made


def test_as_it_was_signed() -> None:
    report = online({"review:81": GOOD})
    assert (report.findings, report.notes) == ((), ())


@pytest.mark.parametrize(
    ("shown", "code", "words"),
    [
        pytest.param(
            replace(GOOD, person=4), "approval_by_another", "somebody else", id="other-author"
        ),
        pytest.param(
            replace(GOOD, head="ab" * 20),
            "approval_of_another_commit",
            "another commit",
            id="other-commit",
        ),
        pytest.param(
            replace(GOOD, state="COMMENTED"), "no_approval", "no approval", id="no-approval"
        ),
        pytest.param(Shown(there=False), "approval_gone", "deleted", id="deleted"),
        pytest.param(
            replace(GOOD, person=None), "approval_by_another", "id None", id="account-gone"
        ),
    ],
)
def test_what_is_shown_otherwise_is_found(shown: Shown, code: str, words: str) -> None:
    [found] = online({"review:81": shown}).findings
    assert found.code == code
    assert words in found.why
    assert found.path.endswith("start.json")


def test_what_could_not_be_read_is_a_note_and_no_finding() -> None:
    report = online({})
    assert report.clean
    assert "could not be read" in report.notes[0]


def test_nobody_looked_is_said() -> None:
    ledger = book().ledger()
    keys = Keys.of([SIGNER.keyid], [], ledger.files)
    assert any("nobody is asked" in words for words in audit(ledger, keys).cannot_see)
    assert not any("nobody is asked" in w for w in audit(ledger, keys, None, {}).cannot_see)
