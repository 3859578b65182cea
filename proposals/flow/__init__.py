"""The life of a proposal, top to bottom: asked, opened, decided, applied, ended, recovered."""

from .aiming import same_page
from .applying import read_back
from .asking import Ask, propose, replan, revoke, withdraw
from .asserting import barred, settle
from .deciding import advance
from .elsewhere import catch_up
from .ending import expire
from .explaining import explanation, look, meet
from .ground import Ports, Refusal
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
from .recovering import recover
from .scribing import write_end
from .shaking import put_back, reworded, taken_down, void
from .undoing import undo

__all__ = [
    "Ask",
    "Ports",
    "Refusal",
    "advance",
    "alarm",
    "as_shown",
    "barred",
    "barred_by",
    "catch_up",
    "expire",
    "explanation",
    "freeze",
    "hold",
    "look",
    "meet",
    "propose",
    "put_back",
    "read_back",
    "recover",
    "replan",
    "resume",
    "revoke",
    "reworded",
    "same_page",
    "settle",
    "survey",
    "taken_down",
    "undo",
    "unfreeze",
    "void",
    "withdraw",
    "write_end",
]
