"""Getting acquainted: a ledger is compared with the store before anything is done for its pages.

Whatever another store of the same App has decided is taken over from its signed statements; what
was still open then ends, for nobody here knows what was said about it meanwhile.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from proposals.audit import File, Keys, proven, read_plan
from proposals.canonical import JSON
from proposals.found import LedgerFile, Stray
from proposals.lifecycle import State
from proposals.plan import Place, Proposal, Target
from proposals.ports import ForgeError, Refused
from proposals.receipt import PlanFile, Signer, fingerprint
from proposals.succession import keys_of

from .ending import expire
from .ground import Ports
from .holding import alarm
from .restoring import lost, proposal_of, superseded, take_in, target_of


async def acquaint(ports: Ports, repository: int) -> None:
    """Compare a ledger with the store, once for this process; raises ForgeError."""
    if repository in ports.lines.met:
        return
    async with ports.lines.of(repository):
        if repository not in ports.lines.met:
            await _compare(ports, repository)
            ports.lines.met.add(repository)


async def caught_up(ports: Ports, repository: int) -> bool:
    """Take over what others decided on a ledger; whether this store is older than it.

    A store that knows nothing of it at all is a new one, after a loss. Raises ForgeError.
    """
    files = await ports.forge.added(repository)
    keys = _keys(ports.signer, files)
    said = proven([File(*file) for file in files], keys)
    here = [s for s in said if s.predicate.get("repository") == repository]
    if not here:
        return False
    store, now = ports.store, ports.now()
    with store.tx():
        older = store.ledger_tip(repository) is not None or any(
            store.proposal(s.spot.proposal) for s in here
        )
        learned = take_in(store, here, now)
        over = superseded(store, now, repository) if learned else []
    return bool(learned and (older or over))


async def expired(ports: Ports) -> list[Proposal]:
    """End what waited too long, where its ledger does not say that it was decided elsewhere."""
    unsure = set()
    for repository in {p.repository for p in ports.store.alive() if p.expires <= ports.now()}:
        try:
            await acquaint(ports, repository)
        except Refused:
            continue  # what bars it bars everybody; waiting would not end
        except ForgeError:
            unsure.add(repository)
    return expire(ports, unsure)


async def _compare(ports: Ports, repository: int) -> None:
    unknown = ports.store.ledger_tip(repository) is None
    blank = unknown and await ports.forge.newest(repository) is None
    if not blank and await caught_up(ports, repository):
        why = (
            "proposals were decided from another store: this one is an older backup, or a second "
            "server of this App is running. Stop that one. Run `placet audit`, then "
            "`placet resume`"
        )
        alarm(ports, repository, why)
    if unknown:
        known = ports.store.proposal
        aims = partial(_aim, ports.signer)
        for stray in await ports.forge.strays(repository, lambda i: known(i) is not None, aims):
            _end_stray(ports, stray)
    if not blank:
        await ports.forge.intact(repository)  # it raises the alarm itself


def _end_stray(ports: Ports, stray: Stray) -> None:
    """Keep a page of a lost store as what it is: decided, or open and now over."""
    keys = _keys(ports.signer, stray.files)
    now = ports.now()
    if take_in(ports.store, proven([File(*file) for file in stray.files], keys), now):
        return
    said = _signed(stray.plan, keys)
    if stray.place is None or (made := _open(stray.id, stray.place, said)) is None:
        return  # no key of ours signed it: the page is not ours to end
    with ports.store.tx():
        if ports.store.adopt(made, now, None):
            lost(ports.store, made, now)


def _aim(signer: Signer, plan: LedgerFile) -> Target | None:
    said = _signed(plan, _keys(signer, ()))
    return target_of(said) if said else None


def _signed(plan: LedgerFile, keys: Keys) -> dict[str, JSON] | None:
    """What a plan's signature says of it, the plan included; None when no key of ours made it."""
    file = File(*plan)
    found = read_plan(file, file.spot, keys) if file.spot else None
    if not isinstance(found, PlanFile):
        return None
    said = found.statement["predicate"]
    return {**said, "plan": found.plan} if isinstance(said, dict) else None


def _open(id_: str, place: Place, said: dict[str, JSON] | None) -> Proposal | None:
    page: dict[str, JSON] = {
        "pull_request": place.number or None,
        "url": place.url,
        "check_run": place.check_run,
        "opened": place.opened.isoformat(),
        "base": place.base,
        "announced": place.announced,
        "home": place.home,
    }
    shown: dict[str, JSON] = {
        "head": place.head,
        "page": page,
        "summary": "",
        "nonce": None,
    }
    made = proposal_of({**said, **shown}, None) if said else None
    return replace(made, state=State.OPEN, outcome=None) if made and made.id == id_ else None


def _keys(signer: Signer, files: Iterable[LedgerFile]) -> Keys:
    """Our own keys, and those that followed them on the ledger."""
    own = keys_of(signer)
    return Keys.of(map(fingerprint, own), own, [File(*file) for file in files])
