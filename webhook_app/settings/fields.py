"""The fields that the operator sets; their docstrings are the configuration page."""

import re
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from checks.facts import Surface
from checks.policy import Policy, floor
from checks.times import Duration

from .upstreams import Upstream, UpstreamName

STORE = "placet.db"
SHORTEST_SECRET = 16  # characters
_PLACEHOLDER = re.compile(
    r"\$\{?\w+\}?|\{\{.*\}\}|<.*>|(change|replace)[-_ ]?me.*|x+", re.IGNORECASE
)


def _url(value: str) -> str:
    if not re.fullmatch(r"https?://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9._~/-]*)?", value):
        raise ValueError(f'"{value:.80}" is no address such as https://placet.example.com')
    return value.rstrip("/")


def _secret(value: SecretStr) -> SecretStr:
    said = value.get_secret_value()
    if not said.strip():
        fault = "is empty"
    elif _PLACEHOLDER.fullmatch(said.strip()):
        fault = "is a placeholder that nothing has filled in"
    elif said != said.strip():
        fault = "begins or ends with white space, which GitHub would not send"
    elif len(said) < SHORTEST_SECRET:
        fault = f"is {len(said)} characters"
    else:
        return value
    raise ValueError(
        f"the webhook secret {fault}; GitHub deliveries could be forged. Set "
        f"PLACET_WEBHOOK_SECRET to at least {SHORTEST_SECRET} random characters (and the same in "
        "the App's settings)."
    )


def _ids(value: Any) -> Any:
    """Take `1,2` from the environment as well as a list from the file."""
    if isinstance(value, str):
        value = [part.strip() for part in value.strip("[] ").split(",") if part.strip()]
    if not isinstance(value, list | tuple | set | frozenset):
        raise ValueError("write a list of numeric ids, such as [9919]")  # noqa: TRY004 (pydantic's)
    return [int(i) if isinstance(i, str) and i.isdecimal() else i for i in value]


Url = Annotated[str, AfterValidator(_url)]
Secret = Annotated[SecretStr, AfterValidator(_secret)]
Id = Annotated[int, Field(gt=0, lt=2**53)]
Ids = Annotated[
    frozenset[Annotated[Id, Field(strict=True)]], NoDecode, BeforeValidator(_ids, list[int])
]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Floor(_Table):
    """The server's own minimum for one effect: so many different people, on these surfaces."""

    approvals: Annotated[int, Field(ge=1, le=20)] = 1
    surfaces: Annotated[tuple[Surface, ...], Field(min_length=1)] = tuple(Surface)

    def policy(self) -> Policy:
        """The minimum as a policy, which must pass as well as the repository's own."""
        return floor(self.approvals, self.surfaces)


class Repository(_Table):
    """A repository that governs tools: its policy and its ledger count."""

    id: Id


