"""Where a delivery belongs: the fields by which the store finds its proposal."""

import re
from datetime import datetime

from checks.policy import POLICY_PATH
from proposals.store import Delivery

from .payload import Payload, payload

_STATEMENT = re.compile(r"proposals/\d{4}/\d\d/(\w+)/(start|end)\.json")


def read(
    event: str, guid: str, body: bytes, our_app: int, our_user: int | None, now: datetime
) -> Delivery:
    """Read one authenticated body for the store; NotADelivery when it is not a JSON object.

    `our_app` and `our_user` are the numeric ids of our App and of its bot user, which tell what we
    caused ourselves. Events and actions that nobody knows are read like any other.
    """
    return read_owned(event, guid, body, our_app, our_user, now)[0]


def read_owned(
    event: str, guid: str, body: bytes, our_app: int, our_user: int | None, now: datetime
) -> tuple[Delivery, int | None]:
    """As `read`, and the `account` of it: under load, reading a body twice is felt."""
    seen = payload(body)
    sender = seen.sender.id if seen.sender else None
    delivery = Delivery(
        guid=guid,
        event=event,
        action=seen.action or "",
        body=body.decode(),
        repository=seen.repository.id if seen.repository else None,
        number=number(seen),
        check_run=seen.check_run.id if seen.check_run else None,
        sender=sender,
        ours=_ours(seen, our_app, our_user),
        head_ref=seen.ref if event == "push" else None,
        received=now,
    )
    return delivery, _owner(seen)


def account(delivery: Delivery) -> int | None:
    """Name the organisation or user whose installation sent this; None when it belongs to none."""
    return _owner(payload(delivery.body))


def _owner(seen: Payload) -> int | None:
    if seen.repository and seen.repository.owner:
        return seen.repository.owner.id
    owner = (seen.installation or {}).get("account")
    owner_id = owner.get("id") if isinstance(owner, dict) else None
    return owner_id if isinstance(owner_id, int) else None


def proposal_named(delivery: Delivery, our_app: int) -> str | None:
    """Read which proposal one of our own check runs is about (its `external_id`)."""
    run = payload(delivery.body).check_run
    ours = run is not None and run.app is not None and run.app.id == our_app
    return run.external_id if run and ours else None


def taken_from_us(delivery: Delivery) -> frozenset[int]:
    """Read which repositories an installation event says that we can no longer use."""
    seen = payload(delivery.body)
    match delivery.event, delivery.action:
        case "installation", "deleted":
            listed = seen.repositories
        case "installation_repositories", "removed":
            listed = seen.repositories_removed
        case _:
            listed = None
    listed = listed if isinstance(listed, list) else []
    ids = [one.get("id") for one in listed if isinstance(one, dict)]
    return frozenset(i for i in ids if isinstance(i, int))


def ledger_push(delivery: Delivery) -> tuple[str, str, bool]:
    """Read a push: the commit before, the one after, and whether history was lost by it."""
    seen = payload(delivery.body)
    lost = seen.deleted is True or seen.forced is True
    return seen.before or "", seen.after or "", lost


def ledger_additions(delivery: Delivery) -> frozenset[tuple[str, str]]:
    """The statements that a push added to the ledger: of which proposal, and of which kind."""
    commits = payload(delivery.body).commits
    found = [c for c in commits if isinstance(c, dict)] if isinstance(commits, list) else []
    added = [f for c in found if isinstance(c.get("added"), list) for f in c["added"]]
    names = (_STATEMENT.fullmatch(f) for f in added if isinstance(f, str))
    return frozenset((name[1], name[2]) for name in names if name)


def policy_push(delivery: Delivery) -> bool:
    """Whether it pushed to the default branch what may be another policy.

    Only commits that all say which files they changed, and not this one, certainly left it alone.
    """
    if delivery.event != "push":
        return False
    seen = payload(delivery.body)
    branch = seen.repository.default_branch if seen.repository else None
    if branch is None or delivery.head_ref != f"refs/heads/{branch}":
        return False
    commits = seen.commits if isinstance(seen.commits, list) and seen.forced is not True else []
    changed = [_changed(commit) for commit in commits]
    return not all(changed) or not changed or any(POLICY_PATH in files for files in changed)


def _changed(commit: object) -> set[str]:
    """The files that a pushed commit says it changed."""
    if not isinstance(commit, dict):
        return set()
    lists = [commit.get(name) for name in ("added", "modified", "removed")]
    return {f for found in lists if isinstance(found, list) for f in found if isinstance(f, str)}


def number(seen: Payload) -> int | None:
    """The number of the pull request; None for an issue that is none."""
    if seen.pull_request:
        return seen.pull_request.number
    return seen.issue.number if seen.issue and seen.issue.pull_request else None


def _ours(seen: Payload, our_app: int, our_user: int | None) -> bool:
    """Whether we caused it; until our bot's id is known, only our check runs are told apart."""
    if seen.sender is None or seen.sender.type != "Bot":
        return False
    if our_user is not None:
        return seen.sender.id == our_user
    app = seen.check_run.app if seen.check_run else None
    return app is not None and app.id == our_app
