"""One request to a page: who looks, what they may see, and the page they get."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from sandbox.github.caller import Caller
from sandbox.github.model import Account, App, CheckRun, Pull, Repository
from sandbox.github.refusal import not_found

from .session import Session
from .site import Site

LONGEST_NUMBER = 18


def number(text: str) -> int:
    """Read a number of a URL; anything else is a page that does not exist."""
    if not (text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER):
        raise not_found()
    return int(text)


class Visit:
    """A request with the person behind it. Lookups raise Refused, which becomes a page."""

    def __init__(self, site: Site, request: Request, form: Mapping[str, str]) -> None:
        self.site = site
        self.request = request
        self.form = form
        self.session: Session = site.signer.session(request)
        self.world = site.world
        self.me: Account | None = self.world.state.accounts.get(self.session.user_id or 0)
        self.caller = Caller("user", self.me) if self.me else Caller("nobody")

    def repository(self, owner: str, name: str) -> Repository:
        """Find a repository that this person may see."""
        repo = self.world.repository(f"{owner}/{name}")
        if not self.caller.sees(self.world, repo):
            raise not_found()
        return repo

    def pull(self, owner: str, name: str, digits: str) -> tuple[Repository, Pull]:
        """Find a pull request that this person may see."""
        repo = self.repository(owner, name)
        return repo, self.world.pull(repo, number(digits))

    def check(self, owner: str, name: str, digits: str) -> tuple[Repository, CheckRun]:
        """Find a check run that this person may see."""
        repo, run_id = self.repository(owner, name), number(digits)
        if run_id not in repo.checks:
            raise not_found()
        return repo, repo.checks[run_id]

    def runs(self, app: App) -> bool:
        """Whether this person may see an App's own page."""
        owner = self.world.state.accounts[app.owner_id]
        return self.me is not None and (
            self.me.id == owner.id or owner.members.get(self.me.id) == "admin"
        )

    def show(
        self, template: str, repo: Repository | None = None, status: int = 200, **values: Any
    ) -> Response:
        """Render a page for this person."""
        around: dict[str, Any] = {
            "me": self.me,
            "csrf": self.site.signer.token(self.session),
            "accounts": self.world.state.accounts,
            "apps": self.world.state.apps,
            **dict.fromkeys(("title", "tab", "repo", "owner", "my_role", "flash", "refresh")),
        }
        if repo:
            around |= self._around(repo)
        html = self.site.render(template, **around | values)
        return self._kept(HTMLResponse(html, status))

    def _around(self, repo: Repository) -> dict[str, Any]:
        return {
            "repo": repo,
            "owner": self.world.owner(repo).login,
            "open_pulls": len(list(repo.open_pulls())),
            "my_role": self.world.role(repo, self.me.id) if self.me else None,
        }

    def go(self, path: str) -> Response:
        """Send the browser on after a form, so that reloading does not repeat it."""
        return self._kept(RedirectResponse(path, 303))

    def _kept(self, response: Response) -> Response:
        if self.session.fresh:
            self.site.signer.remember(response, self.session)
        return response
