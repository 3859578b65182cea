"""What would the verdict be: changes to facts and policies as pure functions, and what they do.

Nothing here decides: the changed facts go to the same judge. What is added is said at `at`, a
moment of the caller's; whether it still counts later is the judge's business.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from pydantic import TypeAdapter, ValidationError

from .commands import Verb, parse
from .counting import Policies
from .explain import explain
from .facts import Facts, Person, Stance, Standing, Surface, Voice
from .policy import Policy, Source, folded
from .reasons import Finding
from .verdict import Verdict, judge

_FACTS = TypeAdapter(Facts)
_REVIEWS = {"approve": Stance.APPROVE, "request-changes": Stance.BLOCK}
_PRESSES = {"approve": Stance.APPROVE, "reject": Stance.REJECT}
_COMMANDS = {Verb.APPROVE: Stance.APPROVE, Verb.REJECT: Stance.REJECT}
_ORDER = 2**52  # later than anything GitHub has numbered


class BadChange(ValueError):
    """A change that cannot be made up; the message says what to write instead."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that a verdict is computed from; `now` is the moment it is given for."""

    facts: Facts
    sources: tuple[Source, ...]
    now: datetime

    def verdict(self) -> Verdict:
        """What the judge says of it."""
        return judge(self.facts, self.sources, self.now)

    def explained(self) -> dict[str, Any]:
        """The verdict laid open."""
        return explain(self.facts, self.sources, self.verdict(), self.now)


def add_review(facts: Facts, person: Person, word: str, at: datetime) -> Facts:
    """The facts with one more review of the pinned commit, delivered and standing."""
    return _said(facts, person, Surface.REVIEW, _stance(word, _REVIEWS, "a review"), at)


def press(facts: Facts, person: Person, word: str, at: datetime) -> Facts:
    """The facts with one more press of a button of the proposal's check run."""
    return _said(facts, person, Surface.BUTTON, _stance(word, _PRESSES, "a button"), at)


def add_comment(facts: Facts, person: Person, text: str, at: datetime) -> Facts:
    """The facts with one more comment; one that holds no command says nothing and changes nothing.

    Raises BadChange for a command that is no yes or no.
    """
    command = parse(text)
    if command is None:
        return facts
    if command.verb not in _COMMANDS:
        raise BadChange(f"/{command.verb} is no yes or no; only /approve and /reject are simulated")
    stance = _COMMANDS[command.verb]
    said = _said(facts, person, Surface.COMMENT, stance, at)
    voice = replace(said.voices[-1], head=None, digest=command.digest, text=text)
    return replace(said, voices=(*facts.voices, voice))


def dismiss(facts: Facts, key: str, by: Person | None = None) -> Facts:
    """The facts with the review of this key dismissed; BadChange when there is none."""
    if key not in {v.key for v in facts.voices if v.surface is Surface.REVIEW}:
        known = ", ".join(v.key for v in facts.voices if v.surface is Surface.REVIEW) or "none"
        raise BadChange(f"there is no review {key!a:.60}; the reviews are: {known}")
    voices = tuple(
        replace(v, standing=Standing.DISMISSED, dismisser=by) if v.key == key else v
        for v in facts.voices
    )
    return replace(facts, voices=voices)


def move_head(facts: Facts) -> Facts:
    """The facts after somebody pushed to the proposal's branch."""
    return replace(facts, head="0" * len(facts.head), moved=True)


def under(sources: Policies, policy: Policy) -> tuple[Source, ...]:
    """The sources with this policy as the current one: the floor and the pinned one still hold."""
    others = (s for s in sources if s.name != "current")
    return (*others, Source("current", policy))


def difference(before: Verdict, after: Verdict) -> dict[str, list[dict[str, str]]]:
    """The reasons that are gone and those that are new, in the judge's order."""
    old, new = _reasons(before.findings), _reasons(after.findings)
    return {
        "gone": [r for r in old if r not in new],
        "new": [r for r in new if r not in old],
    }


def as_data(scene: Scene) -> dict[str, Any]:
    """A scene as JSON data, which `scene_of` reads back to the same scene."""
    return {
        "facts": _FACTS.dump_python(scene.facts, mode="json"),
        "sources": [
            {
                "name": s.name,
                "blob": s.blob,
                "problem": s.problem,
                "policy": s.policy.model_dump(mode="json", by_alias=True, exclude_defaults=True)
                if s.policy
                else None,
            }
            for s in scene.sources
        ],
        "now": scene.now.isoformat(),
    }


def scene_of(data: Mapping[str, Any]) -> Scene:
    """The scene that `as_data` wrote; BadChange when it is not one."""
    try:
        sources = tuple(
            Source(s["name"], _policy(s["policy"]), s["problem"], s["blob"])
            for s in data["sources"]
        )
        facts = _FACTS.validate_python(data["facts"])
        return Scene(facts, sources, datetime.fromisoformat(data["now"]))
    except (ValidationError, KeyError, TypeError, ValueError) as error:
        raise BadChange(f"these are no facts of a proposal: {type(error).__name__}") from None


def _policy(data: Any) -> Policy | None:
    return None if data is None else Policy.model_validate(data)


def _stance(word: str, known: Mapping[str, Stance], what: str) -> Stance:
    if word not in known:
        raise BadChange(f"{what} says {' or '.join(known)}, not {word!a:.40}")
    return known[word]


def _said(facts: Facts, person: Person, surface: Surface, stance: Stance, at: datetime) -> Facts:
    order = _ORDER + len(facts.voices)
    key = f"{surface.value}:simulated-{len(facts.voices) + 1}"
    voice = Voice(key, person, surface, stance, at, order, head=facts.pinned_head)
    return replace(facts, voices=(*facts.voices, voice))


def _reasons(findings: Iterable[Finding]) -> list[dict[str, str]]:
    return [
        {"code": f.reason.value, "because": f.because, "policy": f.policy, "who": f.who}
        for f in findings
    ]


def named_in(facts: Facts) -> dict[str, Person]:
    """Everybody the facts tell of, by login in small letters."""
    people = [v.person for v in facts.voices]
    people += [v.dismisser for v in facts.voices if v.dismisser]
    return {folded(p.login): p for p in people}


def later(scene: Scene, wait: timedelta) -> Scene:
    """The same scene, judged that much later."""
    return replace(scene, now=scene.now + wait)
