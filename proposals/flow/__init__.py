"""The life of a proposal, top to bottom: asked, opened, decided, applied, ended, recovered."""

from .applying import read_back
from .asking import Ask, propose, replan, revoke, withdraw
from .asserting import barred, settle
from .deciding import advance
from .ending import expire
from .ground import Ports, Refusal
from .recovering import recover
from .scribing import write_end

__all__ = [
    "Ask",
    "Ports",
    "Refusal",
    "advance",
    "barred",
    "expire",
    "propose",
    "read_back",
    "recover",
    "replan",
    "revoke",
    "settle",
    "withdraw",
    "write_end",
]
