"""What `make mutants` says of mutants that no test notices."""

import pytest

from tests.mutants.run import explained, spelled, verdict

DIFF = """\
--- checks/facts.py
+++ checks/facts.py
@@ -1,2 +1,2 @@
 def f(a):
-    return a > 1
+    return a >= 1
"""


@pytest.mark.parametrize(
    ("name", "where"),
    [
        pytest.param("checks.facts.x_f__mutmut_3", "checks.facts.f", id="function"),
        pytest.param("checks.facts.x__f__mutmut_12", "checks.facts._f", id="private"),
        pytest.param("checks.facts.xǁFactsǁf__mutmut_3", "checks.facts.Facts.f", id="method"),
    ],
)
def test_a_mutant_is_called_by_its_place_and_its_change(name: str, where: str) -> None:
    assert spelled(name, DIFF) == f"{where}: return a > 1 => return a >= 1"


def test_a_survivor_needs_a_reason() -> None:
    found = {"f: a => b": "survived", "g: a => b": "no tests"}
    assert verdict(found, {"f: a => b": "never called with a"}) == ["no tests: g: a => b"]
    assert verdict(found, {"f: a => b": "", "g: a => b": "why"}) == ["survived: f: a => b"]


def test_every_line_of_the_explained_names_a_mutant_and_a_reason() -> None:
    for mutant, why in explained().items():
        assert why, mutant
        where, _, change = mutant.partition(": ")
        assert where.startswith(("checks.", "proposals.")), mutant
        assert " => " in change, mutant
