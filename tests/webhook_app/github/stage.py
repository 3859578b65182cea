"""One organisation with a governing repository, our App on it, and the forge that speaks for it."""

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from checks.facts import Person, Stance, Surface, Voice
from checks.verdict import Verdict
from proposals.lifecycle import State
from proposals.plan import Place, Planned, Proposal, pin
from sandbox.github.faults import Fault
from sandbox.github.model import Account, App, Installation, Repository
from sandbox.github.world import World
from tests.judged import JudgedApp
from webhook_app.github import ForgeSettings, GitHubForge

REPO = "acme/approvals"
URL = "https://api.github.test"
PLAN = b'{"plan": "deactivate 3 customers"}\n'
PERMISSIONS = {
    "contents": "write",
    "pull_requests": "write",
    "checks": "write",
    "issues": "read",
    "members": "read",
}
EVENTS = ["pull_request", "pull_request_review", "issue_comment", "check_run", "push"]
POLICY = """\
version: 1
rules:
  - tools: ["*"]
    require: [{approvals: 1}]
"""
TOOL = {"name": "db.update", "kind": "command", "effect": "write", "definition": "sha256:00"}


@dataclass(frozen=True)
class Check:
    title: str
    summary: str
    text: str | None
    conclusion: str
    actions: tuple[tuple[str, str, str], ...]
    details_url: str | None = None


class Words:
    """A Render of few words."""

    def title(self, proposal: Proposal) -> str:
        return f"Change {proposal.tool}"

    def body(self, proposal: Proposal) -> str:
        return f"> **If you approve, {proposal.id} runs.**\n\nAsked by {proposal.agent}\n"

    def check_name(self, proposal: Proposal) -> str:
        return f"placet: {proposal.id}"

    def announcement(self, proposal: Proposal) -> str:
        return f"**An agent asks:** {proposal.id}, {proposal.plan.digest}"

    def check(self, proposal: Proposal, _verdict: Verdict | None, _now: datetime) -> Check:
        buttons = (("Approve", "Apply exactly this plan", "approve"),)
        waiting = proposal.state in (State.PINNED, State.OPEN)
        conclusion = "action_required" if waiting else "success"
        return Check(f"It is {proposal.state}", "One approval", None, conclusion, buttons)

    def outcome_comment(self, proposal: Proposal) -> str:
        return f"**Done.** {proposal.id}"

    def merge_message(self, proposal: Proposal) -> tuple[str, str]:
        return "Applied", f"Placet-Proposal: {proposal.id}"

    def plan_path(self, proposal: Proposal) -> str:
        return f"proposals/2026/11/{proposal.id}/plan.json"

    def statement_path(self, proposal: Proposal, kind: str) -> str:
        return f"proposals/2026/11/{proposal.id}/{kind}.json"


@dataclass
class Stage:
    world: World
    app: App
    installation: Installation
    judged: JudgedApp
    naps: list[float] = field(default_factory=list)
    words: Words = field(default_factory=Words)

    @property
    def repo(self) -> Repository:
        return self.world.repository(REPO)

    def account(self, login: str) -> Account:
        return self.world.account(login)

    def settings(self, **change: Any) -> ForgeSettings:
        given: dict[str, Any] = {
            "api_url": URL,
            "app_id": self.app.id,
            "private_key_pem": self.app.private_key,
            "accounts": frozenset({self.account("acme").id}),
            "writes_per_minute": None,
        }
        return ForgeSettings(**given | change)

    def forge(self, **change: Any) -> GitHubForge:
        return GitHubForge(
            self.settings(**change),
            self.words,
            self.world.clock.now,
            transport=httpx.ASGITransport(self.judged),
            sleep=self.nap,
        )

    async def nap(self, seconds: float) -> None:
        self.naps.append(seconds)

    def proposal(self, name: str = "p_1f0c", **change: Any) -> Proposal:
        given: dict[str, Any] = {
            "agent": "cleanup-bot",
            "tool": "db.update",
            "arguments": {},
            "state": State.PINNED,
            "repository": self.repo.id,
            "identities": frozenset({self.account("dana").id}),
            "created": datetime(2026, 11, 30, 12, tzinfo=UTC),
            "expires": datetime(2026, 11, 30, 16, tzinfo=UTC),
            "salt": "00",
            "pinned": pin(TOOL, {}, Planned()),
            "policy": POLICY,
        }
        return Proposal(id=name, **given | change)

    def lose(self, method: str, path: str, **change: Any) -> None:
        """Let an answer get lost after its request did its work."""
        self.fail(method, path, **{"drop": True, "when": "after"} | change)

    def fail(self, method: str, path: str, **change: Any) -> None:
        self.world.faults.add(Fault(method, path, **change))

    def counts(self) -> Counter[str]:
        """What was asked since the last time, tokens aside."""
        asked = Counter(
            f"{e.method} {e.template}"
            for e in self.world.log.entries
            if not str(e.template).endswith("access_tokens")
        )
        self.world.log.clear()
        return asked

    def writes(self) -> int:
        return sum(e.method != "GET" for e in self.world.log.entries)

    def person(self, login: str) -> Person:
        found = self.account(login)
        return Person(found.id, found.login, found.type)

    def said(self, login: str, key: str, **change: Any) -> Voice:
        """A voice as it was delivered."""
        given: dict[str, Any] = {
            "surface": Surface(key.split(":", maxsplit=1)[0]),
            "stance": Stance.APPROVE,
            "at": self.world.clock.now() - timedelta(seconds=1),
            "order": int(key.split(":")[1]) if key.split(":")[1].isdecimal() else 0,
        }
        return Voice(key, self.person(login), **given | change)


def opened(proposal: Proposal, place: Place) -> Proposal:
    return replace(proposal, place=place, state=State.OPEN)
