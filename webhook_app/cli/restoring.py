"""`placet restore`: a lost or old store learns again what its ledger says, from a plain clone."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from proposals.audit import Keys, Ledger, Weight, audit, proven
from proposals.flow.restoring import superseded, take_in
from proposals.store import Store, StoreBusy, StoreStopped
from webhook_app.settings import SettingsError, store_path

from .clone import BadClone, Clone
from .operators import ConfigOption
from .say import AsJson, give_up, print_json, say


def restore(
    clone: Annotated[Path, typer.Option(help="A whole `git clone` of the governing repository.")],
    trust: Annotated[list[str], typer.Option(help="A fingerprint that `placet keys` printed.")],
    store: Annotated[Path | None, typer.Option(help="The store, without a placet.toml.")] = None,
    ref: Annotated[str | None, typer.Option(help="Restore from this ref instead.")] = None,
    config: ConfigOption = None,
    as_json: AsJson = False,  # noqa: FBT002 (a switch of the command line)
) -> None:
    """Bring decisions back into a lost or old store; what was open ends. Stop the server first."""
    try:
        ledger = Clone(clone).ledger(ref)
        path = store or store_path(config)
    except (BadClone, SettingsError) as bad:
        give_up(str(bad))
    keys = Keys.of(trust, [], ledger.files)
    _refuse_tampered(ledger, keys)
    try:
        learned, ended = _restore(path, ledger, keys)
    except (StoreBusy, StoreStopped) as error:
        give_up(f"{error} Stop the server, then restore.")
    if as_json:
        print_json({"store": str(path), "restored": learned, "ended": ended})
        return
    say(f"{len(learned)} proposals restored, {len(ended)} open ones ended as superseded in {path}.")
    say("Start the server: it tells their pages, and ends open pages that the store never knew.")


def _refuse_tampered(ledger: Ledger, keys: Keys) -> None:
    """Believe nothing of a ledger in which something signed is missing or changed."""
    report = audit(ledger, keys)
    grave = [found for found in report.findings if found.weight is Weight.GRAVE]
    if grave:
        give_up(
            f"the ledger is not as it was signed ({len(grave)} findings, the first: "
            f"{grave[0].why}). Run `placet audit`; restore from a clone that is clean."
        )
    if not report.statements:
        give_up("the ledger holds no statement that a trusted key signed.")


def _restore(path: Path, ledger: Ledger, keys: Keys) -> tuple[list[str], list[str]]:
    """Take everything in at once: the proposals learned of, and those that were open."""
    owned, now = Store(path), datetime.now(UTC)
    try:
        with owned.tx():
            said = proven(ledger.files, keys)
            learned = take_in(owned, said, now)
            repositories = {s.predicate.get("repository") for s in said}
            numbers = sorted(r for r in repositories if isinstance(r, int))
            over = [p.id for r in numbers for p in superseded(owned, now, r)]
            for repository in numbers:
                owned.forget_tip(repository)
    finally:
        owned.close()
    return learned, over
