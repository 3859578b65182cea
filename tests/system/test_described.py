"""What /openapi.json describes is what is answered: schemathesis asks the real app and sandbox."""

from typing import Any

import httpx
import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from sandbox.testing import Town
from tests.system.conftest import Box
from webhook_app.doors import http

pytestmark = pytest.mark.anyio

CALLS = st.fixed_dictionaries(
    {
        "tool": st.sampled_from(["box.add", "box.look"]),
        "arguments": st.fixed_dictionaries({"n": st.integers(1, 3)}) | st.just({}),
    }
)
BAD = 400
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


def described() -> dict[str, Any]:
    """Our description, as the app serves it."""
    app = FastAPI()
    app.include_router(http.router)
    return app.openapi()


SCHEMA = schemathesis.openapi.from_dict(described())
CASES: st.SearchStrategy[Any] = st.one_of(
    *(
        found.ok().as_strategy(generation_mode=mode)
        for found in SCHEMA.get_all_operations()
        if isinstance(found, Ok)
        for mode in GenerationMode  # what fits the description, and what does not
    )
)


async def asked(here: Town, case: Case[Any]) -> tuple[httpx.Response, dict[str, Any]]:
    """Send it as the agent; all else that it says is schemathesis' choice."""
    sent = case.as_transport_kwargs(base_url="http://placet")
    headers = {**sent["headers"], "Authorization": f"Bearer {here.token}"}
    async with here.http() as agent:
        reply = await agent.request(
            sent["method"],
            sent["url"],
            params=sent.get("params"),
            headers=headers,
            content=sent.get("data"),
            json=sent.get("json"),
        )
    return reply, headers


@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(case=CASES, which=st.integers(0, 9), sound=CALLS)
async def test_every_answer_is_as_described_and_a_refusal_leaves_nothing(
    here: Town, box: Box, case: Case[Any], which: int, sound: dict[str, Any]
) -> None:
    if not here.store.proposals(limit=1):
        await here.propose("box.add", {"n": 9})
    known = [p.id for p in here.store.proposals(limit=9)]
    if which and "proposal" in case.path_parameters:
        case.path_parameters["proposal"] = known[which % len(known)]
    if which and case.operation.label in ("POST /v1/proposals", "POST /v1/calls"):
        case.body = sound
    before = len(here.store.proposals(limit=999))
    reply, headers = await asked(here, case)
    case.validate_response(reply, checks=CHECKS, headers=headers)
    assert len(here.store.proposals(limit=999)) <= before + (reply.status_code < BAD)
    assert box.runs == 0


def test_nothing_of_the_description_is_left_out() -> None:
    labels = {found.ok().label for found in SCHEMA.get_all_operations() if isinstance(found, Ok)}
    paths = described()["paths"]
    assert labels == {f"{way.upper()} {path}" for path, ways in paths.items() for way in ways}


async def test_what_is_asked_is_what_the_app_describes(here: Town) -> None:
    async with here.http() as agent:
        served = (await agent.get("/openapi.json")).json()
    assert served["paths"] == described()["paths"]
