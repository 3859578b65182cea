"""What a further decision about a waiting proposal costs in requests to GitHub."""

from typing import Any

import pytest

from sandbox.stage import REPOSITORY, SHOP
from sandbox.testing import Town
from tests.system.acting import approve
from tests.system.conftest import Box

pytestmark = pytest.mark.anyio

MOST = 6
SEEN = "/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions"  # a courtesy at intake
START = "PUT /repos/{owner}/{repo}/contents/{path}"


async def tied(here: Town) -> dict[str, Any]:
    await here.person("lee").push(SHOP, "basket", {"basket.py": "pass\n"})
    pull = await here.person("lee").open_pull(SHOP, title="A basket", head="basket")
    target = {"repository": SHOP, "pull_request": pull.number}
    return await here.propose("box.add", {"n": 4}, target=target)


async def chatted(here: Town, seen: dict[str, Any], where: str) -> None:
    """Comments that are no commands, the person's own among them, and what was decided before."""
    for who in ("sam", "lee", "noor"):
        await here.person(who).comment(where, here.number(seen), "What is this?")
    await here.rest()
    here.world.log.clear()


async def said(here: Town, seen: dict[str, Any], who: str, surface: str, where: str) -> None:
    person, digest = here.person(who), seen["digest"].removeprefix("sha256:")[:12]
    if surface == "review":
        await person.review(where, here.number(seen), "APPROVE")
    elif surface == "button":
        await person.press(here.check(seen).id, "approve")
    else:
        await person.comment(where, here.number(seen), f"/approve {digest}")
    await here.rest()


def asked(here: Town) -> list[str]:
    """The requests by our App up to the start's statement, but for tokens."""
    entries = [e for e in here.world.log.entries if e.kind in ("installation", "app")]
    kinds = [f"{e.method} {e.template}" for e in entries if e.template != SEEN]
    kinds = [kind for kind in kinds if not kind.endswith("/access_tokens")]
    return kinds[: kinds.index(START)] if START in kinds else kinds


@pytest.mark.parametrize(
    ("form", "surface"),
    [
        pytest.param("page", "review", id="review"),
        pytest.param("page", "button", id="button"),
        pytest.param("page", "comment", id="comment"),
        pytest.param("tied", "button", id="button-on-somebodys-page"),
        pytest.param("tied", "comment", id="comment-on-somebodys-page"),
    ],
)
async def test_a_yes_on_a_page_with_other_comments_takes_at_most_six(
    here: Town, box: Box, form: str, surface: str
) -> None:
    await approve(here, await here.propose("box.add", {"n": 1}))  # a ledger's first use takes more
    where = SHOP if form == "tied" else REPOSITORY
    seen = await (tied(here) if form == "tied" else here.propose("box.add", {"n": 4}))
    await chatted(here, seen, where)
    await said(here, seen, "lee", surface, where)
    assert ((await here.over(seen))["status"], box.runs) == ("applied", 2)
    assert len(asked(here)) <= MOST, "\n".join(asked(here))


@pytest.mark.parametrize("surface", ["review", "button", "comment"])
@pytest.mark.parametrize("who", ["sam", "dana"])
async def test_a_yes_that_does_not_count_takes_at_most_six_its_answer_included(
    here: Town, who: str, surface: str
) -> None:
    seen = await here.propose("box.add", {"n": 4})
    await chatted(here, seen, REPOSITORY)
    await said(here, seen, who, surface, REPOSITORY)
    assert (await here.seen(seen))["status"] == "awaiting_approval"
    assert len(asked(here)) <= MOST, "\n".join(asked(here))
