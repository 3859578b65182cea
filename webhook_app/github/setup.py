"""What the GitHub side needs to be told: where GitHub is, and which App speaks there."""

import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

_LOCAL = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True)
class ForgeSettings:
    """The App and its GitHub; ValueError, with words for the operator, when it cannot work.

    `client_id`, where given, signs in instead of `app_id`. `accounts`: numeric ids of the
    organisations and users whose installations count.
    `writes_per_minute` None: no pacing (a GitHub Enterprise Server without rate limits), and so
    with `writes_per_hour`; `burst` writes may follow each other at once. `timeout` and `deadline`
    are seconds, for one step of a request and for all of it.
    """

    api_url: str
    app_id: int
    private_key_pem: str = field(repr=False)
    accounts: frozenset[int]
    client_id: str | None = None
    allow_public: bool = False
    api_version: str = "2022-11-28"
    writes_per_minute: float | None = 40.0
    writes_per_hour: float | None = None
    burst: int = 20
    timeout: float = 10.0
    deadline: float = 30.0

    def __post_init__(self) -> None:
        url = urlsplit(self.api_url)
        if url.scheme != "https" and url.hostname not in _LOCAL:
            raise ValueError(f"{self.api_url!r}: GitHub's address must start with https://")
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", self.api_version):
            raise ValueError("GitHub's API version is a date, such as 2022-11-28")
        if self.writes_per_minute is not None and (self.writes_per_minute <= 0 or self.burst < 1):
            raise ValueError("writes per minute and burst must be greater than 0")
        object.__setattr__(self, "private_key_pem", _checked(self.private_key_pem))


def _checked(pem: str) -> str:
    """The key with real line ends (environments escape them), proven to be an RSA key."""
    text = pem.replace("\\n", "\n").strip() + "\n"
    try:
        usable = isinstance(load_pem_private_key(text.encode(), None), RSAPrivateKey)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        usable = False
    if not usable:
        raise ValueError(
            "The App's private key cannot be read. Give the whole .pem file that GitHub offered "
            "for download (App settings, Private keys)."
        )
    return text
