"""What is wrong with a policy that can be read: rules and places that can never come to anything.

Advice only. The judge never looks at it; a policy that it warns about is still strict.
"""

import re
from collections.abc import Iterator

from .policy import Group, Policy, Rule, folded


def advice(policy: Policy) -> list[str]:
    """Each thing that its author probably does not want, with its place; the file's order."""
    return [
        f"rule {place}: {what}"
        for place, rule in enumerate(policy.rules, 1)
        for what in (*_never_reached(policy, place, rule), *_globs(rule), *_people(rule))
    ]


def _never_reached(policy: Policy, place: int, rule: Rule) -> Iterator[str]:
    """A rule whose every tool is taken by an earlier one can never match."""
    earlier = [(n, g) for n, r in enumerate(policy.rules[: place - 1], 1) for g in r.tools]
    by = [next((n for n, g in earlier if covers(g, glob)), None) for glob in rule.tools]
    if all(by):
        first = " and ".join(f"rule {n}" for n in sorted({n for n in by if n}))
        yield (
            f"it can never match, because {first} above it takes every tool it names; "
            "move it up or take it out"
        )
        return
    for glob, taken in zip(rule.tools, by, strict=True):
        if taken:
            yield f"{glob!a} can never match here, because rule {taken} above takes it"


def covers(wide: str, narrow: str) -> bool:
    """Whether every name that matches `narrow` surely matches `wide`; False when in doubt."""
    return _covers(_settled(wide), _settled(narrow))


def _settled(glob: str) -> str:
    """The same glob with each run of wildcards in one order: `*?*` becomes `?*`."""

    def run(found: re.Match[str]) -> str:
        return "?" * found[0].count("?") + "*" * ("*" in found[0])

    return re.sub(r"[*?]+", run, glob)


def _covers(wide: str, narrow: str) -> bool:
    """By the set of places in `wide` that can be reached after each character of `narrow`."""
    here = _skipping(wide, {0})
    for char in narrow:
        after: set[int] = set()
        for at in here:
            if at < len(wide) and wide[at] == "*":
                after.add(at)
            elif at < len(wide) and (wide[at] == char or (wide[at] == "?" and char != "*")):
                after.add(at + 1)
        here = _skipping(wide, after)
    return len(wide) in here


def _skipping(wide: str, places: set[int]) -> set[int]:
    """These places and those behind a star, which may stand for nothing."""
    for at in sorted(places):
        here = at
        while here < len(wide) and wide[here] == "*":
            here += 1
            places.add(here)
    return places


def _globs(rule: Rule) -> Iterator[str]:
    """Every tool's name has a dot: a glob without one either matches nothing or too much."""
    for glob in rule.tools:
        if "." in glob or glob == "*":
            continue
        if "*" in glob or "?" in glob:
            yield f"{glob!a} has no dot, so it may take tools of other systems; write system.tool"
        else:
            yield f"{glob!a} has no dot, and every tool's name has one: it matches nothing"


def _people(rule: Rule) -> Iterator[str]:
    if rule.permission == "read":
        yield "permission: read lets everyone decide who can see the repository"
    if rule.permission == "triage":
        yield "permission: triage lets people decide who cannot change a file"
    stuck = _unfillable(rule)
    if stuck:
        yield (
            f"the places for {stuck} can never all be filled: one person fills one place; "
            "name more people or a team"
        )


def _unfillable(rule: Rule) -> str:
    """The first group whose places its users, and those of the groups before it, cannot fill."""
    places: list[frozenset[str]] = []
    for group in rule.require:
        users = _users(group)
        if users is None:
            continue
        places += [users] * group.approvals
        if _most(places) < len(places):
            return str(group)
    return ""


def _users(group: Group) -> frozenset[str] | None:
    """The only people who can fill a group; None when a team or anybody can."""
    if group.from_ is None or any(who.startswith("team:") for who in group.from_):
        return None
    return frozenset(folded(who) for who in group.from_)


def _most(places: list[frozenset[str]]) -> int:
    """How many places can be filled at once, each by another person."""
    taken: dict[str, int] = {}

    def fill(place: int, tried: set[str]) -> bool:
        for who in sorted(places[place] - tried):
            tried.add(who)
            if who not in taken or fill(taken[who], tried):
                taken[who] = place
                return True
        return False

    return sum(fill(place, set()) for place in range(len(places)))
