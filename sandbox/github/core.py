"""The state, its clock, its faults and its deliveries: what every action works on."""

import copy
from datetime import timedelta
from pathlib import Path

import httpx

from .clock import Clock
from .deliveries import Deliveries
from .faults import Faults
from .git import Git
from .log import RouteLog
from .lookup import Lookup
from .model import State

FIRST_IDS = {
    "user": 5_100_019, "team": 9_700_031, "app": 1_200_037, "installation": 48_000_043,
    "repository": 620_000_053, "hook": 410_000_059, "pull": 2_100_000_061,
    "review": 2_700_000_067, "comment": 3_100_000_071, "reaction": 210_000_073,
    "check_run": 33_000_000_079, "suite": 29_000_000_083, "ruleset": 5_400_089,
    "delivery": 900_000_000_097,
}  # fmt: skip
"""Every kind of id starts elsewhere, so that no test passes because two ids are equal."""


class Core(Lookup):
    """One GitHub: its state lives in `root` (git) and in memory (the rest).

    `url` is where it will be served, for the addresses it writes; set it before serving.
    `hook_transport` carries the deliveries in tests that run in one process.
    """

    def __init__(
        self,
        root: Path,
        url: str = "http://127.0.0.1:8000",
        *,
        clock: Clock | None = None,
        hook_transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(State(), url)
        self.root = root
        self.clock = clock or Clock()
        self.faults = Faults()
        self.log = RouteLog()
        self.deliveries = Deliveries(self.clock, self.faults, hook_transport)
        self._next = dict(FIRST_IDS)

    def new_id(self, kind: str) -> int:
        """Give the next id of a kind; ids grow with time."""
        number = self._next[kind]
        self._next[kind] += 7
        return number

    def new_git(self, repository_id: int) -> Git:
        """Make the bare repository of a new repository."""
        self.root.mkdir(parents=True, exist_ok=True)
        return Git(self.root / f"{repository_id}.git")

    def moment(self) -> State:
        """Keep everything as it is now, for a stale read later."""
        return copy.deepcopy(self.state)

    def at(self, moment: State) -> "Core":
        """Give this world as of an earlier moment, to read from."""
        past = copy.copy(self)
        past.state = moment
        return past

    def expire_tokens(self) -> None:
        """Let every installation token of now be too old."""
        for token in self.state.tokens.values():
            if token.expires_at:
                token.expires_at = self.clock.machine() - timedelta(seconds=1)

    async def settled(self) -> None:
        """Wait until every delivery sent so far has been answered."""
        await self.deliveries.settled()

    async def aclose(self) -> None:
        """Stop the deliveries on their way."""
        await self.deliveries.aclose()
