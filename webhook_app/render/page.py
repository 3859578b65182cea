"""The pull request's page. It never changes, so nothing here may depend on state or on now."""

import re
from collections.abc import Collection

from checks.facts import NOBODY, Surface
from checks.policy import Rule
from checks.wording import code, hidden_count, span, stamp, visible
from proposals.plan import Proposal
from proposals.trailers import UnsafeTrailer, trailers

from . import shown
from .links import Links
from .markdown import cut, excerpt, quoted, snippet

NAMED = 10  # people in one line
TITLE = 72  # characters; phones cut a notification near there
SAID = 3_000
CHECK = "placet"
_LIVE = (
    (re.compile(r"(?<![A-Za-z0-9])@(?=[A-Za-z0-9])"), "@ "),  # a mention
    (re.compile(r"#(?=[0-9])"), "# "),  # a link to an issue, also "fixes #1"
    (re.compile(r"\b(GH)-(?=[0-9])", re.IGNORECASE), r"\1- "),
    (re.compile(r"://"), ": //"),
    (re.compile(r"\b(www)\.", re.IGNORECASE), r"\1 ."),
)
_UNTIL_THEN = "Until then it changes nothing. What came of it stands at the end of this page."
_AFTERWARDS = "There is nothing to approve here; whether it worked stands at the end of this page."
_BY_THE_OPERATOR = (
    "Placet's operator declared this tool as `announce`: done at once, read back, and shown here"
)
_EXACTLY = "it puts back exactly what was there before"
_CLOSING_UNASKED = (
    "Placet planned it twice, runs exactly this plan, once and never again, and reads back what can"
    " be read. No AI takes part in undoing it."
)
_CLOSING = (
    "Placet runs a tool only when people approve exactly this plan; no AI takes part after that."
    " Placet plans again right before it acts. If anything above would come out differently,"
    " it does nothing and says so."
)


def title(proposal: Proposal) -> str:
    """The summary as one plain line that mentions nobody and links nothing."""
    line = " ".join(visible(" ".join(proposal.summary.split())).split())
    for live, plain in _LIVE:
        line = live.sub(plain, line)
    line = line or f"Run {visible(proposal.tool)}"
    return line if len(line) <= TITLE else cut(line, TITLE - 1)[0].rstrip() + "…"


def body(proposal: Proposal, links: Links) -> str:
    """The text of the pull request."""
    parts = shown.parts(proposal)
    closing = _CLOSING if proposal.asks else _CLOSING_UNASKED
    first, last = first_lines(proposal), [claim(proposal), closing]
    room = shown.LONGEST - sum(len(part) + 2 for part in [first, *parts, *last])
    plan, whole = shown.exact(proposal, links, room)
    if not whole:
        first = first_lines(proposal, button=False)
    return "\n\n".join(part for part in [first, *parts, plan, *last] if part) + "\n"


def first_lines(proposal: Proposal, *, button: bool = True) -> str:
    """What, who asks, how to say yes and no, who may, until when, undoable, cost: for a phone."""
    if not proposal.asks:
        return announced(proposal)
    rule = proposal.rule
    waits = span(proposal.expires - proposal.created)
    does = snippet(proposal.summary or f"Run {proposal.tool}")
    press = f"press *Approve* in the check **{CHECK}** (tab *Checks*)" if button else ""
    lines = [
        f"**If you approve, Placet does this, once:** {does}. {_UNTIL_THEN}",
        "",
        *_undoes(proposal),
        *unsettled(proposal),
        f"- **Asked by:** {_asker(proposal)}, {behind(proposal)}",
        f"- **Yes:** {how_to_approve(rule, press)}. The button *Merge* approves nothing",
        "- **No:** comment `/reject`, which ends it; a *Request changes* review only holds it",
        f"- **Needed:** {needed(proposal)}",
        *nobody_there(proposal),
        f"- **Waits until:** {stamp(proposal.expires)} ({waits} after it was asked)",
        f"- **Can be undone:** {undoable(proposal)}",
        f"- **Costs:** {shown.cost(proposal)}",
        *named_for_it(proposal),
        *unguarded(proposal),
    ]
    return "\n".join(lines)


def announced(proposal: Proposal) -> str:
    """The same for what was done before people were told: there is nothing to say yes to."""
    does = snippet(proposal.summary or f"Run {proposal.tool}")
    lines = [
        f"**Started at once, without asking anybody:** {does}. {_AFTERWARDS}",
        "",
        *_undoes(proposal),
        f"- **Asked by:** {_asker(proposal)}, {behind(proposal)}",
        f"- **Why nobody was asked:** {_EXACTLY if proposal.undoes else _BY_THE_OPERATOR}",
        f"- **Can be undone:** {_taken_back(proposal)}",
        f"- **Costs:** {shown.cost(proposal)}",
    ]
    return "\n".join(lines)


def _taken_back(proposal: Proposal) -> str:
    if proposal.undoes:
        return "no: ask for the first call again"
    return (
        f"yes: comment `/undo`, or press *Undo* in the check **{CHECK}** (tab *Checks*). Anyone "
        "with write access can, the agent's people too. It is done at once if it puts back exactly "
        "what was there before; if not, people are asked first"
    )


def unguarded(proposal: Proposal) -> list[str]:
    """A line on a policy that nobody need review, or of which GitHub does not show whether."""
    if not proposal.policy_weakness:
        return []
    word = "Not sure" if proposal.policy_guarded is None else "Weak spot"
    return [f"- **{word}:** {proposal.policy_weakness}"]


