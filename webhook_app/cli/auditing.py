"""`placet audit`: prove a ledger from a plain clone, with no server and no network."""

from pathlib import Path
from typing import Annotated

import typer
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from proposals.audit import Kept, Keys, Report, audit
from proposals.receipt import BadKey, public_from_pem
from proposals.store import Reading, StoreStopped
from proposals.tools import printable

from .clone import BadClone, Clone
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
    ref: Annotated[str | None, typer.Option(help="Audit this ref instead.")] = None,
    as_json: AsJson = False,  # noqa: FBT002 (a switch of the command line)
) -> None:
    """Prove what a ledger says from a clone alone; exit 1 when anything is not as it must be."""
    try:
        ledger = Clone(clone).ledger(ref)
    except BadClone as bad:
        give_up(str(bad))
    keys = Keys.of(trust, [_public(file) for file in key or []], ledger.files)
    report = audit(ledger, keys)
    if store is not None:
        report = audit(ledger, keys, _kept(store, report.repository))
    if as_json:
        print_json(report.data())
    else:
        _print(report, compared=store is not None)
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


def _print(report: Report, *, compared: bool) -> None:
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
    seen = report.cannot_see[1:] if compared else report.cannot_see
    for words in seen:
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
