"""The golden fixture is the judge of what people read; so it is judged itself."""

from pathlib import Path

import pytest

from tests.golden_files import compare


def test_the_same_text_passes(tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text("Nothing has been changed.\n")
    compare("Nothing has been changed.\n", tmp_path / "page.txt", update=False)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Nothing was changed.\n", id="other-words"),
        pytest.param("Nothing has been changed.\r\n", id="other-line-ends"),
        pytest.param("Nothing has been changed.", id="no-last-line-end"),
    ],
)
def test_another_text_fails_and_leaves_the_file(tmp_path: Path, text: str) -> None:
    page = tmp_path / "page.txt"
    page.write_text("Nothing has been changed.\n")
    with pytest.raises(AssertionError):
        compare(text, page, update=False)
    assert page.read_text() == "Nothing has been changed.\n"


def test_a_missing_file_fails_and_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="--update-golden"):
        compare("new\n", tmp_path / "page.txt", update=False)


def test_the_flag_writes_the_file(tmp_path: Path) -> None:
    compare("new\r\n", tmp_path / "pages" / "page.txt", update=True)
    assert (tmp_path / "pages" / "page.txt").read_bytes() == b"new\r\n"
