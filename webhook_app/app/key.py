"""The key that signs statements: made at the first start, kept beside the store, replaceable."""

import json
import os
from datetime import datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from proposals.receipt import BadKey, Object, Signer
from proposals.succession import claims, succeed
from webhook_app.settings import SettingsError


def key_path(store: Path) -> Path:
    """Where the signing key of a store lies."""
    return store.with_name(store.name + ".key")


def signing_key(path: Path) -> Signer:
    """Read the key and what leads to it, or make one that only this user can read (0600).

    Raises SettingsError.
    """
    try:
        if not path.exists():
            write_whole(path, _pem(Ed25519PrivateKey.generate()))
        if path.stat().st_mode & 0o077:
            raise SettingsError(
                f"others can read the signing key {path}; they could sign statements. "
                f"Run: chmod 600 {path}"
            )
        signer = Signer.from_pem(path.read_bytes())
        return Signer(signer.private, _before(path, signer.keyid))
    except OSError as error:
        raise SettingsError(
            f"the signing key {path} cannot be used: {error.strerror}. Let this user read and "
            "write its folder."
        ) from None
    except BadKey as error:
        raise SettingsError(f"{path}: {error}") from None


def new_key(path: Path, now: datetime) -> Signer:
    """Replace the key by a new one, signed by the old; SettingsError when there is none yet.

    What leads to it is written first: a server that stops in between goes on with the old key.
    """
    if not path.exists():
        raise SettingsError(f"there is no signing key {path} yet; `placet serve` makes the first")
    old = signing_key(path)
    new = succeed(old, Signer(Ed25519PrivateKey.generate()), now)
    try:
        write_whole(_line_path(path), json.dumps(new.before, indent=2).encode())
        write_whole(path, _pem(new.private))
    except OSError as error:
        raise SettingsError(f"{path} cannot be replaced: {error.strerror}") from None
    return new


def _before(path: Path, keyid: str) -> tuple[Object, ...]:
    """What leads to this key; an entry beyond it was never used."""
    line = _line_path(path)
    if not line.exists():
        return ()
    try:
        listed = json.loads(line.read_text("utf-8"))
        found = [claims(envelope).get("to") for envelope in listed]
    except (ValueError, TypeError):
        raise SettingsError(f"{line} cannot be read; restore it from a backup") from None
    return tuple(listed[: found.index(keyid) + 1]) if keyid in found else ()


def _line_path(path: Path) -> Path:
    return path.with_name(path.name + "s")


def _pem(key: Ed25519PrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def write_whole(path: Path, data: bytes) -> None:
    """Write beside its place and put it there whole: a half-written one is never found."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
