"""Waits double up to a longest one, and are waits however often something has failed."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from proposals.backoff import doubled

SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)


def test_each_failure_doubles_the_wait_up_to_the_longest() -> None:
    assert [doubled(SECOND, n, HOUR) / SECOND for n in (1, 2, 3, 12, 13)] == [1, 2, 4, 2048, 3600]
    assert doubled(0.5, 4, 60.0) == 4


@given(st.integers(0, 10**400))
def test_it_is_a_wait_after_any_number_of_failures(failures: int) -> None:
    assert SECOND <= doubled(SECOND, failures, HOUR) <= doubled(SECOND, failures + 1, HOUR) <= HOUR
    assert 1 <= doubled(1.0, failures, 900.0) <= 900