def unsettled(proposal: Proposal) -> list[str]:
    """A line on an earlier start of the same call of which nobody knew what came; else none."""
    if not proposal.unsettled:
        return []
    url = proposal.unsettled.get("url")
    named = code(str(proposal.unsettled.get("proposal")))
    where = f" {url}" if url else ""
    says = "was started, and nobody knew what came of it, so this may do it a second time"
    then = "Whoever may decide there can find out, and say so there with `/resolve`"
    what = "this call, or one on the same thing,"
    return [f"- **Look first:** {what} {says}: {named}{where}. {then}"]


def named_for_it(proposal: Proposal) -> list[str]:
    """A line with those whom the rule means, as they were called when it was asked; else none."""
    names = candidates(proposal)
    return [f"- **The rule means:** {names}"] if names else []


def needed(proposal: Proposal) -> str:
    """Who must approve, in words; GitHub names stand in code, so that nobody is called here."""
    rule = proposal.rule
    if rule and not rule.takes(proposal.agent, proposal.identities, proposal.people):
        return "nobody can approve: the rule for this tool takes no requests of this agent"
    if rule is None:
        return "nobody can approve: `.github/placet.yml` has no usable rule for this tool"
    groups = " and ".join(in_code(str(group)) for group in rule.require)
    return f"{groups} with {rule.permission} access. The people the agent works for do not count"


def nobody_there(proposal: Proposal) -> list[str]:
    """A line about the people whom the policy names and GitHub does not know; else none."""
    logins = [code("@" + login) for login, id_ in sorted(proposal.people.items()) if id_ == NOBODY]
    if not logins:
        return []
    names = " and ".join(logins)
    return [f"- **Nobody there:** the policy names {names}, whom GitHub does not know as a person"]


def candidates(proposal: Proposal, counted: Collection[int] = ()) -> str:
    """Those whom the rule means, but for those whose yes is `counted`; "" when it names nobody.

    What they may do is only looked up when they say something.
    """
    out = {*counted, *proposal.contributors}
    logins = sorted(login for login, id_ in proposal.candidates.items() if id_ not in out)
    names = ", ".join(code("@" + login) for login in logins[:NAMED])
    return names + (f" and {len(logins) - NAMED:,} more" if len(logins) > NAMED else "")


def in_code(words: str) -> str:
    """Our own words about people with each login and team in code: nobody is notified."""
    return re.sub(r"@[\w-]+|[\w-]+/[\w-]+", lambda m: f"`{m[0]}`", words)


def how_to_approve(rule: Rule | None, press: str, *, button_first: bool = False) -> str:
    """The ways that the policy accepts; `press` says where the button is, "" when there is none."""
    ways = {
        Surface.REVIEW: "submit an *Approve* review",
        Surface.COMMENT: "comment `/approve`",
        Surface.BUTTON: press,
    }
    accepted = [w for surface, w in ways.items() if w and rule and surface in rule.surfaces]
    if button_first:
        accepted.reverse()
    return ", or ".join(accepted) or "not possible as it stands: see *Needed*"


def merge_message(proposal: Proposal) -> tuple[str, str]:
    """Title and text of the merge commit; the text ends in trailers for people and searches."""
    outcome = proposal.outcome or {}
    said = str(outcome.get("outcome") or proposal.state)
    basis = f" ({outcome['basis']})" if isinstance(outcome.get("basis"), str) else ""
    given = outcome.get("approved_by")
    people = [p for p in given if isinstance(p, dict)] if isinstance(given, list) else []
    approvers = [f"{p.get('login')} ({p.get('id')}, {p.get('surface')})" for p in people]
    names = {"proposal": proposal.id, "plan": proposal.plan.digest}
    try:
        text = trailers(**names, outcome=f"{said}{basis}", approved_by=approvers)
    except UnsafeTrailer:
        text = trailers(**names)
    return f"Placet: {title(proposal)}", text


def _undoes(proposal: Proposal) -> list[str]:
    if proposal.undoes is None:
        return []
    return [f"- **Takes back:** what proposal {code(proposal.undoes)} did; nothing else"]


def _asker(proposal: Proposal) -> str:
    agent = f"agent {snippet(proposal.agent)}"
    if not proposal.asked_by:
        return agent
    who = snippet("@" + str(proposal.asked_by["login"]))
    barred = ", who cannot approve it" if proposal.asks else ""
    return f"{who}{barred}. It was done by {agent}"


def behind(proposal: Proposal) -> str:
    """For whom the agent works, by the names they had when it was asked."""
    names = [snippet("@" + login) for login in sorted(proposal.behind)]
    others = len(proposal.identities) - len(names)
    if not names and not others:
        return "working for nobody in particular"
    if others > 0:
        noun = "other" if names else "person" if others == 1 else "people"
        names.append(f"{others:,} {noun}{'s' if names and others > 1 else ''}")
    barred = ", who cannot approve it" if proposal.asks else ""
    return f"working for {' and '.join(names)}{barred}"


def undoable(proposal: Proposal) -> str:
    """Whether Placet could take it back, and whether its operator calls it destructive."""
    tool = proposal.plan.plan.get("tool")
    said = tool if isinstance(tool, dict) else {}
    destructive = said.get("effect") == "destructive"
    kind = ". **Its operator calls this tool destructive**" if destructive else ""
    if said.get("undo") is True:
        return f"yes, by a new proposal (comment `/undo` when it is done){kind}"
    return ("no" if said.get("undo") is False else "not with Placet") + kind


def claim(proposal: Proposal) -> str:
    """The agent's own words, marked as such; "" when it said nothing."""
    if not proposal.said.strip():
        return ""
    label = "What the agent says about it (a claim, not checked by Placet):"
    text = proposal.said.replace("\r\n", "\n").strip("\n")
    plain = "\n" not in text and len(text) <= shown.EXCERPT // 10 and not hidden_count(text)
    return f"{label}\n\n" + quoted(snippet(text, SAID) if plain else excerpt(text, SAID))
