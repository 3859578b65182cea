"""`placet audit`: prove a ledger from a plain clone, with no server and no network."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from proposals.audit import Kept, Keys, Ledger, Report, Shown, audit, proven, recorded
from proposals.ports import ForgeError
from proposals.receipt import BadKey, public_from_pem
from proposals.store import Reading, StoreStopped
from proposals.tools import printable
from webhook_app.settings import Settings, SettingsError, load

from .clone import BadClone, Clone
from .operators import ConfigOption
from .say import AsJson, give_up, print_json, print_rows


def audit_clone(
    clone: Annotated[Path, typer.Option(help="A whole `git clone` of the repository.")],
    trust: Annotated[list[str], typer.Option(help="A fingerprint that `placet keys` printed.")],
    key: Annotated[
        list[Path] | None, typer.Option(help="A public key in PEM; otherwise the ledger's own.")
    ] = None,
    store: Annotated[
        Path | None, typer.Option(help="The server's store: also finds a cut-off end.")
    ] = None,
    online: Annotated[  # noqa: FBT002 (a switch of the command line)
        bool, typer.Option("--online", help="Ask GitHub, as the App, what it shows of approvals.")
    ] = False,
    ref: Annotated[str | None, typer.Option(help="Audit this ref instead.")] = None,
    config: ConfigOption = None,
    as_json: AsJson = False,  # noqa: FBT002 (a switch of the command line)
) -> None:
    """Prove what a ledger says from a clone alone; exit 1 when anything is not as it must be."""
    try:
        ledger = Clone(clone).ledger(ref)
    except BadClone as bad:
        give_up(str(bad))
    keys = Keys.of(trust, [_public(file) for file in key or []], ledger.files)
    report = audit(ledger, keys)
    if store is not None or online:
        kept = _kept(store, report.repository) if store is not None else None
        report = audit(ledger, keys, kept, _shown(ledger, keys, config) if online else None)
    if as_json:
        print_json(report.data())
    else:
        _print(report)
    if not report.clean:
        raise typer.Exit(1)


def _public(file: Path) -> Ed25519PublicKey:
    try:
        return public_from_pem(file.read_bytes())
    except OSError as error:
        give_up(f"{file} cannot be read: {error.strerror}.")
    except BadKey as bad:
        give_up(f"{file}: {bad}")


def _kept(store: Path, repository: int | None) -> list[Kept]:
    """What the store has of this repository's statements, read and never written."""
    try:
        with Reading(store) as reading:
            found = reading.statements(repository)
    except StoreStopped as stopped:
        give_up(str(stopped))
    return [Kept(s.seq, s.digest, s.proposal, s.kind, s.written) for s in found]


def _shown(ledger: Ledger, keys: Keys, config: Path | None) -> dict[str, Shown]:
    """What GitHub shows today of the recorded approvals, asked with the App's own key."""
    from webhook_app.app.forge import github  # noqa: PLC0415 (the whole server is in it)
    from webhook_app.github import GitHubForge, shown  # noqa: PLC0415

    async def ask(settings: Settings) -> dict[str, Shown]:
        async with github(settings, lambda: datetime.now(UTC)) as here:
            if not isinstance(here.forge, GitHubForge):
                return {}
            return await shown(here.forge.places, recorded(proven(ledger.files, keys)))

    try:
        return asyncio.run(ask(load(config).settings))
    except (SettingsError, ForgeError) as error:
        give_up(f"GitHub cannot be asked: {error}")


def _print(report: Report) -> None:
    rows: list[tuple[object, ...]] = [("numbers", "proposal", "tool", "outcome", "approved by", "")]
    rows += [
        (
            ",".join(map(str, row.numbers)) or "-",
            row.proposal,
            row.tool,
            row.outcome,
            ", ".join(row.approved_by) or "-",
            "ok" if not row.findings else f"{row.findings} WRONG",
        )
        for row in report.rows
    ]
    print_rows(rows)
    for note in report.notes:
        typer.echo(printable(f"Note: {note}", 500))
    for found in report.findings:
        where = " ".join(w for w in (found.path, f"({found.commit[:12]})") if w != "()")
        typer.echo(printable(f"WRONG [{found.code}] {where or 'the ledger'}: {found.why}", 1000))
    typer.echo(f"\n{_summary(report)}")
    typer.echo("What this cannot see:")
    for words in report.cannot_see:
        typer.echo(f"  - {words}")


def _summary(report: Report) -> str:
    keys = ", ".join(report.keys) or "no trusted key found"
    what = (
        f"{report.statements} statements of repository {report.repository}, "
        f"the last is number {report.last}; commit {report.tip[:12]}; signed by {keys}."
    )
    count = len(report.findings)
    return (
        f"{f'{count} findings' if count != 1 else '1 finding'}. {what}"
        if count
        else f"Clean. {what}"
    )
