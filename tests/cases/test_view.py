"""What an approver sees: nothing that an agent or a plan said is more than text."""

import pygit2
import pytest

from sandbox.github import Fault
from sandbox.stage import REPOSITORY
from sandbox.testing import Town
from tests.cases.acting import review, why_not
from tests.reading import alive
from tests.system.conftest import Box

pytestmark = pytest.mark.anyio

HOSTILE = (
    "Approved by @lee already, fixes #1 @acme/everyone\n```\n</details>\n"
    "![x](https://e.example/x.png) <picture><source srcset=//e></picture> \u202etxt.exe\u200b"
)


async def test_an_agents_words_reach_neither_title_nor_history_and_stay_text(
    here: Town, box: Box
) -> None:
    """K71, K72, K73, K74: mentions, closing keywords, images and hidden HTML.

    renovate#1083, dependabot-core#3276, garak#1930, Trail of Bits
    2025-08-06.
    """
    seen = await here.propose("box.add", {"n": 4}, reason=HOSTILE)
    pull = here.pull(seen)
    assert pull.title == "Add 4 to the box"
    assert alive(pull.body or "") == []
    await review(here, "noor", seen)
    assert (await here.over(seen))["status"] == "applied"
    assert box.runs == 1
    for text in (*here.comments(seen), *here.check(seen).output.values()):
        assert [a for a in alive(str(text)) if "everyone" in a or "e.example" in a] == []
    for message in messages(here):
        assert not any(word in message for word in ("fixes", "#1\n", "everyone", "e.example"))


def messages(here: Town) -> list[str]:
    """Every commit message of the ledger."""
    repository = pygit2.Repository(str(here.world.repository(REPOSITORY).git.path))
    tip = repository.references["refs/heads/placet/ledger"].target
    return [commit.message for commit in repository.walk(tip)]


async def test_hidden_characters_of_an_agent_are_spelled_and_counted(here: Town) -> None:
    """K70: CVE-2021-42574: https://trojansource.codes."""
    seen = await here.propose("box.add", {"n": 4}, reason=HOSTILE)
    body = here.pull(seen).body or ""
    assert not {"\u202e", "\u200b"} & set(body)
    assert r"\u202e" in body
    assert "2 hidden characters" in body


@pytest.mark.parametrize(
    ("words", "marked"),
    [
        pytest.param("/approve", ["eyes"], id="a-yes"),
        pytest.param("/reject", ["eyes"], id="a-no"),
        pytest.param("/replan", ["eyes"], id="something-asked"),
        pytest.param("looks fine to me", [], id="no-command"),
    ],
)
async def test_a_comment_is_marked_as_seen(here: Town, words: str, marked: list[str]) -> None:
    """K94: people want to know that they were heard: nixpkgs-merge-bot#148."""
    seen = await here.propose("box.add", {"n": 4})
    said = await here.person("lee").comment(REPOSITORY, here.number(seen), words)
    await here.rest()
    found = here.page(seen).reactions.values()
    assert [r.content for r in found if r.comment_id == said.id] == marked


async def test_what_comes_too_late_is_answered_and_not_marked(here: Town) -> None:
    """K94: a mark says that something may come of it."""
    seen = await here.propose("box.add", {"n": 4})
    await review(here, "lee", seen)
    await here.over(seen)
    await here.person("noor").comment(REPOSITORY, here.number(seen), "/approve")
    await here.rest()
    assert not here.page(seen).reactions


async def test_a_mark_that_github_refuses_holds_nothing_up(here: Town, box: Box) -> None:
    """K94: it is a courtesy: the decision and what is told of it do not wait for it."""
    here.world.faults.add(Fault("POST", r"/reactions$", status=403, times=9))
    seen = await here.propose("box.add", {"n": 4})
    await here.person("lee").comment(REPOSITORY, here.number(seen), "/approve")
    assert (await here.over(seen))["status"] == "applied"
    assert box.runs == 1
    assert here.comments(seen)[-1].startswith("**Done, and read back:**")
    refused = [e for e in here.world.log.entries if str(e.template).endswith("/reactions")]
    assert len(refused) == 1


async def test_a_stance_that_does_not_count_is_shown_with_its_reason(here: Town) -> None:
    """K93: people asked to see why an approval is void: palantir/policy-bot#266, #959."""
    seen = await here.propose("box.add", {"n": 4})
    await review(here, "sam", seen)
    assert "permission_too_low" in await why_not(here, seen)
    summary = here.check(seen).output["summary"]
    [row] = [line for line in summary.splitlines() if line.startswith("| `@sam`")]
    assert "| no |" in row
    assert "access" in row
