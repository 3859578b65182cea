"""CODEOWNERS: whose a path is, by GitHub's own examples, and never a guess."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook_app.github.owners import LONGEST, Line, deciding, matches

POLICY = ".github/placet.yml"


@pytest.mark.parametrize(
    ("pattern", "path", "hit"),
    [
        pytest.param("*", "some/deep/file.rb", True, id="star-is-everything"),
        pytest.param("**", POLICY, True, id="two-stars-are-everything"),
        pytest.param("*.js", "lib/a.js", True, id="an-extension-anywhere"),
        pytest.param("*.js", "lib/a.jsx", False, id="another-extension"),
        pytest.param("/build/logs/", "build/logs/today/one.log", True, id="a-folder-of-the-root"),
        pytest.param("/build/logs/", "src/build/logs/one.log", False, id="no-such-folder-deeper"),
        pytest.param("docs/*", "docs/start.md", True, id="what-is-right-in-a-folder"),
        pytest.param("docs/*", "docs/build-app/trouble.md", False, id="not-what-is-nested"),
        pytest.param("apps/", "one/apps/two/three.py", True, id="a-folder-anywhere"),
        pytest.param("apps/", "apps", False, id="a-file-is-no-folder"),
        pytest.param("**/logs", "deeply/nested/logs/a", True, id="a-name-at-any-depth"),
        pytest.param("/apps/github", "apps/github/x.py", True, id="a-folder-without-its-slash"),
        pytest.param("/apps/github", "apps/githubs", False, id="a-longer-name"),
        pytest.param(".github/", POLICY, True, id="the-folder"),
        pytest.param("/.github/**", POLICY, True, id="all-below-the-folder"),
        pytest.param("/.github/**/placet.yml", POLICY, True, id="no-folder-between-is-one-of-any"),
        pytest.param("/.github/*", POLICY, True, id="right-in-the-folder"),
        pytest.param("/.github/placet.y?l", POLICY, True, id="any-one-character"),
        pytest.param("placet.yml", POLICY, True, id="a-name-anywhere"),
        pytest.param("/placet.yml", POLICY, False, id="a-name-in-the-root"),
        pytest.param("/.GitHub/", POLICY, False, id="another-case"),
        pytest.param("/*", POLICY, False, id="files-of-the-root-alone"),
        pytest.param("/.github/*/", POLICY, False, id="folders-in-the-folder-alone"),
        pytest.param("/.git*", POLICY, None, id="a-folder-by-a-pattern-is-not-sure"),
        pytest.param("!/.github/", POLICY, None, id="negation"),
        pytest.param("/.github/[p]lacet.yml", POLICY, None, id="a-range"),
        pytest.param("/.github/placet\\.yml", POLICY, None, id="an-escape"),
        pytest.param("/.github/***", POLICY, None, id="three-stars"),
        pytest.param("/.github/**.yml", POLICY, None, id="two-stars-in-a-name"),
        pytest.param("/.github/**/", POLICY, None, id="folders-at-any-depth"),
        pytest.param("//.github", POLICY, None, id="an-empty-part"),
        pytest.param("/", POLICY, None, id="the-root"),
        pytest.param("a#b", POLICY, None, id="a-comment-or-none"),
        pytest.param("\ufeff*", POLICY, None, id="a-byte-order-mark"),
        pytest.param("/.github/\u00a0@ann", POLICY, None, id="a-blank-that-is-none"),
        pytest.param("?" * (LONGEST + 1), POLICY, None, id="too-long"),
    ],
)
def test_a_pattern_takes_in_what_github_says_or_nobody_can_tell(
    pattern: str, path: str, *, hit: bool | None
) -> None:
    assert matches(pattern, path) is hit


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("* @ann\n", Line(1, owned=True), id="somebody-owns-all"),
        pytest.param("* @ann\n/.github/ @acme/security\n", Line(2, owned=True), id="last-wins"),
        pytest.param(
            "/.github/ @ann\n*.py @bob\n", Line(1, owned=True), id="another-line-after-it"
        ),
        pytest.param("* ann@acme.test # who", Line(1, owned=True), id="by-mail-with-a-comment"),
        pytest.param("*\t@ann @bob\r\n", Line(1, owned=True), id="tabs-and-windows-line-ends"),
        pytest.param("* @ann\n/.github/\n", Line(2, owned=False), id="a-line-without-owners"),
        pytest.param("* @ann\n* # @bob\n", Line(2, owned=False), id="owners-in-a-comment"),
        pytest.param("# * @ann\n\n*.py @ann\n", Line(0, owned=False), id="no-line"),
        pytest.param("", Line(0, owned=False), id="an-empty-file"),
        pytest.param("* @ann and others\n", Line(1, owned=None), id="words-that-are-no-owners"),
        pytest.param("* @ann\n[Section]\n", Line(2, owned=None), id="not-understood-after-it"),
        pytest.param("[Section]\n* @ann\n", Line(2, owned=True), id="not-understood-before-it"),
        pytest.param(
            "* a\u00a0b@acme.test", Line(1, owned=None), id="an-owner-with-a-strange-blank"
        ),
    ],
)
def test_the_last_line_that_matches_decides(text: str, line: Line) -> None:
    assert deciding(text, POLICY) == line


@given(st.text(alphabet="*?/.a!#[ \n@\\", max_size=60))
def test_any_file_gets_an_answer_and_a_later_line_without_owners_takes_all_away(text: str) -> None:
    assert deciding(text, POLICY).owned in (True, False, None)
    assert deciding(f"{text}\n*\n", POLICY).owned is False
    assert deciding(f"{text}\n* @ann\n", POLICY).owned is True


def test_a_pattern_of_many_stars_is_answered_quickly_enough_to_be_asked() -> None:
    hostile = "**/" * 66 + "x"
    assert matches(hostile, POLICY) is False
    assert matches("*a" * 99, POLICY) is False
