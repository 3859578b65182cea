"""Opening a proposal on somebody's page: the plan on the ledger, a check run, one announcement.

Each step makes its thing or finds what an earlier try left, as in `publish`. Nothing of the page
itself is ever touched.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from proposals.plan import Aim, Place, Proposal, Target
from proposals.ports import Lost, Refused

from .check import check_body, find_check
from .ledger import Ledger
from .repository import NOT_FOUND, Repository
from .shapes import CheckRun, Comment, Object
from .statements import plan_of
from .talk import find_said, say
from .view import Render

ANNOUNCEMENT = "announcement"
OURS = "placet/"  # branches of ours: what they hold is decided about in their own page


async def target_of(there: Repository, aim: Aim) -> Target:
    """What a call is tied to, as it is now; Refused, in words for the agent, when it can't be."""
    name = f"{there.owner}/{there.name}"
    if not aim.number:
        try:
            reply = await there.ask("GET", "git", "commits", aim.commit)
        except Refused as refused:
            if refused.status in (NOT_FOUND, 422):
                raise Refused(f"There is no commit {aim.commit} in {name}", 404) from None
            raise
        return Target(there.id, name, 0, reply.read(Object).sha)
    try:
        pull, _ = await there.pull(aim.number)
    except Refused as refused:
        if refused.status == NOT_FOUND:
            raise Refused(f"There is no pull request {name}#{aim.number}", 404) from None
        raise
    if pull.state != "open":
        raise Refused(f"The pull request {name}#{aim.number} is not open", 409)
    if pull.head.ref.startswith(OURS) or pull.base.ref.startswith(OURS):
        raise Refused(f"{name}#{aim.number} is one of Placet's own pull requests", 409)
    fork = pull.head.repo is None or pull.head.repo.id != there.id
    return Target(
        there.id, name, pull.number, pull.head.sha, pull.base.ref, pull.html_url, fork=fork
    )


@dataclass(slots=True)
class Tying:
    """One proposal on its way to somebody's page; `repo` governs it, `there` is the page's.

    `us` is the numeric id of our own account, by which our announcement is found again.
    """

    repo: Repository
    there: Repository
    ledger: Ledger
    render: Render
    proposal: Proposal
    target: Target
    us: int

    async def run(self, plan_file: bytes) -> Place:
        """Show it, or find it shown; raises ForgeError, and may then simply be run again."""
        await self.ledger.tip(self.repo)
        path = self.render.plan_path(self.proposal)
        plan = plan_of(self.repo, self.ledger, self.proposal, path, plan_file)
        found = not await plan.stand()
        target, home = self.target, f"{self.repo.owner}/{self.repo.name}"
        nowhen = self.repo.client.now()
        place = Place("", target.base, target.head, target.number, target.url, 0, nowhen, home=home)
        run = await self._check(place, found=found)
        place = replace(place, check_run=run.id, url=target.url or run.html_url or "")
        if not target.number:
            return replace(place, opened=_utc(run.started_at, nowhen))
        said = await self._announce(place, found=found)
        return replace(place, announced=said.id, opened=_utc(said.created_at, nowhen))

    async def _check(self, place: Place, *, found: bool) -> CheckRun:
        placed = replace(self.proposal, place=place)
        name = self.render.check_name(placed)
        there = await find_check(self.there, place.head, placed.id, name) if found else None
        if there:
            return there
        view = self.render.check(placed, None, self.repo.client.now())
        body = {
            "name": name,
            "head_sha": place.head,
            "external_id": placed.id,
            **check_body(view),
        }
        try:
            return (await self.there.ask("POST", "check-runs", body=body)).read(CheckRun)
        except Lost:
            run = await find_check(self.there, place.head, placed.id, name)
            if run is None:
                raise
            return run

    async def _announce(self, place: Place, *, found: bool) -> Comment:
        placed = replace(self.proposal, place=place)
        if found and (there := await find_said(self.there, placed, ANNOUNCEMENT, self.us)):
            return there
        text = self.render.announcement(placed)
        try:
            return await say(self.there, placed, ANNOUNCEMENT, text)
        except Lost:
            there = await find_said(self.there, placed, ANNOUNCEMENT, self.us)
            if there is None:
                raise
            return there


def _utc(moment: datetime | None, otherwise: datetime) -> datetime:
    return moment.astimezone(UTC) if moment else otherwise
