"""The tables, as migrations: each is applied once, in order, inside the opening transaction."""

from typing import Any

from sqlite_utils import Migrations

from .rows import packed

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


@MIGRATIONS()
def proofs(db: Any) -> None:
    """Keep how each delivery was known to be GitHub's; each end step names its statement."""
    db.conn.execute("ALTER TABLE delivery ADD COLUMN proof TEXT NOT NULL DEFAULT 'hmac'")
    db.conn.execute("UPDATE outbox SET key = 'end' WHERE step = 'end' AND key = ''")


@MIGRATIONS()
def confirmations(db: Any) -> None:
    """Make the table of the tokens of mode `confirm`; a token is kept as its SHA-256."""
    db.conn.execute(
        """CREATE TABLE confirmation(
            token TEXT PRIMARY KEY, proposal TEXT NOT NULL, agent TEXT NOT NULL,
            call TEXT NOT NULL, plan TEXT NOT NULL, created INTEGER NOT NULL,
            expires INTEGER NOT NULL, used INTEGER)"""
    )
    db.conn.execute("CREATE INDEX confirmation_of ON confirmation(proposal)")


@MIGRATIONS()
def turns(db: Any) -> None:
    """Make the tables of the turns, of what was called in them, and of what still lacks input."""
    db.conn.execute(
        """CREATE TABLE turn(
            seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, agent TEXT NOT NULL,
            session TEXT NOT NULL, opened INTEGER NOT NULL, closed INTEGER)"""
    )
    db.conn.execute("CREATE UNIQUE INDEX turn_open ON turn(agent, session) WHERE closed IS NULL")
    db.conn.execute("CREATE INDEX turn_of ON turn(agent, session, seq)")
    db.conn.execute(
        """CREATE TABLE called(
            seq INTEGER PRIMARY KEY, agent TEXT NOT NULL, session TEXT NOT NULL, turn TEXT,
            tool TEXT NOT NULL, proposal TEXT, status TEXT NOT NULL, why TEXT NOT NULL,
            at INTEGER NOT NULL)"""
    )
    db.conn.execute("CREATE INDEX called_in ON called(agent, session, seq)")
    db.conn.execute("CREATE INDEX called_turn ON called(turn)")
    db.conn.execute("CREATE INDEX proposal_ended ON proposal(agent, ended)")
    db.conn.execute(
        """CREATE TABLE draft(
            id TEXT PRIMARY KEY, agent TEXT NOT NULL, session TEXT NOT NULL,
            section TEXT NOT NULL, tool TEXT NOT NULL, arguments TEXT NOT NULL,
            why TEXT NOT NULL, at INTEGER NOT NULL, confronted INTEGER NOT NULL DEFAULT 0,
            UNIQUE (agent, session, section))"""
    )


@MIGRATIONS()
def kept(db: Any) -> None:
    """Keep what was read while planning for the undo, and no plan shows."""
    db.conn.execute("ALTER TABLE proposal ADD COLUMN kept TEXT NOT NULL DEFAULT '{}'")


@MIGRATIONS()
def names(db: Any) -> None:
    """Keep what people were called when a proposal opened; its page must never change."""
    for column in ("behind", "candidates"):
        db.conn.execute(f"ALTER TABLE proposal ADD COLUMN {column} TEXT NOT NULL DEFAULT '{{}}'")


@MIGRATIONS()
def bodies(db: Any) -> None:
    """Keep deliveries' bodies apart and packed: marking one handled must not write it again.

    The column `body` stays, empty: SQLite drops none before 3.35.
    """
    db.conn.execute("CREATE TABLE body(seq INTEGER PRIMARY KEY, packed BLOB NOT NULL)")
    db.conn.create_function("packed", 1, packed, deterministic=True)
    db.conn.execute("INSERT INTO body(seq, packed) SELECT seq, packed(body) FROM delivery")
    db.conn.execute("UPDATE delivery SET body = ''")


@MIGRATIONS()
def edits(db: Any) -> None:
    """Count how often somebody edited the words of a proposal's page."""
    db.conn.execute("ALTER TABLE proposal ADD COLUMN edits INTEGER NOT NULL DEFAULT 0")


@MIGRATIONS()
def guarded(db: Any) -> None:
    """Keep whether the policy could be changed without a review when it was pinned."""
    db.conn.execute("ALTER TABLE proposal ADD COLUMN policy_guarded INTEGER")


@MIGRATIONS()
def sealed(db: Any) -> None:
    """Keep what is secret of a proposal, encrypted."""
    db.conn.execute("ALTER TABLE proposal ADD COLUMN sealed TEXT NOT NULL DEFAULT ''")


@MIGRATIONS()
def proven(db: Any) -> None:
    """Make the table of the previews that were seen to change nothing."""
    db.conn.execute(
        """CREATE TABLE proven(
            tool TEXT PRIMARY KEY, definition TEXT NOT NULL, reads TEXT NOT NULL,
            waited INTEGER NOT NULL, at INTEGER NOT NULL)"""
    )


@MIGRATIONS()
def weakness(db: Any) -> None:
    """Keep why the policy could be changed without a review when it was pinned, in words."""
    db.conn.execute("ALTER TABLE proposal ADD COLUMN policy_weakness TEXT NOT NULL DEFAULT ''")
    db.conn.execute(
        """UPDATE proposal SET policy_weakness = 'whoever can push to the default branch can '
            || 'change `.github/placet.yml` without a review' WHERE policy_guarded = 0"""
    )


@MIGRATIONS()
def last_undo(db: Any) -> None:
    """Keep where the undo of a proposal stands, and what was unsettled when one was shown."""
    db.conn.execute("ALTER TABLE proposal ADD COLUMN last_undo TEXT")
    db.conn.execute("ALTER TABLE proposal ADD COLUMN last_undo_is TEXT NOT NULL DEFAULT ''")
    db.conn.execute("ALTER TABLE proposal ADD COLUMN unsettled TEXT")
    db.conn.execute(
        "CREATE INDEX proposal_taken ON proposal(last_undo) WHERE last_undo IS NOT NULL"
    )
    db.conn.execute(
        "UPDATE proposal SET last_undo = undone_by, last_undo_is = 'undone'"
        " WHERE undone_by IS NOT NULL"
    )


@MIGRATIONS()
def commands(db: Any) -> None:
    """Make the table of the commands of people that have no answer yet."""
    db.conn.execute(
        """CREATE TABLE command(
            proposal TEXT NOT NULL, key TEXT NOT NULL, text TEXT NOT NULL, at INTEGER NOT NULL,
            tries INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (proposal, key))"""
    )
