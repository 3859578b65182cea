"""The README's table of the three modes says what the page about them says, word for word."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODES = ("`approve`", "`confirm`", "`announce`")
SAID = ("who said yes", "what it proves", "what it cannot stop")


def cells(page: str) -> dict[str, list[str]]:
    """The rows of a page's tables, by their first cell."""
    lines = (ROOT / page).read_text().splitlines()
    rows = ([c.strip() for c in line.strip("|").split("|")] for line in lines if line[:2] == "| ")
    return {row[0]: row[1:] for row in rows}


@pytest.mark.parametrize("mode", MODES)
def test_the_readme_is_as_honest_as_the_page_about_the_modes(mode: str) -> None:
    place = MODES.index(mode)
    page = cells("docs/modes.md")
    assert cells("README.md")[mode] == [page[row][place] for row in SAID]
