"""The tables, as migrations: each is applied once, in order, inside the opening transaction."""

from typing import Any

from sqlite_utils import Migrations

MIGRATIONS = Migrations("placet")

_FIRST = (
    """CREATE TABLE agent(
        name TEXT PRIMARY KEY, token TEXT NOT NULL UNIQUE, identities TEXT NOT NULL,
        created INTEGER NOT NULL, revoked INTEGER)""",
    """CREATE TABLE proposal(
        id TEXT PRIMARY KEY, agent TEXT NOT NULL, tool TEXT NOT NULL, mode TEXT NOT NULL,
        state TEXT NOT NULL, arguments TEXT NOT NULL, call TEXT NOT NULL, key TEXT,
        identities TEXT NOT NULL, said TEXT NOT NULL, summary TEXT NOT NULL DEFAULT '',
        repository INTEGER NOT NULL, salt TEXT NOT NULL, parent TEXT,
        created INTEGER NOT NULL, expires INTEGER NOT NULL, ended INTEGER,
        plan TEXT, volatile TEXT, digest TEXT, policy TEXT, policy_blob TEXT,
        branch TEXT, base TEXT, head TEXT, number INTEGER, url TEXT, check_run INTEGER,
        opened INTEGER, valid_from INTEGER, moved INTEGER NOT NULL DEFAULT 0,
        contributors TEXT NOT NULL DEFAULT '[]', evidence_rev INTEGER NOT NULL DEFAULT 0,
        nonce TEXT, reason TEXT, why TEXT NOT NULL DEFAULT '', verdict TEXT, outcome TEXT)""",
    "CREATE UNIQUE INDEX proposal_key ON proposal(agent, key) WHERE key IS NOT NULL",
    "CREATE INDEX proposal_call ON proposal(agent, call)",
    "CREATE INDEX proposal_state ON proposal(state)",
    "CREATE INDEX proposal_place ON proposal(repository, number)",
    """CREATE TABLE delivery(
        guid TEXT PRIMARY KEY, seq INTEGER NOT NULL, event TEXT NOT NULL, action TEXT NOT NULL,
        body TEXT NOT NULL, repository INTEGER, number INTEGER, check_run INTEGER, head_ref TEXT,
        sender INTEGER, ours INTEGER NOT NULL, received INTEGER NOT NULL,
        done INTEGER NOT NULL DEFAULT 0, tries INTEGER NOT NULL DEFAULT 0,
        problem TEXT NOT NULL DEFAULT '')""",
    "CREATE INDEX delivery_undone ON delivery(seq) WHERE done = 0",
    """CREATE TABLE evidence(
        proposal TEXT NOT NULL, key TEXT NOT NULL, seq INTEGER NOT NULL, voice TEXT NOT NULL,
        PRIMARY KEY (proposal, key))""",
    """CREATE TABLE outbox(
        seq INTEGER PRIMARY KEY, proposal TEXT NOT NULL, step TEXT NOT NULL, key TEXT NOT NULL,
        text TEXT NOT NULL, due INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0,
        done INTEGER NOT NULL DEFAULT 0, problem TEXT NOT NULL DEFAULT '',
        UNIQUE (proposal, step, key))""",
    "CREATE INDEX outbox_undone ON outbox(due) WHERE done = 0",
    """CREATE TABLE history(
        seq INTEGER PRIMARY KEY, proposal TEXT NOT NULL, at INTEGER NOT NULL, event TEXT NOT NULL,
        source TEXT NOT NULL, target TEXT NOT NULL, why TEXT NOT NULL DEFAULT '')""",
)


@MIGRATIONS()
def first(db: Any) -> None:
    """Make the tables of the first version."""
    for statement in _FIRST:
        db.conn.execute(statement)


@MIGRATIONS()
def people(db: Any) -> None:
    """Keep which account each login of the pinned policy meant."""
    db.conn.execute("ALTER TABLE proposal ADD COLUMN people TEXT NOT NULL DEFAULT '{}'")


@MIGRATIONS()
def statements(db: Any) -> None:
    """Make the tables of the numbered statements and of what is halted."""
    db.conn.execute(
        """CREATE TABLE statement(
            repository INTEGER NOT NULL, seq INTEGER NOT NULL, proposal TEXT NOT NULL,
            kind TEXT NOT NULL, text TEXT NOT NULL, digest TEXT NOT NULL,
            written INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (repository, seq))"""
    )
    db.conn.execute("CREATE UNIQUE INDEX statement_of ON statement(proposal, kind)")
    db.conn.execute(
        "CREATE TABLE halt(scope TEXT PRIMARY KEY, why TEXT NOT NULL, at INTEGER NOT NULL)"
    )


@MIGRATIONS()
def undos(db: Any) -> None:
    """Keep what a proposal takes back; of one proposal, at most one undo lives or is applied."""
    for column in ("undoes", "undone_by", "asked_by"):
        db.conn.execute(f"ALTER TABLE proposal ADD COLUMN {column} TEXT")
    db.conn.execute(
        """CREATE UNIQUE INDEX proposal_undo ON proposal(undoes)
        WHERE undoes IS NOT NULL AND state NOT IN ('failed', 'ended')"""
    )


@MIGRATIONS()
def ground(db: Any) -> None:
    """Make the tables of each ledger's last known commit and of what operators must see to."""
    db.conn.execute("CREATE INDEX delivery_seq ON delivery(seq)")
    db.conn.execute("CREATE INDEX evidence_seq ON evidence(seq)")
    db.conn.execute("CREATE TABLE ledger(repository INTEGER PRIMARY KEY, tip TEXT NOT NULL)")
    db.conn.execute(
        """CREATE TABLE problem(
            repository INTEGER NOT NULL, code TEXT NOT NULL, proposal TEXT NOT NULL DEFAULT '',
            why TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (repository, code, proposal))"""
    )


@MIGRATIONS()
def targets(db: Any) -> None:
    """Keep whose page a proposal is tied to; `page` is that repository, by which it is found."""
    for column in ("target TEXT", "page INTEGER", "announced INTEGER"):
        db.conn.execute(f"ALTER TABLE proposal ADD COLUMN {column}")
    db.conn.execute("ALTER TABLE proposal ADD COLUMN home TEXT NOT NULL DEFAULT ''")
    db.conn.execute("CREATE INDEX proposal_page ON proposal(page, number)")


@MIGRATIONS()
def trial(db: Any) -> None:
    """Make the table that shows, empty as it is, whether something can be written."""
    db.conn.execute("CREATE TABLE trial(bytes BLOB)")
