"""The page on statements names every member that one can have, and nothing that none has."""

import re
from pathlib import Path

import pytest

from proposals.flow.statements import ABOUT
from proposals.succession import claims, succeed
from tests.books import NOW, OTHER, SIGNER, book
from tests.proposals.test_audit_unasked import confirmed, start_of

PAGE = (Path(__file__).parent.parent / "docs/reference/statements.md").read_text("utf-8")
NAMED = set(re.findall(r"`([a-z_]+)`", PAGE)) | set(re.findall(r"[{ ]([a-z_]+)[,}]", PAGE))


@pytest.mark.parametrize("place", [0, 1, 4], ids=["start", "end", "refusal"])
def test_every_member_of_a_statement_is_explained(place: int) -> None:
    said = book().said[place].predicate
    assert set(said) - NAMED == set()
    assert (set(said) | {"seq", "prev", "key", "keys"}) >= ABOUT - {"target", "fact"}


def test_every_member_of_an_approval_and_of_a_rule_is_explained() -> None:
    start = book().said[0].predicate
    for inside in (*start["approvals"], *start["rules"], start["excluded"], start["page"]):
        assert set(inside) - NAMED == set()


def test_every_member_of_a_succession_is_explained() -> None:
    [envelope] = succeed(SIGNER, OTHER, NOW).before
    assert set(claims(envelope)) - NAMED == set()


def test_every_member_of_a_start_that_asked_nobody_is_explained() -> None:
    said = start_of(confirmed(1))
    for inside in (said, said["confirmed"], *said["policies"]):
        assert set(inside) - NAMED == set()
