"""A verdict in words: the titles, tables and answers that people read on GitHub.

Whatever somebody else wrote stands in code, every character that cannot be seen spelled out.
"""

import re
from datetime import datetime, timedelta

from .facts import Stance, Voice
from .reasons import REASONS, Finding, Reason, Weight
from .verdict import Decision, Verdict
from .voices import Heard

BECAUSE = 400  # characters of a finding's own words, which no rule makes longer
ROWS = 30  # stances shown in one table
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
# A login like GH-7 would also be read as a reference to issue 7.
_LOGIN = re.compile(r"(?![Gg][Hh]-[0-9])[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9])?")
_STANCES = {
    Stance.APPROVE: ("approved", "approval"),
    Stance.BLOCK: ("requested changes", "request for changes"),
    Stance.REJECT: ("rejected", "rejection"),
}
# Why a stance does not count: for everybody to read, and for the one who took it.
_DISCOUNTS = {
    Reason.REQUESTER: ("the agent works for them", "the agent that asks works for you"),
    Reason.ASKED_FOR_IT: ("they asked for it", "you asked for it yourself"),
    Reason.MACHINE_ACCOUNT: ("it is a machine's account", "this is a machine's account"),
    Reason.NOT_A_PERSON: ("it is not a person's account", "this is not a person's account"),
    Reason.VIA_APP: ("an App wrote it", "it was written through an App, not by your own hand"),
    Reason.CONTRIBUTOR: ("they pushed to this branch", "you pushed to this branch"),
    Reason.NOT_DELIVERED: ("GitHub did not deliver it", "GitHub never delivered it to Placet"),
    Reason.BEFORE_OPENING: ("it is older than this page", "it is older than what is shown now"),
    Reason.OTHER_HEAD: ("it is about another commit", "it is about another commit"),
    Reason.OTHER_DIGEST: ("it names another plan", "it names another plan"),
    Reason.GONE: ("it was edited or deleted", "it was edited or deleted afterwards"),
    Reason.DISMISSED: ("it was dismissed", "it was dismissed"),
    Reason.SUPERSEDED_STANCE: ("they said no later", "you said something else later"),
    Reason.IDENTITY_CHANGED: ("the login changed hands", "this login now is another account"),
    Reason.PERMISSION_TOO_LOW: ("their access is too low", "your access here is too low"),
    Reason.SURFACE_NOT_ALLOWED: ("not in this way", "the policy does not accept this way"),
    Reason.APPROVAL_LAPSED: ("it has lapsed", "it is older than the policy lets it count"),
    Reason.NOT_IN_GROUP: ("the policy asks for others", "the policy asks for other people"),
}
_TITLES = {
    Reason.EXPIRED: "Expired: nothing was changed",
    Reason.CLOSED: "Closed: nothing was changed",
    Reason.HEAD_MOVED: "Ended: the branch moved. Nothing was changed",
    Reason.BASE_CHANGED: "Ended: the target branch changed. Nothing was changed",
    Reason.EDITED_TOO_OFTEN: "Ended: the page was edited too often. Nothing was changed",
    Reason.REJECTED: "Rejected{by}: nothing was changed",
    Reason.WITHDRAWN: "Withdrawn{by}: nothing was changed",
    Reason.TOO_GRAVE: "Ended: a person must be asked. Nothing was changed",
    Reason.UNREADABLE: "On hold: GitHub could not be read; Placet looks again",
    Reason.CLOCK_SKEW: "On hold: the operator must set the server's clock",
    Reason.POLICY_UNREADABLE: "Nobody can approve: the policy file must be mended",
    Reason.ACCESS_UNKNOWN: "On hold: GitHub did not say what {who} may do",
    Reason.NO_RULE: "Nobody can approve: no rule is about this tool",
    Reason.REQUESTER_NOT_ALLOWED: "Nobody can approve: this agent may not ask for it",
    Reason.FROZEN: "On hold: changes are frozen until {until}",
    Reason.HALTED: "On hold: nothing starts until the operator lifts a stop",
    Reason.WAITS_IN_LINE: "Approved: another change of the same thing is done first",
    Reason.DRAFT: "On hold: mark the pull request as ready for review",
    Reason.VIEW_EDITED: "The page was edited: read it again, then approve",
    Reason.BLOCKED: "Blocked{by}: changes were requested",
}
# What stands in these findings may come from a file, a branch name or the operator.
_TELLING = frozenset(
    {
        Reason.UNREADABLE,
        Reason.CLOCK_SKEW,
        Reason.POLICY_UNREADABLE,
        Reason.NO_RULE,
        Reason.REQUESTER_NOT_ALLOWED,
        Reason.FROZEN,
        Reason.HALTED,
        Reason.WAITS_IN_LINE,
        Reason.BASE_CHANGED,
    }
)


