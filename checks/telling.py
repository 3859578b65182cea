"""An explanation in plain text, for a terminal: what `explain` laid open, in the order of use.

Whatever somebody else wrote comes with each character spelled out that cannot be seen.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from .wording import span, stamp, visible

Data = Mapping[str, Any]

_FIRST = {
    "approved": "Approved: enough people said yes, and nothing stands in the way.",
    "waiting": "Waiting: not approved yet.",
    "doubtful": "On hold: something could not be made out, so nothing is approved.",
    "ended": "Ended: nothing will be changed.",
}
_SAID = {"approve": "approved", "block": "requested changes", "reject": "rejected"}
_NAMES = {
    "floor": "the server's floor",
    "propose": "the policy when it was proposed",
    "current": "the policy now",
}


def as_text(said: Data) -> str:
    """An explanation as lines of plain text; the first line is the answer."""
    parts = [
        [_first(said)],
        _titled("What stands in the way", _findings(said["findings"])),
        _titled("What was said", _stances(said["stances"])),
        _titled("The policies, each of which must be satisfied", _policies(said["policies"])),
        _titled("Who could still approve", _could(said["could_approve"])),
        _ends(said),
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def _first(said: Data) -> str:
    missing = next((p["missing"] for p in said["policies"] if p["missing"]), None)
    needed = f" Still needed: {visible(missing)}." if missing else ""
    return _FIRST[said["decision"]] + (needed if said["decision"] == "waiting" else "")


def _titled(title: str, lines: Iterable[str]) -> list[str]:
    below = [f"  {line}" for line in lines]
    return [title, *below] if below else []


def _findings(findings: list[Data]) -> Iterable[str]:
    for found in findings:
        by = f" ({_NAMES.get(found['policy'], found['policy'])})" if found["policy"] else ""
        yield f"{found['code']}: {found['means']}"
        yield f"  {visible(found['because'])}{by}."
        yield f"  What to do: {found['remedy']}"


def _stances(stances: list[Data]) -> Iterable[str]:
    for one in stances or ():
        what = f"{_who(one)} {_SAID[one['stance']]} ({one['surface']}, {_at(one['at'])})"
        if one["counts"]:
            until = f" until {_at(one['lapses'])}" if one["lapses"] else ""
            yield f"{what}: counts{until}. [{visible(one['key'])}]"
        else:
            reason = f" ({one['reason']})" if one["reason"] else ""
            yield f"{what}: does not count{reason}. [{visible(one['key'])}]"
            yield f"  {one['means']}"
        if one["remedy"]:
            yield f"  What to do: {one['remedy']}"
    if not stances:
        yield "Nobody has said anything yet."


def _policies(policies: list[Data]) -> Iterable[str]:
    for policy in policies:
        blob = f" (blob {visible(policy['blob'])[:12]})" if policy["blob"] else ""
        name = f"{_NAMES.get(policy['name'], policy['name'])}{blob}"
        if policy["problem"]:
            yield f"{name}: cannot be used. {visible(policy['problem'])}."
        elif policy["rule"] is None:
            yield f"{name}: no rule is about this tool, so nobody can approve."
        else:
            yield f"{name}: rule {policy['rule']['place']}, for {_globs(policy['rule'])}"
            yield from (f"  {line}" for line in _rule(policy["rule"]))
            if policy["missing"]:
                yield f"  Missing: {visible(policy['missing'])}."


def _globs(rule: Data) -> str:
    return ", ".join(visible(glob) for glob in rule["tools"])


def _rule(rule: Data) -> Iterable[str]:
    lasts = (
        f"; an approval lasts {span(timedelta(seconds=rule['approval_valid']))}"
        if rule["approval_valid"]
        else ""
    )
    if rule["requesters"]:
        yield "For requests of " + ", ".join(visible(r) for r in rule["requesters"])
    ways = " or ".join(rule["surfaces"])
    yield f"{rule['permission']} access or more, by {ways}{lasts}"
    if rule["message"]:
        yield f'It says: "{visible(rule["message"])}"'
    for group in rule["groups"]:
        filled = group["filled"]
        if filled is None:
            yield f"[?/{group['approvals']}] {group['asks']}: not known without asking GitHub"
            continue
        people = ", ".join(f"{_who(one)} ({one['surface']})" for one in filled) or "nobody yet"
        yield f"[{len(filled)}/{group['approvals']}] {group['asks']}: {people}"


def _could(could: Data) -> Iterable[str]:
    if could["heard"]:
        yield "Heard, may decide, does not count now: " + ", ".join(map(_who, could["heard"]))
    if could["named"]:
        names = (n.replace("user:", "@").replace("team:", "") for n in could["named"])
        yield "Named by the policy: " + ", ".join(names)
    if could["anyone"]:
        yield f"Anyone with {could['anyone']} access whom the agent does not work for"
    yield could["note"]


def _ends(said: Data) -> list[str]:
    if said["decision"] == "ended":
        return []
    lines = [f"It expires at {_at(said['expires'])}."]
    if said["decision"] == "approved" and said["valid_until"] != said["expires"]:
        lines.append(f"This yes holds until {_at(said['valid_until'])}, unless something changes.")
    return lines


def difference_text(difference: Data) -> str:
    """What differs between two explanations, one line each; "" when nothing does."""
    lines = [f"- no longer: {_reason(r)}" for r in difference["gone"]]
    lines += [f"+ now also: {_reason(r)}" for r in difference["new"]]
    return "\n".join(lines)


def _reason(reason: Data) -> str:
    who = f" @{visible(reason['who'])}" if reason["who"] else ""
    by = f" ({_NAMES.get(reason['policy'], reason['policy'])})" if reason["policy"] else ""
    about = f": {visible(reason['because'])}" if reason["because"] else ""
    return f"{reason['code']}{who}{about}{by}"


def _who(person: Data) -> str:
    return "@" + visible(person["login"])


def _at(text: str) -> str:
    return stamp(datetime.fromisoformat(text))
