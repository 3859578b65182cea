"""A new key is believed because the old one signed it, however many lie between."""

from datetime import timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from proposals.audit import Keys, Report, audit
from proposals.canonical import JSON
from proposals.receipt import Signer, sign
from proposals.succession import claims, follow, succeed
from tests.books import NOW, OTHER, SIGNER, Book, book, proposal


def fresh(n: int) -> Signer:
    return Signer(Ed25519PrivateKey.from_private_bytes(bytes([n] * 32)))


SECOND = succeed(SIGNER, fresh(2), NOW)
THIRD = succeed(SECOND, fresh(3), NOW + timedelta(days=1))


def audited(made: Book, *trust: Signer) -> Report:
    ledger = made.ledger()
    return audit(ledger, Keys.of([s.keyid for s in trust], [], ledger.files))


def rotated(after: int, signer: Signer) -> Book:
    """A ledger whose statements from some place on are signed with another key."""
    made = book()
    for one in made.said[after:]:
        one.signer = signer
    return made


@pytest.mark.parametrize("signer", [SECOND, THIRD], ids=["one-later", "two-later"])
@pytest.mark.parametrize("after", [0, 2, 4])
def test_the_first_fingerprint_opens_all_that_later_keys_signed(signer: Signer, after: int) -> None:
    report = audited(rotated(after, signer), SIGNER)
    assert report.findings == ()
    assert signer.keyid in report.keys


def test_a_later_fingerprint_opens_nothing_earlier() -> None:
    report = audited(rotated(2, SECOND), SECOND)
    assert {f.code for f in report.findings} >= {"wrong_key"}
    assert audited(rotated(0, SECOND), SECOND).findings[0].path.endswith("plan.json")


def forged() -> Signer:
    """Somebody writes that their key follows ours, and signs that with their own."""
    true = succeed(SIGNER, OTHER, NOW).before[0]
    said = {"_type": "https://in-toto.io/Statement/v1", "subject": [{"name": "x", "digest": {}}]}
    whole = {**said, "predicateType": "urn:placet:predicate:key:v1", "predicate": claims(true)}
    return Signer(OTHER.private, (sign(whole, OTHER),))


def passed_on() -> Signer:
    """Somebody puts our name under a succession that their own key signed."""
    envelope = forged().before[0]
    return Signer(
        OTHER.private,
        ({**envelope, "signatures": [{"keyid": SIGNER.keyid, "sig": "AAAA"}]},),
    )


@pytest.mark.parametrize("signer", [forged(), passed_on()], ids=["signed-by-itself", "our-name"])
def test_a_forged_succession_is_called_that(signer: Signer) -> None:
    report = audited(rotated(4, signer), SIGNER)
    [found] = [f for f in report.findings if f.code == "forged_rotation"]
    assert "which did not sign that" in found.why
    assert found.path.endswith("end.json")
    assert OTHER.keyid not in report.keys


def test_a_key_that_was_replaced_signs_nothing_more() -> None:
    made = book()
    made.said[2].signer = SECOND
    found = [f for f in audited(made, SIGNER).findings if f.code == "retired_key"]
    assert len(found) == 2
    assert "was replaced before" in found[0].why


def test_a_key_with_two_successors_is_found() -> None:
    made = rotated(2, SECOND)
    made.said[4].signer = succeed(SIGNER, fresh(9), NOW)
    assert "forked_rotation" in {f.code for f in audited(made, SIGNER).findings}


def test_the_chain_is_followed_in_whatever_order_its_links_come() -> None:
    line = follow({SIGNER.keyid: SIGNER.public}, reversed(THIRD.before))
    assert list(line.found) == [SIGNER.keyid, SECOND.keyid, THIRD.keyid]
    assert line.place[THIRD.keyid] == 2
    assert (line.forged, line.forked) == (frozenset(), frozenset())


def test_a_link_that_is_missing_ends_the_line() -> None:
    line = follow({SIGNER.keyid: SIGNER.public}, THIRD.before[1:])
    assert list(line.found) == [SIGNER.keyid]
    assert line.forged == {THIRD.keyid}


JUNK = st.recursive(
    st.none() | st.text() | st.integers(0, 9),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["payload", "signatures", "keyid", "sig"]), inner)
    ),
    max_leaves=4,
)


@given(st.lists(JUNK, max_size=3))
def test_junk_leads_nowhere(brought: list[JSON]) -> None:
    line = follow({SIGNER.keyid: SIGNER.public}, brought)
    assert list(line.found) == [SIGNER.keyid]


def test_a_plan_that_a_later_key_signed_is_read_too() -> None:
    made = rotated(0, SECOND)
    made.signer = SECOND
    theirs = {of.id: of for of in (proposal(n, SECOND) for n in (1, 2, 3))}
    made.plans = {id_: theirs[id_] for id_ in made.plans}
    for one in made.said:
        one.predicate["head"] = theirs[one.of.id].at.head
    report = audited(made, SIGNER)
    assert not {f.code for f in report.findings} & {"wrong_key", "forged_rotation", "no_key"}
