"""The small pages for whoever runs the server: alive, ready, metrics."""

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from .hall import Here

router = APIRouter()


@router.get("/healthz", include_in_schema=False)
def healthz() -> JSONResponse:
    """Say that the process answers."""
    return JSONResponse({"status": "ok"})


@router.get("/readyz", include_in_schema=False)
def readyz(here: Here) -> JSONResponse:
    """Say whether approvals can be taken and carried out; 503 names what cannot.

    An upstream that is down is shown and counts for nothing here: it stops its own tools alone.
    """
    checks = {name: check() for name, check in here.ready.items()}
    ready = all(checks.values())
    upstreams = {name: not why for name, why in here.upstreams().items()}
    status = "ready" if ready else "not ready"
    content = {"status": status, "checks": checks, "upstreams": upstreams}
    return JSONResponse(content, status_code=200 if ready else 503)


@router.get("/metrics", include_in_schema=False)
def metrics(here: Here) -> Response:
    """Counters and gauges in Prometheus' text format."""
    return Response(here.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
