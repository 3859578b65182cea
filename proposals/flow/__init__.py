"""The life of a proposal, top to bottom: asked, opened, decided, applied, ended, recovered."""

from .acquainting import caught_up, expired
from .announcing import publish, take_back
from .applying import read_back
from .asking import Ask, propose, replan, revoke, same_call, withdraw
from .asserting import barred, settle, settle_by_operator, unheard
from .confirming import token_for
from .deciding import advance
from .elsewhere import catch_up, told_by_others
from .ending import expiring
from .explaining import explanation, look, meet
from .ground import Caps, Ports, Refusal
from .holding import (
    alarm,
    as_shown,
    barred_by,
    freeze,
    hold,
    resume,
    survey,
    unfreeze,
)
from .recovering import recover, unplanned
from .scribing import write_end
from .shaking import edited, put_back, reworded, taken_down
from .undoing import undo
from .waking import mended, thawed

__all__ = [
    "Ask",
    "Caps",
    "Ports",
    "Refusal",
    "advance",
    "alarm",
    "as_shown",
    "barred",
    "barred_by",
    "catch_up",
    "caught_up",
    "edited",
    "expired",
    "expiring",
    "explanation",
    "freeze",
    "hold",
    "look",
    "meet",
    "mended",
    "propose",
    "publish",
    "put_back",
    "read_back",
    "recover",
    "replan",
    "resume",
    "revoke",
    "reworded",
    "same_call",
    "settle",
    "settle_by_operator",
    "survey",
    "take_back",
    "taken_down",
    "thawed",
    "token_for",
    "told_by_others",
    "undo",
    "unfreeze",
    "unheard",
    "unplanned",
    "withdraw",
    "write_end",
]
