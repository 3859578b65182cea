"""Installation tokens, as narrow as the work: minted once, kept for less than their hour."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

MARGIN = 120.0


@dataclass(frozen=True, slots=True)
class Scope:
    """What a token may do: on which installation, which repositories (none named: all), what."""

    installation: int
    repositories: tuple[int, ...]
    permissions: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, installation: int, *repositories: int, **permissions: str) -> "Scope":
        """A scope with its permissions in one order, so that equal scopes share a token."""
        return cls(installation, repositories, tuple(sorted(permissions.items())))


@dataclass(frozen=True, slots=True)
class Minted:
    """A fresh token and its life in seconds."""

    token: str = field(repr=False)
    life: float


class Tokens:
    """Keeps one token per scope; callers that come at the same time wait for the same one."""

    def __init__(
        self, mint: Callable[[Scope], Awaitable[Minted]], clock: Callable[[], float]
    ) -> None:
        self._mint = mint
        self._clock = clock
        self._kept: dict[Scope, tuple[str, float]] = {}
        self._locks = defaultdict[Scope, asyncio.Lock](asyncio.Lock)

    async def get(self, scope: Scope) -> str:
        """A token of this scope that still lives; ForgeError when GitHub gives none."""
        async with self._locks[scope]:
            token, until = self._kept.get(scope, ("", 0.0))
            if self._clock() >= until:
                minted = await self._mint(scope)
                token = minted.token
                self._kept[scope] = (token, self._clock() + minted.life - MARGIN)
            return token

    def drop(self, scope: Scope, token: str) -> None:
        """Forget a token that GitHub no longer takes, unless a newer one is there already."""
        if self._kept.get(scope, ("", 0.0))[0] == token:
            del self._kept[scope]
