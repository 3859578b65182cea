"""What a tool changes things through: what that is, and how grave, belongs to what the tool is."""

from typing import Any

import pytest

from proposals.tools import BadArguments, BadDeclaration, Catalog, declared

KINDS = {"fs": "mcp", "far": "mcp", "api": "http"}
INNER = {"effect": "write", "method": "POST", "path": "/archive"}
DELETE = {"effect": "destructive", "touches": ["delete"], "method": "DELETE", "path": "/all"}
APPLY = {"apply": {"tool": "api.inner"}}
UNDO = {"undo": [{"tool": "api.inner"}]}
CHECKED = {"verify": [{"tool": "api.get", "exists": True}]}


def catalog(inner: dict[str, Any] | None = None, **fields: Any) -> Catalog:
    outer = {"effect": "write", "method": "POST", "path": "/none", **fields}
    read = {"effect": "read", "method": "GET", "path": "/"}
    tools = {"outer": outer, "inner": inner or INNER, "get": read}
    return Catalog.of(declared({"api": tools}, KINDS))


def identity(inner: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    return catalog(inner, **fields).find("api.outer").identity()


@pytest.mark.parametrize("how", [pytest.param(APPLY, id="apply"), pytest.param(UNDO, id="undo")])
@pytest.mark.parametrize(
    ("change", "drifts"),
    [
        pytest.param({"path": "/everything"}, True, id="another-request"),
        pytest.param({"key_argument": "k", "arguments": {"properties": {"k": {}}}}, True, id="arg"),
        pytest.param({"pre": [{"id": "x", "tool": "api.get"}]}, True, id="another-recipe"),
        pytest.param({"mode": "confirm"}, False, id="how-an-agent-gets-it"),
    ],
)
def test_another_called_tool_makes_another_tool(
    how: dict[str, Any], change: dict[str, Any], *, drifts: bool
) -> None:
    before, after = identity(**how), identity(INNER | change, **how)
    assert (before["definition"] != after["definition"]) is drifts


def test_a_tool_that_calls_no_other_is_what_it_was() -> None:
    own = {"undo": [{"tool": "api.outer"}]}
    for fields in ({}, own, CHECKED):
        alone = {"effect": "write", "method": "POST", "path": "/none", **fields}
        assert (
            identity(**fields)
            == declared({"api": {"outer": alone}}, KINDS)[0]
            .model_copy(update={"lacking": ""})
            .identity()
        )


def test_a_way_back_counts_with_the_third_tool_that_makes_it() -> None:
    def outer(path: str) -> str:
        tools = {
            "outer": {"effect": "write", "method": "POST", "path": "/none", **UNDO},
            "inner": INNER | {"apply": {"tool": "api.third"}},
            "third": {"effect": "write", "method": "POST", "path": path},
        }
        return Catalog.of(declared({"api": tools}, KINDS)).find("api.outer").definition

    assert outer("/a") != outer("/b")


def test_tools_that_take_each_other_back_are_settled_too() -> None:
    back = INNER | {"undo": [{"tool": "api.outer"}]}
    other = back | {"path": "/other"}
    assert identity(back, **UNDO) == identity(back, **UNDO)
    assert identity(back, **UNDO) != identity(other, **UNDO)


def test_what_a_called_tools_server_says_of_it_counts_from_then_on() -> None:
    tools = {
        "fs": {"outer": {"effect": "write", "apply": {"tool": "far.inner"}}},
        "far": {"inner": {"effect": "write"}},
    }
    made = Catalog.of(declared(tools, KINDS))
    made.publish(made.find("fs.outer").with_schema({}, published={"name": "outer"}))
    with pytest.raises(BadArguments, match=r"far\.inner is down") as caught:
        made.find("fs.outer").validate({})
    assert caught.value.code == "upstream_down"
    seen = set()
    for words in ("archive one", "delete all"):
        said = {"name": "inner", "description": words}
        made.publish(made.find("far.inner").with_schema({}, published=said))
        assert made.find("fs.outer").validate({}) == {}
        seen.add(made.find("fs.outer").definition)
    assert len(seen) == 2
    assert made.find("fs.outer").with_schema({}).through == made.find("fs.outer").through


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        pytest.param(APPLY, 'apply: "api.inner" is declared effect = "destructive"', id="apply"),
        pytest.param(
            APPLY | {"effect": "destructive"}, "touches delete", id="it-touches-what-is-not-said"
        ),
        pytest.param(
            APPLY | {"mode": "confirm"}, "destructive", id="confirmed-by-the-agent-itself"
        ),
        pytest.param(
            UNDO | CHECKED | {"mode": "announce"}, "undo: .*destructive", id="undone-by-a-button"
        ),
    ],
)
def test_a_tool_graver_than_the_one_that_calls_it_refuses_the_start(
    fields: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadDeclaration, match=words):
        catalog(DELETE, **fields)


def test_as_grave_as_what_it_calls_it_is_taken() -> None:
    grave = catalog(DELETE, **APPLY, effect="destructive", touches=["delete"])
    assert not grave.find("api.outer").lacking


def test_the_plan_of_an_undo_is_as_grave_as_the_way_back() -> None:
    tool = catalog(DELETE, **UNDO).find("api.outer")
    assert (tool.identity()["effect"], "touches" in tool.identity()) == ("write", False)
    back = tool.undo_identity()
    assert (back["effect"], back["touches"]) == ("destructive", ["delete"])


def test_what_an_undo_would_spend_is_said_by_the_tool() -> None:
    spends = INNER | {"touches": ["spend"], "cost": {"amount": 1, "unit": "EUR"}}
    with pytest.raises(BadDeclaration, match="touches spend"):
        catalog(spends, **UNDO)