class Settings(BaseSettings):
    """The settings of the server."""

    model_config = SettingsConfigDict(
        env_prefix="PLACET_", extra="forbid", frozen=True, use_attribute_docstrings=True
    )

    url: Url
    """Where people and GitHub reach this server, such as `https://placet.example.com`."""
    app_id: Id
    """The number of the GitHub App, from the App's settings page."""
    client_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,100}$")] | None = None
    """The App's client id (`Iv23...`), with which it then signs in instead of with its number, as
    GitHub recommends. GitHub Enterprise Server takes the number in every version."""
    private_key: SecretStr | None = None
    """The App's private key as PEM text; `\\n` may stand for its line ends."""
    private_key_file: Path | None = None
    """A file with the App's private key, instead of `private_key`."""
    webhook_secret: Secret
    """The webhook secret of the App, at least 16 random characters."""
    webhook_secret_previous: Secret | None = None
    """The secret before the last change, accepted until `webhook_secret_previous_until`."""
    webhook_secret_previous_until: datetime | None = None
    """When the previous secret stops counting, such as `2026-12-24T00:00Z`."""
    accounts: Annotated[Ids, Field(min_length=1)]
    """Numeric ids of the organisations and users whose installations count; others are ignored."""
    store: Path = Path(STORE)
    """The SQLite file; its lock, its signing key and the operators' socket lie beside it."""
    host: str = "127.0.0.1"
    """The address to listen on."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8080
    """The port to listen on; 0 takes a free one."""
    api_url: Url = "https://api.github.com"
    """GitHub's REST API; on GitHub Enterprise Server `https://HOST/api/v3`."""
    api_version: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")] = "2022-11-28"
    """The version of GitHub's REST API; this one works on GitHub Enterprise Server as well."""
    html_url: Url = "https://github.com"
    """GitHub's pages, for links."""
    allow_public: bool = False
    """Whether a public repository may govern tools: its plans can be read by anyone."""
    machines: Ids = frozenset()
    """Numeric ids of machine accounts, which approve nothing."""
    max_body: Annotated[int, Field(ge=1024, le=25_000_000)] = 25_000_000
    """The largest delivery taken, in bytes; GitHub sends at most 25 MB."""
    writes_per_minute: Annotated[int, Field(ge=0, le=79)] = 60
    """How many writes to GitHub a minute and installation; GitHub blocks at 80. 0: no pacing at
    all, for a GitHub without rate limits, which is what an Enterprise Server is by default."""
    writes_per_hour: Annotated[int, Field(ge=1, le=499)] = 480
    """How many writes to GitHub an hour and installation; GitHub blocks at 500."""
    write_burst: Annotated[int, Field(ge=1, le=80)] = 10
    """How many of these writes may follow one another without a pause."""
    max_waiting: Annotated[int, Field(ge=1)] = 100
    """How many proposals of one agent may wait for people at once."""
    max_cost: dict[str, Annotated[Decimal, Field(ge=0)]] = {}
    """What all waiting proposals of one agent may cost together, by unit, such as `{EUR = 500}`."""
    calm_clients: frozenset[str] = frozenset()
    """Names of MCP clients, as they call themselves, that refuse tools with a destructive mark
    before the call arrives: they see none. The gate is the same."""
    repeat_window: Duration = timedelta(minutes=10)
    """For how long after its end the same call without an idempotency key is the same proposal."""
    shutdown_wait: Duration = timedelta(seconds=20)
    """For how long a server that is told to stop lets running changes end; what is not done by
    then has an unknown outcome, and is looked for at the next start. Allow 15 seconds more before
    the process is killed: 35 by default, with `docker stop -t`, `stop_grace_period` of Compose,
    `TimeoutStopSec` of systemd or `terminationGracePeriodSeconds` of Kubernetes."""
    policy_floor: dict[Literal["read", "write", "destructive"], Floor] = {}
    """`[policy_floor.destructive]`: what must be met for tools of an effect beside the policy."""
    repository: dict[str, Repository] = {}
    """`[repository.default]`: the governing repositories by the names that tools use, with `id`."""
    upstream: dict[UpstreamName, Upstream] = {}
    """`[upstream.fs]`: servers of tools that others wrote, by the first part of their tools' names.
    """

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Let the environment win over placet.toml, which comes as arguments."""
        return env_settings, init_settings

    @model_validator(mode="after")
    def _together(self) -> Self:
        if (self.private_key is None) == (self.private_key_file is None):
            raise ValueError(
                "the App's private key must come from exactly one place. Set either "
                "PLACET_PRIVATE_KEY_FILE or PLACET_PRIVATE_KEY."
            )
        if (self.webhook_secret_previous is None) != (self.webhook_secret_previous_until is None):
            raise ValueError(
                "a previous webhook secret needs its end, and the end a secret. Set both "
                "PLACET_WEBHOOK_SECRET_PREVIOUS and PLACET_WEBHOOK_SECRET_PREVIOUS_UNTIL, or none."
            )
        if (until := self.webhook_secret_previous_until) and until.tzinfo is None:
            raise ValueError("webhook_secret_previous_until needs a zone: 2026-12-24T00:00Z")
        _read_pem(self.pem())
        return self

    def pem(self) -> str:
        """The App's private key as PEM; ValueError when its file cannot be read."""
        if self.private_key is not None:
            return self.private_key.get_secret_value().replace("\\n", "\n").strip() + "\n"
        try:
            return (self.private_key_file or Path()).read_text("utf-8")
        except (OSError, ValueError):
            raise ValueError(
                f"the App's private key cannot be read from {self.private_key_file}. "
                "Check that the file exists, and that this user may read it."
            ) from None

    def wire(self, tool: str) -> str:
        """What agents call a tool on MCP's wire; no two have one name, or the start is refused."""
        upstream = self.upstream.get(tool.partition(".")[0])
        return upstream.wire(tool) if upstream else tool.replace(".", "__", 1)

    def secrets(self, now: datetime) -> list[bytes]:
        """The webhook secrets that count at this moment."""
        until = self.webhook_secret_previous_until
        previous = self.webhook_secret_previous if until and now < until else None
        return [s.get_secret_value().encode() for s in (self.webhook_secret, previous) if s]


def _read_pem(pem: str) -> None:
    try:
        key = load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, RSAPrivateKey):
        raise ValueError(  # noqa: TRY004 (pydantic's)
            "the App's private key is no unencrypted RSA key in PEM. Generate one on the App's "
            "settings page and use the downloaded file unchanged."
        )
