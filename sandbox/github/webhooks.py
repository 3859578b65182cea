"""The bodies of webhooks, built from GitHub's webhook schemas, and who gets them."""

import json
from functools import lru_cache
from typing import Any

from .core import Core
from .deliveries import Delivery, new_guid
from .lookup import node_id
from .model import Account, App, Installation, Repository
from .schema import Known, Schema, webhooks
from .views import accounts, repositories

OWNERS_ONLY = {("check_run", "requested_action"), ("check_run", "rerequested")}


@lru_cache
def schema_of(event: str, action: str | None) -> Schema:
    """Find the schema of an event's body."""
    name = "-".join([event, *([action] if action else [])]).replace("_", "-")
    operation = webhooks().document["webhooks"][name]["post"]
    found: Schema = operation["requestBody"]["content"]["application/json"]["schema"]
    return found


def body(
    world: Core, repo: Repository | None, sender: Account, event: str, action: str | None,
    members: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """Build one body; every member that is not GitHub's raises SchemaError."""
    whole: dict[str, Any] = {"sender": accounts.user(world, sender), **members}
    if action:
        whole["action"] = action
    if repo:
        owner = world.owner(repo)
        whole["repository"] = repositories.repository(world, repo)
        if owner.type == "Organization":
            whole["organization"] = accounts.organisation(world, owner)
    built: dict[str, Any] = webhooks().build(schema_of(event, action), whole, event)
    return built


def emit(
    world: Core, repo: Repository, sender: Account, event: str, action: str | None = None,
    *, owner_id: int | None = None, **members: Any,
) -> None:  # fmt: skip
    """Tell every App that is installed on the repository and subscribes to the event.

    `owner_id` is the App a check run belongs to: pressing its buttons concerns that App alone.
    """
    guid = new_guid()
    for installation in list(world.installations_on(repo)):
        app = world.state.apps[installation.app_id]
        if (event, action) in OWNERS_ONLY:
            wanted = app.id == owner_id
        else:
            wanted = event in installation.events
        if wanted:
            place = Known(id=installation.id, node_id=node_id("I", installation.id))
            whole = body(world, repo, sender, event, action, members | {"installation": place})
            _post(world, app, installation, repo, guid, event, action, whole)


def emit_installation(
    world: Core, installation: Installation, sender: Account, event: str, action: str,
    **members: Any,
) -> None:  # fmt: skip
    """Tell an App about its installation; such events come unasked."""
    app = world.state.apps[installation.app_id]
    shown = accounts.installation(world, installation)
    whole = body(world, None, sender, event, action, members | {"installation": shown})
    _post(world, app, installation, None, new_guid(), event, action, whole)


def ping(world: Core, app: App) -> None:
    """Say hello to an App's hook, as GitHub does when a hook is made."""
    made = app.created_at.strftime("%Y-%m-%dT%H:%M:%SZ")
    hook = Known(
        type="App", id=app.hook_id, name="web", active=True, events=app.events, app_id=app.id,
        config=Known(content_type="json", insecure_ssl="0", url=app.hook_url or world.url),
        created_at=made, updated_at=made,
        deliveries_url=f"{world.url}/app/hook/deliveries",
    )  # fmt: skip
    said = {"zen": "Non-blocking is better than blocking.", "hook_id": app.hook_id, "hook": hook}
    whole = webhooks().build(schema_of("ping", None), said, "ping")
    _post(world, app, None, None, new_guid(), "ping", None, whole)


def _post(
    world: Core, app: App, installation: Installation | None, repo: Repository | None,
    guid: str, event: str, action: str | None, payload: dict[str, Any],
) -> None:  # fmt: skip
    world.deliveries.post(
        Delivery(
            id=world.new_id("delivery"),
            guid=guid,
            event=event,
            action=action,
            app=app,
            installation_id=installation.id if installation else None,
            repository_id=repo.id if repo else None,
            payload=payload,
            raw=json.dumps(payload, separators=(",", ":")).encode(),
            delivered_at=world.clock.now(),
        )
    )
