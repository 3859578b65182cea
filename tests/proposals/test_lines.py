"""Which calls wait for one another: those whose plans name the same thing of the same box."""

import pytest

from proposals.flow.lines import Lines, Thing

FIRST = {("box", "row 1"), ("box", "row 2")}


@pytest.mark.parametrize(
    ("second", "holder"),
    [
        pytest.param({("box", "row 2"), ("box", "row 3")}, "p_1", id="one-thing-in-common"),
        pytest.param({("box", "row 3")}, None, id="another-thing"),
        pytest.param({("crm", "row 1")}, None, id="another-box"),
        pytest.param(set[Thing](), None, id="nothing-named"),
    ],
)
def test_a_call_waits_for_whoever_changes_the_same_thing(
    second: set[Thing], holder: str | None
) -> None:
    lines = Lines()
    with lines.changing("p_1", FIRST) as free:
        assert free is None
        with lines.changing("p_2", second) as found:
            assert found == holder


def test_who_waits_holds_nothing_and_who_is_done_holds_nothing_any_more() -> None:
    lines, second, third = Lines(), {("box", "row 2"), ("box", "row 3")}, {("box", "row 3")}
    with (
        lines.changing("p_1", FIRST),
        lines.changing("p_2", second),
        lines.changing("p_3", third) as found,
    ):
        assert found is None
    with lines.changing("p_2", second) as found:
        assert found is None


def test_who_waited_is_named_once_when_something_was_let_go() -> None:
    lines = Lines()
    with lines.changing("p_1", FIRST):
        with lines.changing("p_2", FIRST):
            assert lines.freed() == set()
        assert lines.freed() == set()
    assert lines.freed() == {"p_2"}
    assert lines.freed() == set()
