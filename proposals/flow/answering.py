"""Answering: what is said to each person whose stance does not do what they meant it to do."""

from datetime import datetime, timedelta

from checks.facts import Stance, Standing
from checks.reasons import Reason
from checks.verdict import Verdict
from checks.voices import Heard
from checks.wording import reply_to
from proposals.store import Step

ON_ITS_WAY = timedelta(minutes=1)
"""How long a delivery may still be on its way before its author is told that it never came."""

_UNANSWERED = frozenset(
    {Reason.NOT_A_PERSON, Reason.SUPERSEDED_STANCE, Reason.GONE, Reason.DISMISSED}
    # on somebody's page: said once for all plans there, or not at all
    | {Reason.DIGEST_REQUIRED, Reason.REVIEW_IS_ABOUT_THE_CODE}
)


def answers(verdict: Verdict, now: datetime) -> tuple[list[Step], timedelta | None]:
    """One answer to each stance that did not count; the wait for those that may yet arrive."""
    about = [found for found in map(_answered, verdict.heard) if found]
    young = [h for h in about if _undelivered(h) and now - h.voice.at < ON_ITS_WAY]
    steps = [Step("reply", key=h.voice.key, text=reply_to(h)) for h in about if h not in young]
    return steps, ON_ITS_WAY if young else None


def _answered(heard: Heard) -> Heard | None:
    """What to answer to one stance: a yes that does not count, a no that GitHub never delivered."""
    if heard.voice.stance is Stance.APPROVE:
        return heard if heard.reason and heard.reason not in _UNANSWERED else None
    stops = _undelivered(heard) and heard.reason in (None, Reason.REQUESTER)
    return Heard(heard.voice, Reason.NOT_DELIVERED) if stops else None


def _undelivered(heard: Heard) -> bool:
    return heard.voice.standing is Standing.UNDELIVERED
