"""Whatever an agent writes, only what GitHub keeps reaches the page."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.github.pages.markdown import ATTRIBUTES, CLASSES, LONGEST, SCHEMES, TAGS, rendered

PIECES = st.sampled_from(
    [
        "<script>", "</script>", "<style>", "<!--", "-->", "<![CDATA[", "]]>", "<svg>", "<math>",
        "<img src=x onerror=x()>", "<a href='javascript:x()'>", "</a>", "<iframe src=//x>",
        "<form>", "<input name=csrf type=hidden value=x>", "<button>", "<div class='merge ready'>",
        "</div>", "<details open ontoggle=x()>", "<p style='x:y' id=z>", "<base href=//x>",
        "<meta http-equiv", "[x](javascript:x())", "[x](JaVa&#115;cript:x())", "![x](//y)",
        "[x](data:text/html,x)", "<javascript:x()>", '<http://x" onclick=x()>', "`", "```html\n",
        "> ", "- [ ] ", "| a |\n|-|", "[^1]", "[^1]: ", "@ann", "&lt;script&gt;", "\0", "\\", "*",
        "_", "~~", "\n", "\n\n", " ",
    ]
)  # fmt: skip


class Reader(HTMLParser):
    """Collects whatever a browser would not take for plain text."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.comments: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


@given(st.lists(PIECES | st.text(max_size=3), max_size=40).map("".join))
def test_only_what_github_keeps_reaches_the_page(text: str) -> None:
    seen = read(rendered(text))
    assert not seen.comments
    for tag, attributes in seen.found:
        assert tag in TAGS
        known = ATTRIBUTES["*"] | ATTRIBUTES.get(tag, set()) | {"class", "rel"}
        assert attributes.keys() <= known | ({"type", "disabled"} if tag == "input" else set())
        if tag != "p" or attributes.get("class") != "muted":
            assert set((attributes.get("class") or "").split()) <= CLASSES.get(tag, set())
        for name in ("href", "src"):
            scheme, colon, _ = (attributes.get(name) or "").partition(":")
            assert not colon or scheme.lower() in SCHEMES or "/" in scheme or "#" in scheme


@pytest.mark.parametrize(
    ("text", "html"),
    [
        pytest.param("a\nb", "a<br>\nb", id="line-ends-stay"),
        pytest.param("~~a~~", "<s>a</s>", id="strikethrough"),
        pytest.param("| a |\n|---|\n| b |", "<td>b</td>", id="tables"),
        pytest.param("- [x] a", 'checked="" disabled=""', id="tasks"),
        pytest.param("see https://a.example/x", 'href="https://a.example/x"', id="autolink"),
        pytest.param("> [!WARNING]\n> a", "markdown-alert-warning", id="alerts"),
        pytest.param("hi @ann", '<span class="mention">@ann</span>', id="mention"),
        pytest.param("`@ann`", "<code>@ann</code>", id="no-mention-in-code"),
        pytest.param("a@ann.example", "<p>", id="no-mention-in-an-address"),
        pytest.param("<details>\n\n*a*\n</details>", "<em>a</em>", id="details"),
        pytest.param("", "No description provided", id="nothing"),
        pytest.param("<b>" * LONGEST, "&lt;b&gt;&lt;b&gt;", id="too-long-is-shown-as-it-is"),
    ],
)
def test_what_github_renders(text: str, html: str) -> None:
    assert html in rendered(text)
