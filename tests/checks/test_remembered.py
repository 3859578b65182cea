"""What a policy says of a tool, as it is remembered."""

from checks.remembered import rule_in

POLICY = "version: 1\nrules:\n  - {tools: ['box.*'], require: [{approvals: 2}]}\n"


def test_a_rule_is_found_for_its_tools_only() -> None:
    found = rule_in(POLICY, "box.add")
    assert found is not None
    assert [group.approvals for group in found.require] == [2]
    assert rule_in(POLICY, "crate.add") is None


def test_a_text_that_is_no_policy_has_no_rule() -> None:
    assert rule_in("rules: [", "box.add") is None
    assert rule_in("", "box.add") is None
