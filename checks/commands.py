"""What a comment says to Placet: one command, the whole of its first line, in plain ASCII.

    /approve [DIGEST]   /reject [DIGEST] [why]   /resolve DIGEST applied|failed [why]
    /undo [DIGEST]      /replan [DIGEST]         /withdraw [DIGEST]

Reading less than was meant costs a person one more comment; reading more could run what nobody
approved. So nothing is trimmed, folded or normalised; only the case of ASCII letters is free.
"""

import re
import unicodedata
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum


class Verb(StrEnum):
    """What a person can ask for in a comment."""

    APPROVE = "approve"
    REJECT = "reject"
    REPLAN = "replan"
    WITHDRAW = "withdraw"
    UNDO = "undo"
    RESOLVE = "resolve"


@dataclass(frozen=True, slots=True)
class Command:
    """One command: `digest` is 12 to 64 lower-case hex digits without `sha256:`.

    `word` (`applied` or `failed`) belongs to `/resolve`; `text` is the why of `/reject` and
    `/resolve`, exactly as a person typed it: hostile until rendered.
    """

    verb: Verb
    digest: str | None = None
    word: str | None = None
    text: str = ""


_DIGEST = r"[ \t]+(?:sha256:)?(?P<digest>[0-9a-f]{12,64})"
_TEXT = r"(?:[ \t]+(?P<text>.*))?"
_ARGUMENTS = {
    Verb.APPROVE: rf"(?:{_DIGEST})?",
    Verb.REJECT: rf"(?:{_DIGEST})?{_TEXT}",
    Verb.REPLAN: rf"(?:{_DIGEST})?",
    Verb.WITHDRAW: rf"(?:{_DIGEST})?",
    Verb.UNDO: rf"(?:{_DIGEST})?",
    Verb.RESOLVE: rf"{_DIGEST}[ \t]+(?P<word>applied|failed){_TEXT}",
}
# re.ASCII also keeps IGNORECASE from taking U+017F for an s and U+212A for a k.
_GRAMMAR = {
    verb: re.compile(rf"/{verb}{arguments}[ \t]*", re.ASCII | re.IGNORECASE)
    for verb, arguments in _ARGUMENTS.items()
}
_STARTS = frozenset({Verb.APPROVE, Verb.UNDO, Verb.RESOLVE})
_STOPS = frozenset({Verb.REJECT, Verb.WITHDRAW})


def parse(body: str) -> Command | None:
    """Read the command of a comment, or None.

    Later lines are free text, except that a comment which also says `/reject` or `/withdraw`
    starts nothing: it is no command.
    """
    first, *rest = _lines(body)
    command = _command(first)
    if command and command.verb in _STARTS and _STOPS.intersection(_verbs(rest)):
        return None
    return command


def ignored(body: str) -> tuple[Verb, ...]:
    """List the commands on later lines, which do nothing, so that the answer can say so."""
    return tuple(_verbs(_lines(body)[1:]))


def names(digest: str, command: Command) -> bool:
    """Say whether a command means the plan of this digest (`sha256:` and 64 hex digits).

    A command without a digest means whatever its pull request holds.
    """
    return command.digest is None or digest.startswith("sha256:" + command.digest)


def _command(line: str) -> Command | None:
    for verb, grammar in _GRAMMAR.items():
        if found := grammar.fullmatch(line):
            said = found.groupdict()
            return Command(
                verb,
                digest=said["digest"].lower() if said["digest"] else None,
                word=word.lower() if (word := said.get("word")) else None,
                text=(said.get("text") or "").strip(" \t"),
            )
    return None


def _lines(body: str) -> list[str]:
    """Split at LF and CRLF only: str.splitlines also splits at VT, FF, NEL and U+2028."""
    *lines, last = body.split("\n")
    return [*(line.removesuffix("\r") for line in lines), last]


def _verbs(lines: list[str]) -> list[Verb]:
    return [command.verb for line in lines if (command := _command(line))]


_YES = re.compile(
    "(lgtm|approved)\\b.*|i approve( this)?|approv(e|ing)|yes|ok|okay|go ahead|ship it"
    "|looks good( to me)?|[+]1|:[+]1:|:shipit:|\N{THUMBS UP SIGN}|\N{WHITE HEAVY CHECK MARK}"
)
_NEAR = ("approve", "approved", "lgtm")


def looks_like_approval(body: str) -> bool:
    """Guess whether a person meant yes, so that we can answer with the line to paste.

    For answers only: it reads look-alikes and misspellings on purpose and never grants anything.
    """
    if parse(body) is not None:
        return False
    said = [line for line in map(_folded, _lines(body)) if line and not line.startswith(">")]
    if not said or len(said[0]) > 200:  # noqa: PLR2004 (a longer line is not a plain yes)
        return False
    words = said[0].removeprefix("please ").strip("*_\"'!., ")
    if words.startswith("/"):
        verb = re.split(r"\W", words.lstrip("/ "), maxsplit=1)[0]
        return bool(get_close_matches(verb, _NEAR, n=1, cutoff=0.8))
    return _YES.fullmatch(words) is not None


def _folded(line: str) -> str:
    """Fold a line to what a person sees: no invisible characters, one width, one case."""
    wide = unicodedata.normalize("NFKC", line)
    seen = "".join(c for c in wide if unicodedata.category(c) not in {"Cf", "Cc", "Mn", "Sk"})
    return " ".join(seen.casefold().split())
