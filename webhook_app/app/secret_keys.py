"""The key that hides and seals declared secrets: made at the first start, kept beside the store."""

import os
from pathlib import Path

from proposals.vault import Vault
from proposals.veil import SIZE, Key
from webhook_app.settings import SettingsError

from .key import write_whole


def secrets_path(store: Path) -> Path:
    """Where the key of a store's secrets lies."""
    return store.with_name(store.name + ".secrets")


def vault(path: Path, *, needed: bool) -> Vault:
    """Read the keys, one a line as hex: the first seals, all open. Make one if there is none yet.

    `needed`: the store holds secrets that no new key opens, so none is made in the place of a lost
    file. Raises SettingsError.
    """
    try:
        if not path.exists():
            if needed:
                raise SettingsError(_lost(path))
            write_whole(path, b"")
        if path.stat().st_mode & 0o077:
            raise SettingsError(
                f"others can read the key of the secrets {path}; they could open them. "
                f"Run: chmod 600 {path}"
            )
        if not path.read_text("ascii").strip():
            write_whole(path, os.urandom(SIZE).hex().encode() + b"\n")
        lines = path.read_text("ascii").split()
        return Vault(tuple(Key.of(bytes.fromhex(line)) for line in lines))
    except OSError as error:
        raise SettingsError(
            f"the key of the secrets {path} cannot be used: {error.strerror}. Let this user read "
            "and write its folder."
        ) from None
    except ValueError:
        raise SettingsError(
            f"{path} holds no keys: each line must be {SIZE * 2} hex digits. Restore it from the "
            "backup."
        ) from None


def _lost(path: Path) -> str:
    return (
        f"the key of the secrets {path} is not there, and the store holds secrets that only it "
        "opens. Restore it from the backup. If it is gone for good, make an empty file there "
        f"(touch {path}; chmod 600 {path}): calls with secrets that still wait are then never run."
    )
