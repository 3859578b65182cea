"""Which address shows which page, and the guard every page and form passes through."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from sandbox.github.core import Core
from sandbox.github.git import GitError
from sandbox.github.refusal import Refused

from . import code, deliveries, forms, pulls
from .site import TEMPLATES, Site
from .visit import Visit

Handler = Callable[..., Awaitable[Response]]

REPO = "/{owner}/{repo}"
PULL = REPO + "/pull/{number}"
HOOKS = "/settings/apps/{slug}/deliveries"
PAGES: list[tuple[str, Handler]] = [
    ("/", code.home),
    (HOOKS, deliveries.listed),
    ("/apps/{slug}", code.app_page),
    ("/{owner}", code.account),
    (REPO, code.front),
    (f"{REPO}/tree/{{rest:path}}", code.tree),
    (f"{REPO}/blob/{{rest:path}}", code.blob),
    (f"{REPO}/commits/{{rest:path}}", code.commits),
    (f"{REPO}/commit/{{sha}}", code.commit),
    (f"{REPO}/runs/{{run_id}}", pulls.run),
    (f"{REPO}/pulls", pulls.listed),
    (PULL, pulls.conversation),
    (f"{PULL}/commits", pulls.commits),
    (f"{PULL}/files", pulls.files),
    (f"{PULL}/checks", pulls.checks),
]
FORMS: list[tuple[str, Handler]] = [
    ("/_pages/sign-in", forms.sign_in),
    ("/_pages/sign-out", forms.sign_out),
    (f"{HOOKS}/{{delivery_id}}/redeliver", deliveries.redeliver),
    (f"{REPO}/runs/{{run_id}}/press", forms.press),
    (f"{REPO}/runs/{{run_id}}/rerun", forms.rerun),
    (f"{PULL}/comment", forms.comment),
    (f"{PULL}/review", forms.review),
    (f"{PULL}/merge", forms.merge),
    (f"{PULL}/close", forms.close),
    (f"{PULL}/reopen", forms.reopen),
    (f"{PULL}/edit", forms.edit),
    (f"{PULL}/comment/{{comment_id}}/edit", forms.edit_comment),
    (f"{PULL}/review/{{review_id}}/dismiss", forms.dismiss),
]
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; form-action 'self'; "
    "base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
STATIC = {"style.css": "text/css", "icon.svg": "image/svg+xml"}


def mount(app: Starlette, world: Core) -> None:
    """Add the pages to an application, after its other routes."""
    app.router.routes.extend(routes(Site(world)))


def routes(site: Site) -> list[BaseRoute]:
    """Give every page and form; what no other route answers is a friendly 404."""
    found: list[BaseRoute] = [
        Route(f"/_pages/{name}", _static(name, kind)) for name, kind in STATIC.items()
    ]
    found += [Route(path, guarded(site, page), methods=["GET"]) for path, page in PAGES]
    found += [Route(path, guarded(site, form), methods=["POST"]) for path, form in FORMS]
    return [*found, Route("/{path:path}", guarded(site, _nowhere), methods=["GET", "POST"])]


def _static(name: str, kind: str) -> Handler:
    content = (TEMPLATES / name).read_bytes()

    async def answer(_request: Request) -> Response:
        return Response(content, media_type=kind, headers={"X-Content-Type-Options": "nosniff"})

    return answer


async def _nowhere(_visit: Visit, path: str) -> Response:
    raise Refused(404, f"There is no page at /{path}")


def guarded(site: Site, handler: Handler) -> Handler:
    """Read the form, demand its token, and turn every refusal into a page."""

    async def answer(request: Request) -> Response:
        visit = Visit(site, request, {})
        try:
            if request.method == "POST":
                visit.form = await _form(request)
                _ours(visit)
            response = await handler(visit, **request.path_params)
        except Refused as refused:
            response = _sorry(visit, refused)
        except GitError as missing:
            response = _sorry(visit, Refused(404, str(missing)))
        except HTTPException as bad:  # a form that cannot be read
            response = _sorry(visit, Refused(bad.status_code, bad.detail))
        response.headers.update(HEADERS)
        return response

    return answer


def _ours(visit: Visit) -> None:
    if not visit.site.signer.genuine(visit.session, visit.form.get("csrf")):
        raise Refused(403, "This form is not from this session. Reload the page and try again.")


async def _form(request: Request) -> dict[str, str]:
    async with request.form() as form:
        return {
            # A browser sends line ends as CRLF; GitHub stores what people typed with LF here too.
            name: value.replace("\r\n", "\n")
            for name, value in form.items()
            if isinstance(value, str)
        }


def _sorry(visit: Visit, refused: Refused) -> Response:
    missing = refused.status == HTTPStatus.NOT_FOUND
    words = refused.message
    if missing and words == "Not Found":
        who = visit.me.login if visit.me else "somebody who is not signed in"
        words = f"This page does not exist, or {who} may not see it."
    return visit.show(
        "sorry.html",
        status=refused.status,
        title="Not found" if missing else "Not done",
        heading="Not found" if missing else "That was not done",
        words=words,
        errors=[e if isinstance(e, str) else e.get("message", "") for e in refused.errors],
        back="/",
        back_words="Repositories and people",
    )
