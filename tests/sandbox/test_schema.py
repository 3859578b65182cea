from typing import Any

import pytest

from sandbox.github.schema import API_VERSIONS, Known, SchemaError, api, webhooks
from tests.judge import Judge

FULL = {"$ref": "#/components/schemas/pull-request-merge-result"}


@pytest.mark.parametrize("version", API_VERSIONS)
def test_every_object_of_the_api_can_be_built_from_nothing(version: str, judge: Judge) -> None:
    described = api(version)
    for name, schema in described.document["components"]["schemas"].items():
        built = described.build(schema)
        assert not judge.versions[version].complaints(f"schema {name}", schema, built), name


def test_every_webhook_can_be_built_from_nothing(judge: Judge) -> None:
    for name, item in webhooks().document["webhooks"].items():
        schema = item["post"]["requestBody"]["content"]["application/json"]["schema"]
        body = webhooks().build(schema, Known())
        assert not judge.webhooks.complaints(name, schema, body), name


def test_a_misspelt_member_is_an_error() -> None:
    with pytest.raises(SchemaError, match="megred"):
        api("2026-03-10").build(FULL, {"sha": "a", "megred": True, "message": ""})


def test_a_misspelt_member_is_an_error_at_any_depth() -> None:
    wanted = Known(object={"type": "commit", "sah": "a"})
    with pytest.raises(SchemaError, match="sah"):
        api("2026-03-10").build({"$ref": "#/components/schemas/git-ref"}, wanted)


def test_what_is_known_gives_each_version_the_members_it_has() -> None:
    known = Known(number=7, merge_commit_sha="a" * 40)
    schema = {"$ref": "#/components/schemas/pull-request"}
    assert api("2022-11-28").build(schema, known)["merge_commit_sha"] == "a" * 40
    assert "merge_commit_sha" not in api("2026-03-10").build(schema, known)


def test_null_is_refused_where_the_description_wants_a_value() -> None:
    with pytest.raises(SchemaError, match="sha may not be null"):
        api("2026-03-10").build(FULL, {"sha": None, "merged": True, "message": ""})


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        pytest.param({"ref": "refs/heads/a"}, "sha", id="missing-member"),
        pytest.param({"ref": 1, "sha": "a"}, "ref", id="number-for-a-string"),
        pytest.param([], "object", id="list-for-an-object"),
        pytest.param({"ref": "a", "sha": True}, "sha", id="true-for-a-string"),
    ],
)
def test_a_request_that_breaks_the_description_is_named(body: Any, wrong: str) -> None:
    described = api("2026-03-10")
    item = described.document["paths"]["/repos/{owner}/{repo}/git/refs"]["post"]
    schema = item["requestBody"]["content"]["application/json"]["schema"]
    assert wrong in " ".join(described.misfits(schema, body))
