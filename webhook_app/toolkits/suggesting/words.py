"""The words that guesses are made of. Whoever is in doubt takes the stricter one."""

import re

READ = frozenset(
    {
        *("get", "list", "read", "search", "find", "show", "describe", "fetch", "query", "view"),
        *("lookup", "look", "count", "check", "status", "stat", "tree", "head", "tail", "info"),
        *("browse", "inspect", "diff", "compare", "retrieve", "explain", "validate", "whoami"),
    }
)
DELETE = frozenset(
    {
        *("delete", "remove", "drop", "purge", "destroy", "erase", "clear", "truncate", "wipe"),
        *("uninstall", "revoke", "terminate", "kill", "reset", "prune", "expunge", "trash", "rm"),
    }
)
SEND = frozenset({"send", "notify", "invite", "reply", "publish", "tweet", "share", "forward"})
START = frozenset({"execute", "exec", "launch", "deploy", "trigger", "restart", "invoke", "spawn"})
PAY = frozenset({"pay", "buy", "refund", "charge", "purchase", "checkout", "transfer", "withdraw"})
WRITE = frozenset(
    {
        *("write", "create", "add", "update", "set", "put", "patch", "edit", "insert", "move"),
        *("rename", "upload", "push", "replace", "overwrite", "merge", "close", "cancel", "import"),
        *("copy", "save", "store", "append", "apply", "assign", "archive", "enable", "disable"),
        *("grant", "approve", "reject", "book", "modify", "change", "submit", "upsert", "make"),
    }
)
# As verbs they say the same; after a verb that reads they are things: get_message, list_runs.
THINGS: dict[str, frozenset[str]] = {
    "contact": frozenset({"message", "email", "mail", "comment", "post", "call", "sms"}),
    "start": frozenset({"run", "start", "build", "job", "workflow", "stop"}),
    "spend": frozenset({"order", "subscribe", "payment", "bid", "donate"}),
}
ACTS: dict[str, frozenset[str]] = {
    "delete": DELETE,
    "contact": SEND,
    "start": START,
    "spend": PAY,
    "": WRITE,
}
ANYTHING = frozenset({"command", "cmd", "sql", "script", "code", "shell", "statement"})
PRIVATE = frozenset(
    {
        *("env", "environment", "secret", "secrets", "token", "tokens", "password", "passwords"),
        *("credential", "credentials", "key", "keys", "keychain", "vault", "cookie", "cookies"),
    }
)
# Arguments, and words of a description, that say what a change touches.
ARGUMENTS: dict[str, frozenset[str]] = {
    "contact": frozenset({"recipients", "recipient", "attendees", "cc", "bcc", "invitees"}),
    "delete": frozenset({"force", "overwrite", "recursive"}),
    "spend": frozenset({"amount", "price", "currency"}),
}
SAYS: dict[str, re.Pattern[str]] = {
    "contact": re.compile(r"\b(e-?mail|notif|invit|mailed|sends?\b)", re.IGNORECASE),
    "delete": re.compile(r"\b(delet|overwrit|remov|replac|eras|destroy)", re.IGNORECASE),
    "spend": re.compile(r"\b(charges|pays|purchas|refund|bill(s|ed)\b)", re.IGNORECASE),
    "start": re.compile(r"\b(execut|launch|deploy|trigger|starts\b)", re.IGNORECASE),
}
DRY = frozenset({"dryrun", "preview", "previewonly", "simulate", "whatif", "validateonly", "noop"})
REAL = frozenset({"confirm", "confirmed", "commit", "execute", "apply", "doit"})
PUSH = "pushto"
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def words(name: str) -> list[str]:
    """The words of a name, however they are joined: writeFile, write_file and write-file."""
    return [part.lower() for part in _PART.findall(name)]


def joined(name: str) -> str:
    """A name without what joins its words: dryRun and dry_run are one."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
