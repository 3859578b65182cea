from collections.abc import Callable
from pathlib import Path

import pytest

from checks.reasons import REASONS, Finding, Reason, Weight, reference
from tests.checks import test_judge, test_unasked

DOCS = Path(__file__).parent.parent.parent / "docs" / "reference"


def test_every_reason_has_its_row_in_order() -> None:
    assert list(REASONS) == list(Reason)


@pytest.mark.parametrize("reason", Reason)
def test_a_reason_says_what_it_means_and_what_to_do(reason: Reason) -> None:
    meaning = REASONS[reason]
    assert reason == reason.name.lower()
    assert meaning.means.endswith(".")
    assert meaning.remedy.endswith(".")
    assert "|" not in meaning.means + meaning.remedy, "it would break the table"
    assert "\n" not in meaning.means + meaning.remedy


@pytest.mark.parametrize("reason", Reason)
def test_the_id_of_a_test_of_what_it_decides_names_each_reason(reason: Reason) -> None:
    cases = (*test_judge.CASES, *test_judge.POLICY_CASES, *test_unasked.CASES)
    assert [c.id for c in cases if str(c.id).startswith(f"{reason}: ") and reason in c.values]


def test_a_finding_weighs_what_its_reason_weighs() -> None:
    assert Finding(Reason.EXPIRED, "too late").weight is Weight.ENDS
    assert Finding(Reason.REQUESTER, "own people").weight is Weight.NOTES


def test_the_page_of_reasons_is_generated(golden: Callable[..., None]) -> None:
    lead = "Every code that Placet gives for a yes or a no. Generated from `checks/reasons.py`.\n\n"
    weights = (
        "`ends`: the proposal is over. `doubts`: something could not be read, so Placet looks\n"
        "again. `waits`: not approved yet. `notes`: one stance does not count.\n\n"
    )
    golden(f"# Reasons\n\n{lead}{weights}{reference()}\n", "reasons.md", DOCS)
