"""The ruleset that leaves Placet's branches to the App is one that GitHub describes."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from sandbox.github.schema import API_VERSIONS, api

ROOT = Path(__file__).parent.parent
RULESET: dict[str, Any] = json.loads((ROOT / "docs" / "reference" / "ruleset.json").read_text())
GIVEN_BY_GITHUB = {"id": 1, "source": "acme/approvals", "source_type": "Repository"}


@pytest.mark.parametrize("version", API_VERSIONS)
def test_the_shipped_ruleset_is_what_github_describes(version: str) -> None:
    document = api(version).document
    schema = {"$ref": "#/components/schemas/repository-ruleset"}
    whole = {**schema, "components": document["components"]}
    validator = jsonschema_rs.Draft4Validator(whole)
    problems = [error.message for error in validator.iter_errors(RULESET | GIVEN_BY_GITHUB)]
    assert not problems


def test_only_the_app_may_create_update_and_delete_below_placet() -> None:
    [app] = RULESET["bypass_actors"]
    assert (app["actor_type"], app["bypass_mode"]) == ("Integration", "always")
    assert RULESET["conditions"]["ref_name"] == {"include": ["refs/heads/placet/**"], "exclude": []}
    kinds = {rule["type"] for rule in RULESET["rules"]}
    assert kinds >= {"creation", "update", "deletion"}
    assert RULESET["enforcement"] == "active"


def test_the_install_page_says_how_to_use_it() -> None:
    page = (ROOT / "docs" / "install.md").read_text()
    assert "reference/ruleset.json" in page
    assert str(RULESET["bypass_actors"][0]["actor_id"]) in page
