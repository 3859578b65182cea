"""Read Markdown as GitHub draws it, to see what hostile text has become there.

Two renderers draw it, GitHub's own C code among them, and both must come to the same reading: what
only one of them takes for code, a row or a link is not safe.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser

from cmarkgfm import github_flavored_markdown_to_html
from cmarkgfm.cmark import Options
from markdown_it import MarkdownIt
from mdit_py_plugins.gfm import gfm_plugin

RAW = Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_HARDBREAKS | Options.CMARK_OPT_FOOTNOTES
PYTHONS = MarkdownIt("commonmark", {"html": True, "breaks": True}).use(gfm_plugin)
OURS = {
    "a", "blockquote", "br", "code", "details", "em", "li", "p", "pre", "strong", "summary",
    "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
LIVE = {
    "a mention": re.compile(r"(?<![A-Za-z0-9_`/])@[A-Za-z0-9]"),
    "a reference": re.compile(r"#[0-9]|\bGH-[0-9]", re.IGNORECASE),
    "an address": re.compile(r"://|\bwww\.", re.IGNORECASE),
}


@dataclass
class Reading(HTMLParser):
    """What a reader sees: `loud` is the text outside code, `codes` the text of each code."""

    tags: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    loud: str = ""
    codes: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    inside: int = 0
    cell: bool = False

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in {"href", "src"}]
        if tag == "code":
            self.inside += 1
            self.codes.append("")
        elif tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"}:
            self.rows[-1].append("")
            self.cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag == "code":
            self.inside -= 1
        elif tag in {"td", "th"}:
            self.cell = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.codes[-1] += data
        else:
            self.loud += data
        if self.cell:
            self.rows[-1][-1] += data

    def handle_comment(self, data: str) -> None:
        self.tags.append(f"<!--{data}")


def cmark(markdown: str) -> str:
    return str(github_flavored_markdown_to_html(markdown, RAW))


RENDERERS: tuple[Callable[[str], str], ...] = (PYTHONS.render, cmark)


def readings(markdown: str) -> list[Reading]:
    """What a reader sees, by each renderer."""
    found = []
    for render in RENDERERS:
        found.append(Reading())
        found[-1].feed(render(markdown))
        found[-1].close()
    return found


def read(markdown: str) -> Reading:
    """What a reader sees; it must not depend on the renderer."""
    one, other = readings(markdown)
    for what in ("codes", "rows", "links"):
        assert getattr(one, what) == getattr(other, what), f"renderers disagree about {what}"
    assert one.loud.split() == other.loud.split(), "renderers disagree about the words"
    return one


def alive(markdown: str, address: str = "https://github.com/acme/approvals/blob/") -> list[str]:
    """Everything in a text that is not dead text of others or plain words of ours."""
    read(markdown)
    found: list[str] = []
    for seen in readings(markdown):
        found += [f"tag {tag}" for tag in seen.tags if tag not in OURS]
        found += [f"link {link}" for link in seen.links if not link.startswith(address)]
        found += [f"{what} {hit[0]}" for what, it in LIVE.items() for hit in it.finditer(seen.loud)]
    return found
