"""Rows and the values they hold, in both directions."""

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import TypeAdapter

from checks.facts import Voice
from proposals.canonical import canonical, loads
from proposals.lifecycle import State
from proposals.plan import Pinned, Place, Proposal, Target

MAX_ROW = 4_000_000  # bytes of one value; what is stored was measured before
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def ms(moment: datetime) -> int:
    """Milliseconds since 1970 UTC, rounded down."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def when(value: int | None) -> datetime | None:
    """The moment that `ms` stored."""
    return None if value is None else _EPOCH + timedelta(milliseconds=value)


def sure(value: int) -> datetime:
    """The moment that `ms` stored, where there is always one."""
    return _EPOCH + timedelta(milliseconds=value)


@dataclass(frozen=True, slots=True)
class Agent:
    """A program that may ask; `identities` are the numeric GitHub ids of those it works for."""

    name: str
    identities: frozenset[int]
    created: datetime
    revoked: datetime | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """One webhook delivery, authenticated: the raw body and what routes it to proposals.

    `number` is a pull request's, `head_ref` the ref of a push, `ours`: sent by our own App's user.
    `proof`: how it was known to be GitHub's, `hmac` or `log` (read from the App's delivery log).
    """

    guid: str
    event: str
    action: str
    body: str
    received: datetime
    repository: int | None = None
    number: int | None = None
    check_run: int | None = None
    head_ref: str | None = None
    sender: int | None = None
    ours: bool = False
    proof: str = "hmac"


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to tell GitHub: its kind, what it answers, the text; `tries` so far."""

    step: str
    key: str = ""
    text: str = ""
    proposal: str = ""
    seq: int = 0
    tries: int = 0
    problem: str = ""


def encode(name: str, value: Any) -> Any:
    """The column value of one changed member of a proposal."""
    if isinstance(value, datetime):
        return ms(value)
    if isinstance(value, frozenset):
        return json.dumps(sorted(value))
    if isinstance(value, Mapping) and name in ("people", "behind", "candidates"):
        return json.dumps(dict(sorted(value.items())))
    if name in ("verdict", "outcome", "asked_by", "unsettled") and value is not None:
        return json.dumps(value)
    if isinstance(value, bool):
        return int(value)
    return value


def columns(**changes: Any) -> dict[str, Any]:
    """Column values of changed members; `pinned` and `place` spread over several columns."""
    out: dict[str, Any] = {}
    for name, value in changes.items():
        if isinstance(value, Pinned):
            out |= {
                "plan": canonical(value.plan).decode(),
                "volatile": canonical(value.volatile).decode(),
                "digest": value.digest,
                "kept": canonical(value.kept).decode(),
            }
        elif isinstance(value, Target):
            out |= {"target": json.dumps(asdict(value)), "page": value.repository}
        elif isinstance(value, Place):
            out |= {n: encode(n, v) for n, v in asdict(value).items()}
        else:
            out[name] = encode(name, value)
    return out


def proposal_of(row: dict[str, Any]) -> Proposal:
    """The proposal that a row of the proposal table holds."""
    return Proposal(
        **{n: row[n] for n in ("id", "agent", "tool", "repository", "salt", "mode", "said")},
        **{n: row[n] for n in ("key", "summary", "policy", "policy_blob", "evidence_rev")},
        **{n: row[n] for n in ("nonce", "reason", "why", "parent", "undoes", "undone_by")},
        **{n: row[n] for n in ("last_undo", "last_undo_is")},
        policy_weakness=row["policy_weakness"],
        sealed=row["sealed"],
        arguments=loads(row["arguments"]),
        state=State(row["state"]),
        identities=frozenset(json.loads(row["identities"])),
        contributors=frozenset(json.loads(row["contributors"])),
        people=json.loads(row["people"]),
        behind=json.loads(row["behind"]),
        candidates=json.loads(row["candidates"]),
        created=sure(row["created"]),
        expires=sure(row["expires"]),
        pinned=_pinned(row),
        place=_place(row),
        valid_from=when(row["valid_from"]),
        moved=bool(row["moved"]),
        edits=row["edits"],
        policy_guarded=None if row["policy_guarded"] is None else bool(row["policy_guarded"]),
        verdict=json.loads(row["verdict"]) if row["verdict"] else None,
        outcome=json.loads(row["outcome"]) if row["outcome"] else None,
        asked_by=json.loads(row["asked_by"]) if row["asked_by"] else None,
        target=Target(**json.loads(row["target"])) if row["target"] else None,
        unsettled=json.loads(row["unsettled"]) if row["unsettled"] else None,
    )


def _pinned(row: dict[str, Any]) -> Pinned | None:
    if row["digest"] is None:
        return None
    plan, volatile, kept = (loads(row[n], limit=MAX_ROW) for n in ("plan", "volatile", "kept"))
    if not (isinstance(plan, dict) and isinstance(volatile, dict) and isinstance(kept, dict)):
        raise TypeError("a stored plan is an object")
    return Pinned(plan, volatile, row["digest"], kept)


def _place(row: dict[str, Any]) -> Place | None:
    if row["head"] is None:
        return None
    names = ("branch", "base", "head", "number", "url", "check_run", "announced", "home")
    return Place(**{n: row[n] for n in names}, opened=sure(row["opened"]))


_VOICE = TypeAdapter(Voice)


def voice_text(voice: Voice) -> str:
    """A stance as JSON text."""
    return _VOICE.dump_json(voice).decode()


def voice_of(text: str) -> Voice:
    """The stance that `voice_text` wrote."""
    return _VOICE.validate_json(text)


def agent_of(row: dict[str, Any]) -> Agent:
    """The agent that a row holds."""
    identities = frozenset(json.loads(row["identities"]))
    return Agent(row["name"], identities, sure(row["created"]), when(row["revoked"]))


def packed(body: str) -> bytes:
    """A body as it is kept: GitHub's shrink to a ninth in a twentieth of a millisecond."""
    return zlib.compress(body.encode(), level=1)


def delivery_row(delivery: Delivery) -> dict[str, Any]:
    """The column values of a delivery, its body apart."""
    row = {name: getattr(delivery, name) for name in Delivery.__slots__ if name != "body"}
    return row | {"ours": int(delivery.ours), "received": ms(delivery.received)}


def delivery_of(row: dict[str, Any]) -> Delivery:
    """The delivery that a row holds."""
    names = ("guid", "event", "action", "repository", "number", "check_run", "proof")
    return Delivery(
        **{n: row[n] for n in names},
        body=zlib.decompress(row["packed"]).decode(),
        head_ref=row["head_ref"],
        sender=row["sender"],
        ours=bool(row["ours"]),
        received=sure(row["received"]),
    )


def step_of(row: dict[str, Any]) -> Step:
    """The outbox step that a row holds."""
    names = ("step", "key", "text", "proposal", "seq", "tries", "problem")
    return Step(**{n: row[n] for n in names})
