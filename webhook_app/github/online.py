"""What GitHub shows today of recorded approvals; only reads."""

from collections.abc import Iterable
from itertools import groupby

from proposals.audit import Recorded, Shown
from proposals.ports import ForgeError, Refused

from .places import Places
from .repository import NOT_FOUND, Repository
from .shapes import Comment, Review


async def shown(places: Places, approvals: Iterable[Recorded]) -> dict[str, Shown]:
    """What is shown of each approval, by its key; what cannot be read has no entry."""
    found: dict[str, Shown] = {}
    ordered = sorted(approvals, key=lambda one: (one.repository, one.number))
    for (repository, number), group in groupby(ordered, lambda o: (o.repository, o.number)):
        page = list(group)
        try:
            repo = await places.of(repository)
        except ForgeError:
            continue
        if any(one.surface == "review" for one in page):
            found |= await _reviews(repo, number, page)
        for one in page:
            if one.surface == "comment" and (seen := await _comment(repo, one)):
                found[one.key] = seen
    return found


async def _reviews(repo: Repository, number: int, page: list[Recorded]) -> dict[str, Shown]:
    try:
        listed: list[Review] = await repo.every(Review, "pulls", number, "reviews")
    except ForgeError:
        return {}
    by_id = {review.id: review for review in listed}
    return {one.key: _as_shown(by_id.get(one.order)) for one in page if one.surface == "review"}


def _as_shown(review: Review | None) -> Shown:
    if review is None:
        return Shown(there=False)
    person = review.user.id if review.user else None
    return Shown(there=True, person=person, head=review.commit_id, state=review.state)


async def _comment(repo: Repository, one: Recorded) -> Shown | None:
    try:
        comment = (await repo.ask("GET", "issues", "comments", one.order)).read(Comment)
    except Refused as refused:
        return Shown(there=False) if refused.status == NOT_FOUND else None
    except ForgeError:
        return None
    person = comment.user.id if comment.user else None
    return Shown(there=True, person=person, text=comment.body or "")
