"""The key that signs statements: made at the first start, kept beside the store."""

import os
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from proposals.receipt import BadKey, Signer
from webhook_app.settings import SettingsError


def key_path(store: Path) -> Path:
    """Where the signing key of a store lies."""
    return store.with_name(store.name + ".key")


def signing_key(path: Path) -> Signer:
    """Read the key, or make one that only this user can read (0600); SettingsError."""
    try:
        _make(path)
        if path.stat().st_mode & 0o077:
            raise SettingsError(
                f"others can read the signing key {path}; they could sign statements. "
                f"Run: chmod 600 {path}"
            )
        return Signer.from_pem(path.read_bytes())
    except OSError as error:
        raise SettingsError(
            f"the signing key {path} cannot be used: {error.strerror}. Let this user read and "
            "write its folder."
        ) from None
    except BadKey as error:
        raise SettingsError(f"{path}: {error}") from None


def _make(path: Path) -> None:
    """Write a new key beside its place and link it there: a half-written one is never found."""
    if path.exists():
        return
    pem = Ed25519PrivateKey.generate().private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(pem)
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
