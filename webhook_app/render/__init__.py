"""Everything a person reads on GitHub, made by code: page, check run, comments, merge message."""

from .check import Button, CheckView, check
from .links import Links, plan_path, statement_path
from .outcome import outcome_comment
from .page import body, merge_message, title
from .replies import reply, taken_reply, undo_reply, unheard_reply, unmerged
from .tied import ambiguous, announcement, check_name, unnamed

__all__ = [
    "Button",
    "CheckView",
    "Links",
    "ambiguous",
    "announcement",
    "body",
    "check",
    "check_name",
    "merge_message",
    "outcome_comment",
    "plan_path",
    "reply",
    "statement_path",
    "taken_reply",
    "title",
    "undo_reply",
    "unheard_reply",
    "unmerged",
    "unnamed",
]