def check_title(verdict: Verdict, expires: datetime, now: datetime) -> str:
    """The call to action in one short line of plain text, the title of the check run.

    It names moments, never what is left until them: GitHub shows it long after it was written.
    """
    if verdict.decision is Decision.APPROVED:
        return "Approved: planning again before anything runs"
    leading = (verdict.why(w) for w in (Weight.ENDS, Weight.DOUBTS, Weight.WAITS))
    finding = next((f for f in leading if f), None)
    if finding and (title := _TITLES.get(finding.reason)):
        until = re.match(r"frozen until (\S+ \S+ UTC)", finding.because)
        who = "@" + visible(finding.who) if finding.who else ""
        by = f" by {who}" if who else ""
        return title.format(who=who or "someone", by=by, until=until[1] if until else "later")
    if verdict.heard and (last := max(verdict.heard, key=_order)).reason in _DISCOUNTS:
        return f"@{visible(last.voice.person.login)}'s {_unheard(last, 0)}"
    return f"Waiting for {asked(verdict)} · until {stamp(expires, now)}"


def asked(verdict: Verdict) -> str:
    """Whose approvals are missing, in plain text: `1 approval from acme/data`."""
    needed = verdict.needed.removesuffix(" still needed") or "1 person"
    counts = [int(n) for n in re.findall(r"(\d+) (?:person|people)\b", needed)]
    words = re.sub(
        r"(\d+) (?:person|people)\b( of)?",
        lambda m: plural(int(m[1]), "approval") + (" from" if m[2] else ""),
        needed,
    )
    return words if len(words) <= 60 else plural(sum(counts), "approval")  # noqa: PLR2004


def heard_table(verdict: Verdict) -> str:
    """Everyone who was heard, as a Markdown table; "" when nobody said anything yet."""
    heard = sorted(verdict.heard, key=_order)
    if not heard:
        return ""
    blocking = {f.who for f in verdict.findings if f.reason is Reason.BLOCKED}
    rows = [_row(h, blocking) for h in heard[-ROWS:]]
    table = ["| who | what | counts | why |", "|---|---|---|---|", *rows]
    earlier = len(heard) - len(rows)
    return "\n".join(table) + (f"\n\n{earlier} earlier ones are not shown." if earlier else "")


def reply_to(about: Heard | Finding) -> str:
    """An answer: one line that says what happened, one that says what to do."""
    if isinstance(about, Heard):
        if about.reason is None:
            return f"{mention(about.voice.person.login)}, your {_noun(about.voice)} counts."
        named = about.voice.digest if about.reason is Reason.OTHER_DIGEST else None
        which = f" ({code(named)})" if named else ""
        whose = f"{mention(about.voice.person.login)}, your {_unheard(about, 1)}{which}."
        return f"{whose}\n\n{REASONS[about.reason].remedy}"
    meaning = REASONS[about.reason]
    detail = f" ({code(about.because[:BECAUSE])})" if about.reason in _TELLING else ""
    who = f" ({code('@' + about.who)})" if about.who else ""
    return f"{meaning.means}{detail}{who}\n\n{meaning.remedy}"


