"""Secrets at rest: what nobody may see is kept encrypted, and opened for the tool alone."""

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from .ports import PlanFailed
from .veil import Key

_NONCE = 12
LOST = "secrets_lost"


class SecretsLost(PlanFailed):
    """The secrets of a proposal cannot be opened here, so that its tool cannot be run."""

    def __init__(self, message: str) -> None:
        hint = "The operator must restore the file of the secrets' key. Nothing was done."
        super().__init__(LOST, message, hint)


@dataclass(frozen=True, slots=True)
class Vault:
    """Seals with its first key, or with the one that a proposal's family has; opens with any.

    What is sealed is a text `<kid>:<base64>`, bound to its owner.
    """

    keys: tuple[Key, ...] = ()

    def key(self, kid: str = "") -> Key:
        """The key of this name, or the first one; SecretsLost."""
        for key in self.keys:
            if kid in ("", key.kid):
                return key
        missing = f"The key {kid} that sealed its secrets" if kid else "A key for secrets"
        raise SecretsLost(f"{missing} is not here.")

    def seal(self, key: Key, owner: str, content: Mapping[str, Any]) -> str:
        """Encrypt what is secret of a proposal, `owner` by id."""
        nonce = os.urandom(_NONCE)
        box = ChaCha20Poly1305(key.box).encrypt(nonce, json.dumps(content).encode(), _bound(owner))
        return f"{key.kid}:{b64encode(nonce + box).decode()}"

    def open(self, owner: str, sealed: str) -> dict[str, Any]:
        """What was sealed for this owner; SecretsLost."""
        key, box = self.key(kid_of(sealed)), b64decode(sealed.partition(":")[2])
        try:
            text = ChaCha20Poly1305(key.box).decrypt(box[:_NONCE], box[_NONCE:], _bound(owner))
        except InvalidTag:
            raise SecretsLost(f"The secrets of {owner} were changed in the store.") from None
        return dict(json.loads(text))


def kid_of(sealed: str) -> str:
    """Which key sealed it."""
    return sealed.partition(":")[0]


def _bound(owner: str) -> bytes:
    return f"placet secrets of {owner}".encode()
