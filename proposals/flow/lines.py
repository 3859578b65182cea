"""One at a time: the statements of a repository, and the changes of one thing."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary

from proposals.plan import Proposal


class Lines:
    """Who must wait for whom in this process; nothing of it outlives the process."""

    def __init__(self) -> None:
        self._locks = defaultdict[int, asyncio.Lock](asyncio.Lock)
        self._changing: dict[tuple[str, str], str] = {}
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

    def taking_back(self, proposal: str) -> asyncio.Lock:
        """Hold this while a proposal is taken back at once: two people may ask for it together."""
        return self._undos.setdefault(proposal, asyncio.Lock())

    @contextmanager
    def changing(self, proposal: Proposal) -> Iterator[str | None]:
        """Hold all that a call changes, from before it is planned again until it is read back.

        Gives the id of a proposal that holds some of it now: then nothing is held, and the call
        must wait. Else two plans that were made on one world would both be carried out.
        """
        wanted = things(proposal)
        holder = next((self._changing[thing] for thing in wanted if thing in self._changing), None)
        if holder is not None:
            yield holder
            return
        self._changing |= dict.fromkeys(wanted, proposal.id)
        try:
            yield None
        finally:
            for thing in wanted:
                del self._changing[thing]


def things(proposal: Proposal) -> frozenset[tuple[str, str]]:
    """What a plan changes, by the names of its effects within the tool's own upstream or box."""
    home = proposal.tool.partition(".")[0]
    listed = proposal.plan.plan.get("effects")
    effects = listed if isinstance(listed, list) else []
    return frozenset((home, str(e["what"])) for e in effects if isinstance(e, dict))