def span(length: timedelta) -> str:
    """A length of time in words: `40 s`, `25 min`, `3 h`, `3 h 20 min`, `2 days`."""
    seconds = max(0, round(length.total_seconds()))
    if seconds < 60:  # noqa: PLR2004
        return f"{seconds} s"
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    if not hours:
        return f"{minutes} min"
    if hours < 48:  # noqa: PLR2004
        return f"{hours} h" + (f" {rest} min" if rest else "")
    days, hours = divmod(hours, 24)
    return f"{days} days" + (f" {hours} h" if hours else "")


def stamp(at: datetime, now: datetime | None = None) -> str:
    """A moment that stays true: `1 Dec 14:00 UTC`, with the year unless it is that of `now`."""
    year = "" if now and now.year == at.year else f" {at.year}"
    return f"{at.day} {_MONTHS[at.month - 1]}{year} {at:%H:%M} UTC"


def moment(at: datetime, now: datetime) -> str:
    """A moment seen from now, for what is read at once: `1 Dec 14:00 UTC (in 4 h)`."""
    away = f"in {span(at - now)}" if at >= now else f"{span(now - at)} ago"
    return f"{stamp(at, now)} ({away})"


def plural(count: int, noun: str) -> str:
    """A number with its noun: `1 approval`, `2,000 approvals`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def mention(login: str) -> str:
    """`@login`, which notifies that person; what cannot be a login stands in code instead."""
    return f"@{login}" if _LOGIN.fullmatch(login) else code("@" + login)


# What a reader cannot see, takes for a plain space or is misled by. A fixed list: the categories
# of unicodedata grow with Python's version, and a page must be written the same way for ever.
_HIDDEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\xa0\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"
    "\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800"
    "\u3000\u3164\ud800-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U0010ffff]"
    # marks heaped upon one letter, which reach into the lines above and below
    "|[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]{3,}"
)


def visible(text: str, *, lines: bool = False) -> str:
    r"""The text with each hidden character as `\uXXXX`; line ends too, unless `lines` stay."""
    shown = _HIDDEN.sub(lambda m: "".join(_spelled(c) for c in m[0]), text)
    return shown if lines else shown.replace("\n", r"\n")


def hidden_count(text: str) -> int:
    """How many hidden characters a text holds; ordinary line ends and tabs are no surprise."""
    return sum(len(run) for run in _HIDDEN.findall(text) if run not in "\r\t")


def code(text: str) -> str:
    """Foreign text as one Markdown code span that it cannot leave; never a line of its own."""
    shown = visible(text)
    if not shown:
        return "*(empty)*"
    fence = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    padded = shown.strip(" ") and (shown[0] in "` " or shown[-1] in "` ")
    return f"{fence} {shown} {fence}" if padded else f"{fence}{shown}{fence}"


def _spelled(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


def _order(heard: Heard) -> tuple[datetime, int]:
    return heard.voice.at, heard.voice.order


def _noun(voice: Voice) -> str:
    return _STANCES[voice.stance][1]


def _unheard(heard: Heard, person: int) -> str:
    reason = heard.reason or Reason.UNREADABLE
    why = _DISCOUNTS.get(reason, (REASONS[reason].means.rstrip("."),) * 2)
    return f"{_noun(heard.voice)} does not count: {why[person]}"


def _row(heard: Heard, blocking: set[str]) -> str:
    voice, who = heard.voice, heard.voice.person.login
    what = f"{_STANCES[voice.stance][0]} ({voice.surface})"
    if heard.reason:
        meaning = REASONS[heard.reason]
        counts, why = "no", f"{meaning.means} {meaning.remedy}"
    elif voice.stance is Stance.BLOCK and who not in blocking:
        counts, why = "no", "It no longer holds."
    else:
        counts, why = "yes", ""
    return f"| {code('@' + who.replace('|', '?'))} | {what} | {counts} | {why} |"
