"""`placet audit --online`: what GitHub shows today of the approvals that were counted."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from proposals.audit import Finding, Weight
from sandbox.stage import REPOSITORY, served
from sandbox.testing import Town
from tests.system.acting import approve
from webhook_app.cli.program import program

pytestmark = pytest.mark.anyio


async def audited(here: Town, monkey: dict[str, str]) -> Result:
    """The command, as an operator's machine runs it; GitHub is the sandbox on a port."""
    origin = Path(here.world.repository(REPOSITORY).git.path)
    trust = here.hall.ports.signer.keyid
    words = ["audit", "--clone", str(origin), "--trust", trust, "--online", "--json"]
    words += ["--config", str(here.stage.config)]
    return await asyncio.to_thread(CliRunner().invoke, program, words, env=monkey)


async def findings(here: Town) -> dict[str, Any]:
    async with served(here.github) as url:
        done = await audited(here, {"PLACET_API_URL": url})
    assert done.stderr == ""
    return dict(json.loads(done.stdout))


async def by_comment(here: Town) -> tuple[dict[str, Any], int]:
    """A proposal that noor approved by comment, and the comment's id."""
    seen = await here.propose("box.add", {"n": 1})
    comment = await here.person("noor").comment(REPOSITORY, here.number(seen), "/approve")
    await here.over(seen)
    return seen, comment.id


async def test_what_github_still_shows_is_clean(here: Town) -> None:
    await approve(here, await here.propose("box.add", {"n": 1}))
    await by_comment(here)
    pressed = await here.propose("box.add", {"n": 3})
    await here.person("lee").press(here.check(pressed).id, "approve")
    await here.over(pressed)
    said = await findings(here)
    assert (said["clean"], said["findings"]) == (True, [])
    assert any("@lee's button press cannot be looked up" in note for note in said["notes"])
    assert not any("nobody is asked" in words for words in said["cannot_see"])
    assert any("Presses of buttons" in words for words in said["cannot_see"])


async def edited(here: Town) -> None:
    _, comment = await by_comment(here)
    here.world.clock.advance(timedelta(minutes=1))
    await here.person("noor").edit_comment(REPOSITORY, comment, "I never said that")


async def deleted(here: Town) -> None:
    _, comment = await by_comment(here)
    await here.person("noor").delete_comment(REPOSITORY, comment)


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        pytest.param(edited, "approval_edited", "was edited after it was counted", id="edited"),
        pytest.param(deleted, "approval_gone", "is not on GitHub any more", id="deleted"),
    ],
)
async def test_a_comment_that_was_changed_since_is_found(
    here: Town, change: Callable[[Town], Awaitable[None]], code: str, words: str
) -> None:
    await change(here)
    await here.rest()
    said = await findings(here)
    [found] = said["findings"]
    assert (found["code"], found["weight"], said["clean"]) == (code, Weight.LIGHT, False)
    assert words in found["why"]
    assert "@noor's comment" in found["why"]
    assert isinstance(Finding(**found), Finding)


async def test_a_review_that_was_dismissed_since_is_a_note(here: Town) -> None:
    seen = await here.propose("box.add", {"n": 1})
    review = await here.person("lee").review(REPOSITORY, here.number(seen), "APPROVE")
    await here.over(seen)
    await here.person("noor").dismiss(REPOSITORY, review.id)
    await here.rest()
    said = await findings(here)
    assert said["clean"]
    assert any("was dismissed since" in note for note in said["notes"])


async def test_without_github_the_command_says_so(here: Town) -> None:
    await approve(here, await here.propose("box.add", {"n": 1}))
    done = await audited(here, {"PLACET_API_URL": "http://127.0.0.1:1"})
    said = json.loads(done.stdout)
    assert said["clean"], "what is signed is proven without GitHub"
    assert any("could not be read" in note for note in said["notes"])
