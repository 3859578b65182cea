"""Hostile text is read by two renderers; what only one of them sees is a finding too."""

import pytest

from tests.reading import alive, read, readings


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("ftp://a.example", id="an-address-that-only-one-links"),
        pytest.param("<http://a b>", id="half-an-address"),
        pytest.param("<script>x()</script>", id="a-tag-that-github-filters"),
        pytest.param("[^1]\n\n[^1]: x", id="a-footnote"),
    ],
)
def test_what_two_renderers_read_differently_is_refused(text: str) -> None:
    with pytest.raises(AssertionError, match="renderers disagree about"):
        read(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("![x](https://a.example/x.png)", "tag img", id="image"),
        pytest.param("[x](https://a.example)", "link https://a.example", id="link"),
        pytest.param("hello @ann", "a mention @a", id="mention"),
        pytest.param("closes #1", "a reference #1", id="reference"),
        pytest.param("~~x~~", "tag del", id="what-cmark-alone-calls-so"),
    ],
)
def test_what_is_alive_is_found(text: str, found: str) -> None:
    assert found in alive(text)


def test_the_same_text_has_two_readings() -> None:
    assert [r.codes for r in readings("`a`")] == [["a"], ["a"]]
