"""Which calls wait for one another: those whose plans name the same thing of the same box."""

from dataclasses import replace

import pytest

from proposals.canonical import JSON
from proposals.flow.lines import Lines, things
from proposals.plan import Planned, Proposal, pin
from tests.books import proposal


def changing(id_: str, *whats: str, tool: str = "box.add") -> Proposal:
    effects: list[dict[str, JSON]] = [{"what": w, "before": 1, "after": 2} for w in whats]
    named = {"name": tool, "kind": "command", "effect": "write", "definition": "d"}
    return replace(proposal(1), id=id_, tool=tool, pinned=pin(named, {}, Planned(effects)))


FIRST = changing("p_1", "row 1", "row 2")


@pytest.mark.parametrize(
    ("second", "holder"),
    [
        pytest.param(changing("p_2", "row 2", "row 3"), "p_1", id="one-thing-in-common"),
        pytest.param(
            changing("p_2", "row 2", tool="box.drop"), "p_1", id="another-tool-of-the-box"
        ),
        pytest.param(changing("p_2", "row 3"), None, id="another-thing"),
        pytest.param(changing("p_2", "row 1", tool="crm.add"), None, id="another-box"),
        pytest.param(changing("p_2"), None, id="nothing-named"),
    ],
)
def test_a_call_waits_for_whoever_changes_the_same_thing(
    second: Proposal, holder: str | None
) -> None:
    lines = Lines()
    with lines.changing(FIRST) as free:
        assert free is None
        with lines.changing(second) as found:
            assert found == holder


def test_who_waits_holds_nothing_and_who_is_done_holds_nothing_any_more() -> None:
    lines, second, third = Lines(), changing("p_2", "row 2", "row 3"), changing("p_3", "row 3")
    with lines.changing(FIRST), lines.changing(second), lines.changing(third) as found:
        assert found is None
    with lines.changing(second) as found:
        assert found is None
    assert things(second) == {("box", "row 2"), ("box", "row 3")}
