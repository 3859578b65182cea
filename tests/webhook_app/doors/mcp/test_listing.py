"""What agents are told of tools before they call one."""

from typing import Any

import pytest

from proposals.tools import Tool, declared
from webhook_app.doors.mcp.listing import offered
from webhook_app.toolkits.mcp.listing import arguments

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
SERVER = {"name": "files", "version": "1"}


def tool(effect: str = "write", hints: dict[str, Any] | None = None, **declaration: Any) -> Tool:
    said = {"effect": effect, **declaration}
    made = declared({"fs": {"save": said}}, {"fs": "mcp"})[0]
    definition = {
        "name": "save",
        "description": "Save a file.",
        "inputSchema": SCHEMA,
        "outputSchema": {"type": "object", "properties": {"ok": {"type": "boolean"}}},
        "server": SERVER,
        **({"annotations": hints} if hints is not None else {}),
    }
    return made.with_schema(arguments(definition), published=definition)


def wire(made: Tool, *, calm: bool = False) -> dict[str, Any]:
    shown = offered(made, "fs__save", calm=calm)
    return shown.model_dump(by_alias=True, mode="json", exclude_none=True)


def test_a_read_is_shown_as_its_server_shows_it() -> None:
    shown = wire(tool("read", {"title": "Save", "openWorldHint": False}))
    assert shown["inputSchema"] == SCHEMA
    assert shown["outputSchema"]["properties"] == {"ok": {"type": "boolean"}}
    assert shown["description"] == "Save a file."
    assert shown["annotations"] == {"title": "Save", "readOnlyHint": True}


def test_a_gated_tool_returns_our_shape_and_takes_our_argument() -> None:
    shown = wire(tool())
    assert shown["outputSchema"]["properties"]["schema"] == {"const": "placet.call/v1"}
    assert set(shown["inputSchema"]["properties"]) == {"path", "placet"}
    assert shown["inputSchema"]["required"] == ["path"]
    assert set(shown["inputSchema"]["properties"]["placet"]["properties"]) == {
        "confirm_token", "key", "reason",
    }  # fmt: skip
    assert "calling it changes nothing" in shown["description"]
    assert shown["_meta"]["io.github.placet/gated"] is True
    assert "execution" not in shown


@pytest.mark.parametrize(
    ("made", "destructive"),
    [
        pytest.param(tool(), False, id="a-plain-write-only-asks"),
        pytest.param(tool(touches=["spend"], cost={"amount": 5, "unit": "EUR"}), True, id="spends"),
        pytest.param(tool(touches=["contact"]), True, id="contacts"),
        pytest.param(tool(touches=["start"]), True, id="starts"),
        pytest.param(tool(touches=["delete"]), True, id="deletes"),
        pytest.param(tool("destructive"), True, id="destructive"),
        pytest.param(tool(hints={"destructiveHint": True}), True, id="its-server-is-stricter"),
        pytest.param(
            tool(hints={"destructiveHint": False}, touches=["delete"]),
            True,
            id="its-server-cannot-loosen",
        ),
    ],
)
def test_the_mark_of_destruction(made: Tool, destructive: bool) -> None:  # noqa: FBT001
    hints = wire(made)["annotations"]
    assert (hints["destructiveHint"], hints["readOnlyHint"]) == (destructive, False)
    assert wire(made, calm=True)["annotations"]["destructiveHint"] is False


@pytest.mark.parametrize("hint", [{"readOnlyHint": False}, {"destructiveHint": True}])
def test_a_read_whose_server_warns_is_not_called_read_only(hint: dict[str, bool]) -> None:
    assert wire(tool("read", hint))["annotations"]["readOnlyHint"] is False


def test_flags_that_are_the_operators_are_not_offered() -> None:
    made = tool(forbid=["path"], preview={"set": {"path": "x"}}, apply={"set": {"path": "y"}})
    assert set(wire(made)["inputSchema"]["properties"]) == {"placet"}
    assert wire(made)["inputSchema"]["required"] == []


def test_hostile_hints_are_no_hints() -> None:
    made = tool(hints={"destructiveHint": "no", "readOnlyHint": {"a": 1}, "title": 5})
    assert wire(made)["annotations"]["readOnlyHint"] is False
