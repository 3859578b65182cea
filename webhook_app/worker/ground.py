"""What deliveries say about the ground itself: ledger, policy, and where the App may work."""

from proposals.flow import Ports, alarm, mended
from proposals.store import Delivery
from webhook_app.deliveries import ledger_additions, ledger_push, policy_push
from webhook_app.github import LEDGER

FROM_ELSEWHERE = (
    f"on {LEDGER} was written by our App and not from this store: it is an older backup, or a "
    "second server of this App is running. Stop that one."
)
AUDIT = "Run `placet audit`, then `placet resume`."


def is_ground(delivery: Delivery) -> bool:
    """Whether it tells of an installation: any repository may be usable or barred now."""
    return delivery.event.startswith("installation")


def freed_by(ports: Ports, delivery: Delivery) -> set[str]:
    """The proposals that another policy may let go on, when this pushed one."""
    if delivery.ours or delivery.repository is None or not policy_push(delivery):
        return set()
    return {p.id for p in mended(ports, delivery.repository)}


def watch(ports: Ports, delivery: Delivery) -> None:
    """Follow our own pushes to a ledger; raise the alarm when somebody takes history away."""
    repository = delivery.repository
    if repository is None or delivery.head_ref != f"refs/heads/{LEDGER}":
        return
    known = ports.store.ledger_tip(repository)
    before, after, lost = ledger_push(delivery)
    if known is None:
        return
    if lost:
        alarm(ports, repository, f"somebody deleted or rewrote the branch {LEDGER}. {AUDIT}")
    elif delivery.ours and (name := _not_from_here(ports, delivery)):
        alarm(ports, repository, f"{name} {FROM_ELSEWHERE} {AUDIT}")
    elif delivery.ours and before == known:
        ports.store.ledger_moved(repository, after)


def _not_from_here(ports: Ports, delivery: Delivery) -> str:
    """A statement that our App pushed and that this store does not know; "" when it knows all."""
    added = sorted(ledger_additions(delivery))
    strange = (f"{p}/{kind}.json" for p, kind in added if not ports.store.statement(p, kind))
    return next(strange, "")
