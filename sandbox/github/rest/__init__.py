"""GitHub's REST operations. Importing this fills the table of handlers."""

from . import apps, checks, conversation, data, files, history, owners, people, pulls, reviews

__all__ = [
    "apps", "checks", "conversation", "data", "files", "history", "owners", "people", "pulls",
    "reviews",
]  # fmt: skip
