"""CODEOWNERS: whose a path is, by GitHub's own examples, and never a guess."""

import sys
from collections.abc import Callable
from fnmatch import fnmatchcase

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from webhook_app.github.owners import LONGEST, MOST, Line, deciding, matches

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


def steps(work: Callable[[], object]) -> int:
    """How many functions of Python it enters."""
    entered = 0

    def count(_frame: object, event: str, _arg: object) -> None:
        nonlocal entered
        entered += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return entered


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param("**/" * 66 + "x", id="two-stars-again-and-again"),
        pytest.param("/.github/" + "**/" * 60 + "x", id="in-a-folder"),
        pytest.param("**/*/" * 39 + "x", id="by-turns"),
        pytest.param("*a" * 99, id="stars-in-a-name"),
        pytest.param("*?" * 99, id="stars-and-any"),
    ],
)
def test_a_hostile_pattern_takes_few_steps(pattern: str) -> None:
    assert matches(pattern, POLICY) is False
    assert steps(lambda: matches(pattern, POLICY)) < 1000


def test_of_a_long_file_only_the_end_is_looked_at() -> None:
    """Whoever may push can make it as long as a file may be."""
    lines = "*.py @ann\n" * (MOST - 1)
    assert deciding(f"* @ann\n{lines}", POLICY) == Line(1, owned=None)
    assert deciding(f"{lines}* @ann", POLICY) == Line(MOST, owned=True)
    assert deciding(f"* @ann\n{lines[10:]}", POLICY) == Line(1, owned=True)
    assert steps(lambda: deciding("*.py @ann\n" * 10 * MOST, POLICY)) < 60 * MOST


@given(st.text(alphabet="ab.?*", max_size=6), st.text(alphabet="ab.", min_size=1, max_size=6))
def test_a_name_is_matched_as_by_a_shell(pattern: str, name: str) -> None:
    assume("**" not in pattern and pattern)
    assert matches(f"/{pattern}", name) is fnmatchcase(name, pattern)


@given(st.lists(st.sampled_from(["**", "a", "*"]), max_size=6), st.text("ab/", max_size=6))
def test_two_stars_twice_are_two_stars(parts: list[str], path: str) -> None:
    twice = [one for part in parts for one in ([part, part] if part == "**" else [part])]
    once, again = ("/" + "/".join([*some, "a"]) for some in (parts, twice))
    assert matches(once, path) is matches(again, path)
