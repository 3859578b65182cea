"""Who waits for whom: statements of a repository, pages to open, changes of one thing."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TypeAlias
from weakref import WeakValueDictionary

OPENINGS = 8
"""How many pages of one repository are opened at once, the oldest first.

All at once none would be there soon, and each new start would begin with all of them again.
"""

Thing: TypeAlias = tuple[str, str]
"""What a plan changes: its box or upstream, and the name that the plan gives it."""


class Lines:
    """Who must wait for whom in this process; nothing of it outlives the process."""

    def __init__(self) -> None:
        self._locks = defaultdict[int, asyncio.Lock](asyncio.Lock)
        self._openings = defaultdict[int, asyncio.Semaphore](lambda: asyncio.Semaphore(OPENINGS))
        self._changing: dict[Thing, str] = {}
        self._waiting: set[str] = set()
        self._freed: set[str] = set()
        self._undos = WeakValueDictionary[str, asyncio.Lock]()
        self.planning: set[str] = set()
        """Proposals that this process is planning right now."""
        self.running: set[str] = set()
        """Proposals that are started on no worker's behalf right now: nobody else touches them."""
        self.looked: set[int] = set()
        """Repositories to whose ledger this process may write: it was as the store has it."""
        self.met: set[int] = set()
        """Repositories whose ledger was compared with the store since this process began."""

    def of(self, repository: int) -> asyncio.Lock:
        """Hold this while a statement of the repository is numbered and written."""
        return self._locks[repository]

    def opening(self, repository: int) -> asyncio.Semaphore:
        """Hold this while a page is opened for a proposal of the repository."""
        return self._openings[repository]

    def taking_back(self, proposal: str) -> asyncio.Lock:
        """Hold this while a proposal is taken back at once: two people may ask for it together."""
        return self._undos.setdefault(proposal, asyncio.Lock())

    @contextmanager
    def changing(self, id_: str, things: Collection[Thing]) -> Iterator[str | None]:
        """Hold all that a call changes, from before it is planned again until it is read back.

        Gives the id of a proposal that holds some of it now: then nothing is held, and the call
        must wait. Else two plans that were made on one world would both be carried out.
        """
        holder = next((self._changing[thing] for thing in things if thing in self._changing), None)
        if holder is not None:
            self._waiting.add(id_)
            yield holder
            return
        self._changing |= dict.fromkeys(things, id_)
        try:
            yield None
        finally:
            for thing in things:
                del self._changing[thing]
            self._freed |= self._waiting
            self._waiting.clear()

    def free(self, id_: str) -> None:
        """Have a proposal looked at soon: it can be judged otherwise, though nobody spoke."""
        self._freed.add(id_)

    def freed(self) -> set[str]:
        """Who must be looked at again, each told once; what they waited for was let go since."""
        freed, self._freed = self._freed, set()
        return freed
