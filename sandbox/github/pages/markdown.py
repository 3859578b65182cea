"""Markdown as GitHub shows it: hostile text becomes text, never behaviour or our own look."""

import re
from collections.abc import Sequence
from html import escape
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from mdit_py_plugins.gfm import gfm_plugin

LONGEST = 262_144
"""Characters rendered; longer text is shown as it is, so that no page takes minutes."""

# GitHub's allow-list (jch/html-pipeline, sanitization_filter) with what GFM itself produces.
TAGS = {
    "a", "abbr", "b", "bdo", "blockquote", "br", "caption", "cite", "code", "dd", "del", "details",
    "dfn", "div", "dl", "dt", "em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6",
    "hr", "i", "img", "input", "ins", "kbd", "li", "mark", "ol", "p", "pre", "q", "rp", "rt",
    "ruby", "s", "samp", "section", "small", "span", "strike", "strong", "sub", "summary", "sup",
    "table", "tbody", "td", "tfoot", "th", "thead", "time", "tr", "tt", "ul", "var", "wbr",
}  # fmt: skip
ATTRIBUTES = {
    "*": {"align", "dir", "lang", "title"},
    "a": {"href", "id"},
    "img": {"src", "alt", "width", "height"},
    "details": {"open"},
    "input": {"checked"},
    "li": {"id"},
    "ol": {"start"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    "time": {"datetime"},
}
ALERTS = {f"markdown-alert-{kind}" for kind in ("note", "tip", "important", "warning", "caution")}
# Exact names only: a class of ours would let a comment look like the merge box.
CLASSES = {
    "div": {"markdown-alert", *ALERTS},
    "p": {"markdown-alert-title"},
    "ul": {"contains-task-list"},
    "li": {"task-list-item"},
    "section": {"footnotes"},
    "sup": {"footnote-ref"},
    "span": {"mention"},
}
SCHEMES = {"http", "https", "mailto"}
MENTION = re.compile(r"(?<![\w/@])@[A-Za-z0-9][A-Za-z0-9-]{0,38}(?:/[a-z0-9][a-z0-9_-]*)?")


def _text(tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    plain = escape(tokens[index].content)
    return MENTION.sub(lambda hit: f'<span class="mention">{hit[0]}</span>', plain)


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "breaks": True}).use(gfm_plugin)
    rules: dict[str, Any] = parser.renderer.rules  # type: ignore[attr-defined]
    rules["text"] = _text
    return parser


PARSER = _parser()


def rendered(text: str | None) -> Markup:
    """HTML that is safe to place into a page, whatever the text tries."""
    if not text or not text.strip():
        return Markup('<p class="muted">No description provided.</p>')
    if len(text) > LONGEST:
        return Markup("<pre>{}</pre>").format(text)
    try:
        html = PARSER.render(text)
    except RecursionError:
        return Markup("<pre>{}</pre>").format(text)
    return Markup(clean(html))  # noqa: S704 - nh3 has just cleaned it


def clean(html: str) -> str:
    """Keep what GitHub keeps of an HTML fragment; comments, scripts and handlers are gone."""
    return nh3.clean(
        html,
        tags=TAGS,
        attributes=ATTRIBUTES,
        allowed_classes=CLASSES,
        tag_attribute_values={"input": {"type": {"checkbox"}}},
        set_tag_attribute_values={"input": {"disabled": "", "type": "checkbox"}},
        url_schemes=SCHEMES,
        link_rel="nofollow noopener noreferrer",
    )
