"""Put the parts together in the order in which they need one another."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from importlib.metadata import version

import structlog
from fastapi import FastAPI
from starlette.routing import Route

from proposals.flow import Caps, Ports
from proposals.ports import Forge
from proposals.store import Store, StoreBusy, StoreStopped
from proposals.tools import BadDeclaration
from webhook_app.doors import http, pages, webhook
from webhook_app.doors.hall import Hall
from webhook_app.doors.mcp.entrance import PATH, Entrance
from webhook_app.doors.metrics import Metrics
from webhook_app.doors.operator import operators_app
from webhook_app.doors.problem import answer_problems
from webhook_app.doors.socket import listening, socket_path
from webhook_app.github import GitHubForge
from webhook_app.settings import Config, Settings, SettingsError
from webhook_app.worker import Worker

from .forge import GitHub, github
from .key import key_path, signing_key
from .memory import StoredMemory
from .missed import Missed
from .secret_keys import secrets_path, vault
from .stopping import Stop
from .toolbox import prove, toolbox

SWEEP = timedelta(minutes=1)
POLL = timedelta(seconds=5)
REFUSALS = (SettingsError, StoreBusy, StoreStopped, BadDeclaration, ValueError, OSError)
"""Why a server does not start, in a sentence for its operator."""

log = structlog.get_logger("placet")


def _utc() -> datetime:
    return datetime.now(UTC)


def create_app(
    config: Config,
    *,
    forge: Forge | None = None,
    now: Callable[[], datetime] = _utc,
    poll: bool = False,
) -> FastAPI:
    """Make the application; its lifespan opens the store and starts the worker.

    `forge` replaces GitHub as the settings describe it; `poll` asks GitHub's delivery log every
    few seconds, for a server that GitHub cannot reach. Starting raises SettingsError.
    """
    entrance = Entrance()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            try:
                app.state.hall, stop = await _hall(stack, config, forge, now, poll=poll)
                app.state.stop = stop.begin
                stack.push_async_callback(entrance.close)
                path = socket_path(config.settings.store)
                await stack.enter_async_context(listening(path, operators_app(app)))
            except REFUSALS as error:
                app.state.refusal = str(error)
                raise
            yield

    app = FastAPI(
        title="Placet", version=version("placet"), lifespan=lifespan, docs_url=None, redoc_url=None
    )
    app.router.routes.insert(0, webhook.ROUTE)
    for door in (http, pages):
        app.include_router(door.router)
    app.router.routes.append(Route(PATH, entrance))
    answer_problems(app)
    return app


async def _hall(
    stack: AsyncExitStack,
    config: Config,
    forge: Forge | None,
    now: Callable[[], datetime],
    *,
    poll: bool,
) -> tuple[Hall, Stop]:
    settings = config.settings
    store = Store(settings.store, settings.repeat_window)
    stack.callback(store.close)
    # The tools' processes start while the rest is put together.
    tools = asyncio.create_task(toolbox(stack, config))
    here = GitHub(forge) if forge else await stack.enter_async_context(github(settings, now))
    runner, catalog, upstreams = await tools
    prove(catalog, store.proofs())
    ports = Ports(
        store=store,
        forge=here.forge,
        runner=runner,
        catalog=catalog,
        signer=signing_key(key_path(settings.store)),
        now=now,
        repositories={name: r.id for name, r in settings.repository.items()},
        floors={effect: f.policy() for effect, f in settings.policy_floor.items()},
        machines=settings.machines,
        caps=Caps(settings.max_waiting, settings.max_cost),
        vault=vault(secrets_path(settings.store), needed=store.holds_secrets()),
    )
    if isinstance(here.forge, GitHubForge):
        here.forge.remember(StoredMemory(ports))
    worker, stop = _worker(stack, ports, settings, here, poll=poll)
    hall = Hall(
        settings=settings,
        ports=ports,
        worker=worker,
        metrics=Metrics(store.counts, here.brakes, upstreams.down),
        ready={
            "store": store.writable,
            "github": lambda: here.reachable,
            "worker": lambda: worker.ready,
        },
        bot=lambda: here.bot,
        brakes=here.brakes,
        upstreams=upstreams.down,
        listen=upstreams.listen,
        ask=upstreams.ask,
        tasks=stop.tasks,
    )
    return hall, stop


def _worker(
    stack: AsyncExitStack, ports: Ports, settings: Settings, here: GitHub, *, poll: bool
) -> tuple[Worker, Stop]:
    """Start the worker; it stops before anything that it uses, and so does what doors begin."""
    fetch = None
    if isinstance(here.forge, GitHubForge):
        missed = Missed(
            ports.store, here.forge.log, settings.app_id, settings.accounts,
            lambda: here.bot, ports.now,
        )  # fmt: skip
        fetch = here.watched(missed.fetch)
    worker = Worker(ports, settings.app_id, fetch, POLL if poll else SWEEP)
    worker.patience = settings.shutdown_wait
    stop = Stop(ports, asyncio.create_task(worker.run()), settings.shutdown_wait)
    stack.push_async_callback(stop.finish)
    return worker, stop
