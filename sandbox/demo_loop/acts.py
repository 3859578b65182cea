"""The acts: each is a conversation, and says what must be true at its end."""

from collections.abc import Sequence
from contextlib import closing

from proposals.loop import Ended
from sandbox.demo.play import Unexpected
from sandbox.tools import members

from .club import ENTER, FIND, Club, register
from .scripted import Line

ASKED = "I asked for approval. Nothing is entered yet."


async def missing_year(club: Club) -> None:
    """The model asks, is answered, writes; a person approves, and it is read back."""
    club.play.tell.act("1. The missing year")
    asked = await club.says(
        "Please enter Ann.", (ENTER, {"name": "Ann"}), "Which year was Ann born in?"
    )
    _sure(_stood(asked) == ["draft"], "the call without a year is kept as a draft")
    _sure(len(asked.report["pending_drafts"]) == 1, "the draft is pending")
    wrote = await club.says("In 1990.", (ENTER, {"name": "Ann", "year": 1990}), ASKED)
    _sure(_stood(wrote) == ["awaiting_approval"], "the whole call waits for a person")
    _sure(wrote.report["pending_drafts"] == [], "the draft is cleared")
    _sure(club.entered() == {}, "nothing is entered before a person says yes")
    over = await club.approved()
    _sure(over["_verification"]["verdict"] == "verified", "what was entered was read back")
    done = await club.says("Is she in?", (FIND, {"name": "Ann"}), "Yes: Ann, born in 1990.")
    _sure(_ended(done) == ["applied"], "the report says that it was applied")
    _sure(club.entered()["Ann"] == 1990, "Ann is in the register")  # noqa: PLR2004


async def write_that_fails(club: Club) -> None:
    """The write fails after the approval; the model says that it worked, the report does not."""
    club.play.tell.act("2. A write that fails, and a model that says it worked")
    asked = await club.says(
        "Enter Ben, born in 1985.", (ENTER, {"name": "Ben", "year": 1985}), ASKED
    )
    _sure(_stood(asked) == ["awaiting_approval"], "the call waits for a person")
    club.play.tell.line("Another program locks the register.")
    with closing(members.locked(register(club.play.stage))):
        over = await club.approved()
    _sure(over["status"] == "failed", "the write failed")
    claims = await club.says("Thank you.", "You are welcome: Ben is saved.")
    _sure(_ended(claims) == ["failed"], "the report says that it failed")
    _sure("locked" in claims.report["ended_since_last"][0]["why"], "the report says why")
    _sure("Ben" not in club.entered(), "Ben is not in the register")


async def only_claims(club: Club) -> None:
    """The model says "saved" without a write; the guard asks once, from facts."""
    club.play.tell.act("3. A model that only claims")
    await club.says("Enter Cleo.", (ENTER, {"name": "Cleo"}), "Which year was Cleo born in?")
    correction = "I was wrong: nothing is saved. Now I asked for approval."
    whole: Line = (ENTER, {"name": "Cleo", "year": 1979})
    claims = await club.says("In 1979.", "Saved!", whole, correction)
    club.play.tell.line("What the user saw stays: “Saved!” and then the correction.")
    _sure(claims.reply == f"Saved!\n\n{correction}", "the reply is what the user saw")
    _sure(_stood(claims) == ["awaiting_approval"], "after the guard asked, the model wrote")
    over = await club.approved()
    _sure(over["status"] == "applied", "Cleo was approved and entered")
    await club.says("Good.", "She is entered.")
    nothing = await club.says("Enter Dora, born in 2001.", "Saved!")
    _sure(nothing.report["changes_this_turn"] == 0, "the report says that nothing changed")
    _sure(_stood(nothing) == [], "the report lists no call")
    _sure("Dora" not in club.entered(), "Dora is not in the register")


async def agree(clubs: Sequence[Club]) -> dict[str, str]:
    """Hold the replies' reports to the store, and both to the register; how each call ended."""
    stored: dict[str, str] = {}
    for club in clubs:
        stored |= await club.agrees()
    play, entered = clubs[0].play, clubs[0].entered()
    for proposal, status in stored.items():
        play.tell.line(f"{proposal}: the store says {status}, the last report says {status}.")
    play.tell.line(f"The register: {entered}")
    counts = await play.stage.counts()
    for status in ("applied", "failed"):
        told = list(stored.values()).count(status)
        _sure(counts[status] == told, f"the operator too is told of {told} {status}")
    _sure(entered == {"Ann": 1990, "Cleo": 1979}, "exactly Ann and Cleo are entered")
    return stored


def _stood(ended: Ended) -> list[str]:
    return [entry["status"] for entry in ended.report["entries"]]


def _ended(ended: Ended) -> list[str]:
    return [entry["status"] for entry in ended.report["ended_since_last"]]


def _sure(true: bool, what: str) -> None:  # noqa: FBT001
    if not true:
        raise Unexpected(f"it is not true that {what}")


ACTS = (missing_year, write_that_fails, only_claims)
