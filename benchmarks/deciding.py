"""Requests to GitHub for one decision: one reviewer, one rule that names a team.

    make bench            (or .venv/bin/python benchmarks/deciding.py)

Counted from the review to the start's statement, in a repository that was used before; minting
tokens is listed apart. What a refusal costs is counted too.
"""

import asyncio
import tempfile
from collections import Counter
from pathlib import Path

from sandbox.stage import AGENT, REPOSITORY, deactivating
from sandbox.testing import Town, town
from sandbox.tools import crm

LIMIT = 7
TOKENS = "POST /app/installations/{installation_id}/access_tokens"
POLICY = """\
version: 1
rules:
  - tools: ["crm.*"]
    require: [{approvals: 1, from: [team:acme/data]}]
"""


async def decided(here: Town, who: str, ids: list[int], *said: str) -> Counter[str]:
    """What one review made Placet ask until it had decided; others had `said` something before."""
    seen = await here.propose("crm.deactivate_customers", {"ids": ids})
    for words in said:
        await here.person("sam").comment(REPOSITORY, here.number(seen), words)
    await here.rest()
    here.world.log.clear()
    await here.person(who).review(REPOSITORY, here.number(seen), "APPROVE")
    await here.rest()
    entries = [e for e in here.world.log.entries if e.kind in ("installation", "app")]
    writes = [place for place, e in enumerate(entries) if _is_write(e.method, str(e.template))]
    return Counter(f"{e.method} {e.template}" for e in entries[: writes[0] if writes else None])


def _is_write(method: str, template: str) -> bool:
    reads = template.startswith("/graphql") or template == TOKENS.split(" ", 1)[1]
    return method != "GET" and not reads


async def measured() -> list[tuple[str, Counter[str]]]:
    """The decisions of a yes and of a no, in a town of their own."""
    with tempfile.TemporaryDirectory(prefix="placet-bench-") as name:
        folder = Path(name)
        crm.make(folder / "crm.db")
        tools = deactivating(folder / "crm.db")
        async with town(folder / "town", tools=tools, policy=POLICY) as here:
            await decided(here, "noor", [31])  # the first use of a repository takes more, once
            return [
                ("a yes of a member of the team", await decided(here, "lee", [17])),
                ("the same where others have commented", await decided(here, "lee", [42], "Why?")),
                ("a yes of somebody who only reads", await decided(here, "sam", [23])),
                (f"a yes of the person {AGENT} works for", await decided(here, "dana", [58])),
            ]


def main() -> None:
    for what, asked in asyncio.run(measured()):
        tokens = asked.pop(TOKENS, 0)
        count = asked.total()
        print(f"{what:44} {count:3} requests   {count / LIMIT:5.2f} of the limit {LIMIT}"
              f"   (and {tokens} for tokens)")  # fmt: skip
        for kind, times in sorted(asked.items()):
            print(f"    {times} {kind}")


if __name__ == "__main__":
    main()
