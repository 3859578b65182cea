"""Apps: who they are, where they are installed, their tokens and their delivery log."""

import json

from sandbox.github.auth import new_token
from sandbox.github.clock import iso
from sandbox.github.deliveries import Delivery
from sandbox.github.model import App, Installation
from sandbox.github.refusal import Refused, not_accessible, not_found
from sandbox.github.schema import Known
from sandbox.github.views import accounts, repositories

from .call import MOST_PER_PAGE, Call, R, Reply, route

DELIVERIES = "/app/hook/deliveries"


def _app(call: Call) -> App:
    if call.caller.app is None:
        raise not_accessible()
    return call.caller.app


@route("GET", "/app", "app")
def get_app(call: Call) -> Reply:
    """Show the App itself."""
    return Reply(accounts.app(call.world, _app(call)))


@route("POST", "/app-manifests/{code}/conversions", None)
def convert_manifest(call: Call) -> Reply:
    """Hand out the key and secrets of a new App, once, to whoever holds the code."""
    state = call.world.state
    found = state.registrations.pop(call.path["code"], None)
    if found is None or found.expires_at <= call.world.clock.now():
        raise not_found()
    app = state.apps[found.app_id]
    secrets = Known(
        client_id=app.client_id,
        client_secret=f"{app.hook_id:040x}",
        webhook_secret=app.webhook_secret,
        pem=app.private_key,
    )
    return Reply(Known(accounts.app(call.world, app), **secrets), 201)


def _installations(call: Call) -> list[Installation]:
    every = call.world.state.installations.values()
    return [found for found in every if found.app_id == _app(call).id]


@route("GET", "/app/installations", "app")
def list_installations(call: Call) -> Reply:
    """List where the App is installed."""
    found = call.page(_installations(call))
    return Reply([accounts.installation(call.world, one) for one in found])


def _installation(call: Call) -> Installation:
    number = call.number("installation_id")
    for found in _installations(call):
        if found.id == number:
            return found
    raise not_found()


@route("GET", "/app/installations/{installation_id}", "app")
def get_installation(call: Call) -> Reply:
    """Show one installation."""
    return Reply(accounts.installation(call.world, _installation(call)))


@route("POST", "/app/installations/{installation_id}/access_tokens", "app")
def create_token(call: Call) -> Reply:
    """Make an installation token."""
    found = _installation(call)
    text, token = new_token(call.world, _app(call), found, call.body)
    shown = Known(
        token=text,
        expires_at=iso(token.expires_at) if token.expires_at else "",
        permissions=Known(token.permissions),
        repository_selection="all" if found.repository_ids is None else "selected",
    )
    if token.repository_ids is not None:
        shown["repository_selection"] = "selected"
        repos = call.world.state.repositories
        shown["repositories"] = [
            repositories.repository(call.world, repos[number])
            for number in sorted(token.repository_ids)
        ]
    return Reply(shown, 201)


@route("GET", f"{R}/installation", "app")
def get_repository_installation(call: Call) -> Reply:
    """Show the App's installation that covers a repository."""
    for found in _installations(call):
        if call.world.covers(found, call.repo):
            return Reply(accounts.installation(call.world, found))
    raise not_found()


@route("GET", "/installation/repositories")
def list_repositories(call: Call) -> Reply:
    """List the repositories that an installation token reaches."""
    if call.caller.kind != "installation":
        raise Refused(403, "You must authenticate with an installation access token in order to "
                           "list repositories for an installation.")  # fmt: skip
    every = call.world.state.repositories.values()
    found = [repo for repo in every if call.caller.sees(call.world, repo)]
    shown = [repositories.repository(call.world, repo) for repo in call.page(found)]
    return Reply(Known(total_count=len(found), repositories=shown))


@route("GET", "/app/hook/config", "app")
def get_hook_config(call: Call) -> Reply:
    """Show where deliveries go; the secret only as stars."""
    url = {"url": _app(call).hook_url} if _app(call).hook_url else {}
    config = Known(url | {"secret": "********"}, content_type="json", insecure_ssl="0")
    return Reply(config)


@route("PATCH", "/app/hook/config", "app")
def set_hook_config(call: Call) -> Reply:
    """Change where deliveries go, or their secret."""
    app = _app(call)
    app.hook_url = call.body.get("url", app.hook_url)
    app.webhook_secret = call.body.get("secret", app.webhook_secret)
    return get_hook_config(call)


def _item(delivery: Delivery) -> Known:
    return Known(
        id=delivery.id,
        guid=delivery.guid,
        delivered_at=iso(delivery.delivered_at),
        redelivery=delivery.redelivery,
        duration=delivery.duration,
        status=delivery.status,
        status_code=delivery.status_code,
        event=delivery.event,
        action=delivery.action,
        installation_id=delivery.installation_id,
        repository_id=delivery.repository_id,
        throttled_at=None,
    )


@route("GET", DELIVERIES, "app")
def list_deliveries(call: Call) -> Reply:
    """List deliveries, newest first, by cursor."""
    found = call.world.deliveries.listed(_app(call))
    if (wanted := call.query.get("status")) in ("success", "failure"):
        found = [d for d in found if (200 <= d.status_code < 400) == (wanted == "success")]  # noqa: PLR2004
    cursor = call.query.get("cursor", "")
    if cursor:
        before = int(cursor.removeprefix("v1_")) if cursor.removeprefix("v1_").isdecimal() else 0
        found = [d for d in found if d.id < before]
    text = call.query.get("per_page", "30")
    size = max(1, min(int(text), MOST_PER_PAGE)) if text.isdecimal() else 30
    if len(found) > size:
        call.links["next"] = f"{call.url}?per_page={size}&cursor=v1_{found[size - 1].id}"
    return Reply([_item(delivery) for delivery in found[:size]])


def _delivery(call: Call) -> Delivery:
    number = call.number("delivery_id")
    for delivery in call.world.deliveries.listed(_app(call)):
        if delivery.id == number:
            return delivery
    raise not_found()


@route("GET", f"{DELIVERIES}/{{delivery_id}}", "app")
def get_delivery(call: Call) -> Reply:
    """Show one delivery with its request and its answer."""
    found = _delivery(call)
    request = {"headers": dict(found.headers), "payload": json.loads(found.raw)}
    response = {"headers": found.response_headers, "payload": found.response_body or ""}
    whole = Known(_item(found), url=found.app.hook_url or "", request=request, response=response)
    return Reply(whole)


@route("POST", f"{DELIVERIES}/{{delivery_id}}/attempts", "app")
def redeliver(call: Call) -> Reply:
    """Send the same bytes with the same GUID once more."""
    call.world.deliveries.again(_delivery(call), call.world.new_id("delivery"))
    return Reply({}, 202)
