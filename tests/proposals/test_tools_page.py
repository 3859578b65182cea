"""The page about declaring tools: its examples are read, and it leaves no key of a recipe out."""

import re
import tomllib
from pathlib import Path

from proposals.tools import declared
from proposals.tools.recipe import Recipe

PAGE = (Path(__file__).parents[2] / "docs" / "tools.md").read_text()


def test_every_example_is_a_declaration_that_lacks_nothing() -> None:
    examples = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    for text in examples:
        tools = declared(tomllib.loads(text)["tool"], {"fs": "mcp", "api": "http"})
        assert [tool.lacking for tool in tools if tool.lacking] == []
    assert len(examples) == 2


def test_every_key_of_a_recipe_is_explained() -> None:
    explained = set(re.findall(r"^\| (.*?) \|", PAGE, re.MULTILINE))
    named = {key for row in explained for key in re.findall(r"`(\w+)`", row)}
    assert set(Recipe.model_fields) <= named
