"""The page of the commands is what the commands say of themselves."""

from collections.abc import Callable
from pathlib import Path

from webhook_app.cli.document import document
from webhook_app.cli.program import program

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def test_the_page_of_the_commands_is_made_from_them(golden: Callable[..., None]) -> None:
    golden(document(program), "cli.md", REFERENCE)


def test_every_command_says_what_it_does() -> None:
    sections = document(program).split("\n## ")[1:]
    assert len(sections) > 5
    assert all(section.split("\n")[2] for section in sections)
