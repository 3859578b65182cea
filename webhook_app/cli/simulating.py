"""`placet simulate`: what would the verdict be. The changes happen here, on a copy of the facts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

import typer
from pydantic import TypeAdapter, ValidationError

from checks import simulate as change
from checks.facts import Facts, Person
from checks.policy import Policy, folded
from checks.telling import as_text, difference_text
from checks.times import Duration
from checks.wording import stamp
from proposals.tools import printable

from .operators import ConfigOption, call
from .policies import policy_in
from .say import AsJson, give_up, print_json

Add = Callable[[Facts, Person, str, datetime], Facts]
Words = list[str] | None
_LENGTH: TypeAdapter[timedelta] = TypeAdapter(Duration)


@dataclass(frozen=True, slots=True)
class Changes:
    """What is supposed to happen: `said` are (login, words, how), `dismissed` (key, login)."""

    said: Sequence[tuple[str, str, Add]]
    dismissed: Sequence[tuple[str, str]]
    wait: timedelta
    moved: bool
    policy: Policy | None

    def logins(self) -> list[str]:
        """Everybody who does something."""
        return [who for who, _, _ in self.said] + [by for _, by in self.dismissed if by]

    def apply(self, scene: change.Scene, people: Mapping[str, Person]) -> change.Scene:
        """The scene as it would be; BadChange when something cannot happen."""
        facts = scene.facts
        for who, words, add in self.said:
            facts = add(facts, people[folded(who)], words, scene.now)
        for key, by in self.dismissed:
            facts = change.dismiss(facts, key, people[folded(by)] if by else None)
        facts = change.move_head(facts) if self.moved else facts
        sources = change.under(scene.sources, self.policy) if self.policy else scene.sources
        return change.later(replace(scene, facts=facts, sources=sources), self.wait)


def simulate(  # noqa: PLR0913, PLR0917 (one for each option)
    proposal: str,
    add_review: Annotated[
        Words, typer.Option(metavar="LOGIN=WORD", help="WORD: approve or request-changes.")
    ] = None,
    add_comment: Annotated[
        Words, typer.Option(metavar="LOGIN=TEXT", help="Such as bob=/approve.")
    ] = None,
    press: Annotated[
        Words, typer.Option(metavar="LOGIN=WORD", help="WORD: approve or reject.")
    ] = None,
    dismiss: Annotated[
        Words, typer.Option(metavar="KEY[=LOGIN]", help="A review's key, and who dismisses it.")
    ] = None,
    at: Annotated[str, typer.Option(help="Judge that much later, such as +3h.")] = "",
    move_head: Annotated[  # noqa: FBT002 (a switch of the command line)
        bool, typer.Option("--move-head", help="Somebody pushes to its branch.")
    ] = False,
    policy: Annotated[Path | None, typer.Option(help="A file as the policy of now.")] = None,
    config: ConfigOption = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Tell what the verdict on an open proposal would be. Nothing is changed anywhere.

    What is added is said now; --at moves only the moment of judging. A file given as the policy
    takes the place of the policy of now: the one at propose holds for this proposal all the same.
    """
    adding = ((add_review, change.add_review), (add_comment, change.add_comment))
    said = [
        (*_pair(one), add) for given, add in (*adding, (press, change.press)) for one in given or ()
    ]
    dismissed = [(key, by) for key, _, by in (one.partition("=") for one in dismiss or ())]
    file = policy_in(policy) if policy else None
    changes = Changes(said, dismissed, _wait(at), move_head, file)
    query = [("proposal", proposal), *(("login", login) for login in changes.logins())]
    data = call(config, "GET", f"/facts?{urlencode(query)}")
    try:
        before = change.scene_of(data)
        after = changes.apply(before, {n: Person(**p) for n, p in data["people"].items()})
    except change.BadChange as error:
        give_up(f"{error}.")
    _show(data, before, after, as_json=as_json)


def _show(
    data: Mapping[str, Any], before: change.Scene, after: change.Scene, *, as_json: bool
) -> None:
    differs = change.difference(before.verdict(), after.verdict())
    if as_json:
        told = {"before": before.explained(), "after": after.explained(), "difference": differs}
        print_json(told | {"basis": data["basis"], "state": data["state"]})
        return
    was, now = (scene.verdict().decision.value for scene in (before, after))
    typer.echo(f"Before: {was}, as of {stamp(before.now)}. {printable(data['note'], 500)}")
    typer.echo(f"After: {now}, as of {stamp(after.now)}. Simulated: nothing was changed.")
    typer.echo(difference_text(differs) or "No reason differs.")
    typer.echo("\n" + as_text(after.explained()), nl=False)


def _pair(given: str) -> tuple[str, str]:
    who, equals, words = given.partition("=")
    if not (equals and who and words):
        give_up(f"{given!a:.60} is not LOGIN=WORDS. Write something like bob=approve.")
    return who, words


def _wait(given: str) -> timedelta:
    if not given:
        return timedelta()
    try:
        return _LENGTH.validate_python(given.removeprefix("+"))
    except ValidationError:
        give_up(f"{given!a:.40} is no length of time. Write a number and s, m, h or d: +3h.")
