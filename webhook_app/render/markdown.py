"""Foreign text in Markdown: it stays text, nothing of it is lost, and no cut goes unsaid."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from checks.wording import code, plural, visible

CELL = 160  # characters of one value in a table
_PARTIAL = re.compile(r"\\(?:u[0-9a-f]{0,3})?\Z")
_PIPE = re.compile(r"(\\?)\|")


def json_text(value: Any) -> str:
    """A value on one line as JSON, so that `"1"` is not `1` and a line end is not lost."""
    return json.dumps(value, ensure_ascii=False)


def cut(text: str, longest: int) -> tuple[str, int]:
    """The beginning of a text that is visible already, and how many characters are left out."""
    if len(text) <= longest:
        return text, 0
    head = _PARTIAL.sub("", text[:longest])
    return head, len(text) - len(head)


def snippet(text: str, longest: int = CELL) -> str:
    """Foreign text as code, at most so long; what is left out is counted."""
    head, left = cut(visible(text), longest)
    return code(head) + (f" and {plural(left, 'more character')}" if left else "")


def cell(text: str, longest: int = CELL) -> str:
    """The same for a table, where a bare `|` would end the cell and lose what follows.

    After a backslash, renderers disagree about an escaped pipe: there it is spelled out.
    """
    return _PIPE.sub(lambda m: m[1] + r"\u007c" if m[1] else r"\|", snippet(text, longest))


def table(head: Sequence[str], rows: Iterable[Sequence[str]], room: int) -> tuple[str, int]:
    """A table of as many rows as fit into `room` characters, and how many were taken."""
    lines = [_line(head), _line(["---"] * len(head))]
    for taken, row in enumerate(rows):
        line = _line(row)
        room -= len(line)
        if taken and room < 0:
            return "\n".join(lines), taken
        lines.append(line)
    return "\n".join(lines), len(lines) - 2


def fence(text: str, language: str = "text") -> str:
    """Foreign text as a block of code that it cannot close; line ends stay."""
    shown = visible(text, lines=True)
    marks = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", shown)), 3)
    return f"{marks}{language}\n{shown}\n{marks}"


def excerpt(text: str, longest: int, language: str = "text") -> str:
    """The same, at most so long; what is left out is counted below."""
    head, left = cut(visible(text, lines=True), longest)
    said = f"\n\nCut here: {plural(left, 'more character')}." if left else ""
    return fence(head, language) + said


def quoted(text: str) -> str:
    """Any Markdown as a quotation."""
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))


def details(summary: str, text: str) -> str:
    """Markdown that unfolds; the summary is ours."""
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"


def strings(value: Any) -> Iterator[str]:
    """Every text inside a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
