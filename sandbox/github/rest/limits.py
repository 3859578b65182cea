"""The primary rate limit, which is counted but never reached here."""

from sandbox.github.core import Core
from sandbox.github.schema import Known

LIMIT = 5000


def limits(world: Core) -> Known:
    """Give the limit as GET /rate_limit shows it."""
    used = len(world.log.entries) % (LIMIT - 1000)
    reset = int(world.clock.now().timestamp()) + 3600
    return Known(limit=LIMIT, used=used, remaining=LIMIT - used, reset=reset)


def rate_headers(world: Core) -> dict[str, str]:
    """Give the limit as every answer's headers show it."""
    shown = {f"x-ratelimit-{name}": str(value) for name, value in limits(world).items()}
    return shown | {"x-ratelimit-resource": "core"}
