"""The declared tools as the gate takes them: how each is read, and how each is run when it may."""

import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from .calls import Entry, Run
from .canonical import JSON
from .ports import Order, Outcome
from .runner import Runner
from .tools import Catalog, Tool, UnknownTool
from .upstreams import Heard, Unreached, Unreturned
from .vault import SecretsLost, Vault
from .veil import Veil, World

NO_KEYS = Vault()


class Registry(Mapping[str, Entry]):
    """The entries of whatever the catalog holds at the moment of asking.

    Reads are remembered only as long as their declaration says.
    """

    def __init__(
        self, runner: Runner, catalog: Callable[[], Catalog], vault: Vault = NO_KEYS
    ) -> None:
        self._runner = runner
        self._catalog = catalog
        self._vault = vault

    def __getitem__(self, name: str) -> Entry:
        try:
            tool = self._catalog().find(name)
        except UnknownTool:
            raise KeyError(name) from None
        if tool.effect != "read":
            return Entry(tool, self._changing(tool))
        seconds = tool.memo.total_seconds() if tool.memo else 0.0
        return Entry(tool, self._reading(tool), tool.retries, tool.fallback, seconds)

    def __iter__(self) -> Iterator[str]:
        return iter(self._catalog().tools)

    def __len__(self) -> int:
        return len(self._catalog().tools)

    def _reading(self, tool: Tool) -> Run:
        async def read(arguments: JSON, _key: str | None) -> Heard:
            if not tool.secrets:
                return await self._runner.read(tool, arguments)
            try:
                veil = Veil(self._vault.key(), secrets.token_hex(16), tool.secrets)
            except SecretsLost as error:
                raise Unreached(error.code, str(error)) from None
            return await self._veiled(tool, arguments, veil)

        return read

    async def _veiled(self, tool: Tool, arguments: JSON, veil: Veil) -> Heard:
        """What a read brings, without what is secret of it: it goes to an agent."""
        asked = replace(veil, known=({"arguments": arguments},))
        try:
            heard = await self._runner.read(tool, arguments)
        except Unreached as error:
            raise Unreached(error.code, asked.text(str(error))) from None
        except Unreturned as error:
            raise Unreturned(asked.text(str(error))) from None
        brought: World = {"result": heard.value}
        told = replace(veil, known=(brought, *asked.known))
        return replace(heard, value=asked.hide(brought)["result"], error=told.text(heard.error))

    def _changing(self, tool: Tool) -> Run:
        async def change(arguments: JSON, key: str | None) -> Heard:
            pinned = await self._runner.plan_again(tool, arguments)
            order = Order(pinned.plan, key or secrets.token_hex(16))
            returned = await self._runner.apply(tool, order)
            if returned.outcome is Outcome.LOST:
                raise Unreturned(returned.why)
            if returned.outcome is Outcome.DID_NOTHING:
                raise Unreached("did_nothing", returned.why)
            return Heard(returned.result)

        return change
