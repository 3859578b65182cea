"""What deliveries say about the ground itself: the ledger branch, and where the App may work."""

from proposals.flow import Ports, alarm
from proposals.store import Delivery
from webhook_app.deliveries import ledger_push
from webhook_app.github import LEDGER

AUDIT = "Run `placet audit`, then `placet resume`."


def is_ground(delivery: Delivery) -> bool:
    """Whether it tells of an installation: any repository may be usable or barred now."""
    return delivery.event.startswith("installation")


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
    elif delivery.ours and before == known:
        ports.store.ledger_moved(repository, after)
