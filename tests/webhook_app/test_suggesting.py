"""A start for placet.toml: guesses are strict, nothing is in force, and no server breaks out."""

import asyncio
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.mcp_servers.offered import calendar, calls, hostile
from tests.running import SERVER, written
from webhook_app.cli.program import program
from webhook_app.settings import Upstream, load
from webhook_app.settings.toml import table
from webhook_app.toolkits.mcp import McpUpstreams
from webhook_app.toolkits.mcp.listing import Listing, listing
from webhook_app.toolkits.suggesting import confirmed, guess, starter

pytestmark = pytest.mark.anyio
FLAG = {"type": "boolean", "default": True}
REPOSITORY = "[repository.default]\nid = 99\n"


def tool(name: str, description: str = "", hints: Any = None, **properties: Any) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "annotations": hints or {},
        "inputSchema": {"type": "object", "properties": properties},
    }


def suggested(*words: str) -> str:
    result = CliRunner().invoke(program, ["tools", "suggest", *words])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize(
    ("definition", "effect", "touches"),
    [
        pytest.param(tool("read_file"), "read", (), id="a-reading-name"),
        pytest.param(tool("listOrders"), "read", (), id="camel-case"),
        pytest.param(tool("get_message"), "read", (), id="a-message-that-is-got-is-not-sent"),
        pytest.param(tool("frobnicate"), "write", (), id="a-name-that-says-nothing"),
        pytest.param(
            tool("frobnicate", hints={"readOnlyHint": True}), "write", (), id="a-hint-alone"
        ),
        pytest.param(
            tool("get-env", hints={"readOnlyHint": True}), "write", (), id="get-env-is-no-read"
        ),
        pytest.param(
            tool("get_x", hints={"readOnlyHint": False}), "write", (), id="a-hint-that-tightens"
        ),
        pytest.param(tool("get_x", "Delete x."), "write", ("delete",), id="its-own-words-tighten"),
        pytest.param(tool("find_and_delete"), "destructive", ("delete",), id="deletes-after-all"),
        pytest.param(tool("query", sql={}), "destructive", ("start", "delete"), id="any-sql"),
        pytest.param(tool("send_message"), "write", ("contact",), id="a-message-that-is-sent"),
        pytest.param(tool("create_x", attendees={}), "write", ("contact",), id="attendees"),
        pytest.param(tool("run_job"), "write", ("start",), id="starts-something"),
        pytest.param(tool("refund", amount={}), "write", ("spend",), id="spends"),
        pytest.param(
            tool("create_directory", hints={"destructiveHint": False}),
            "write",
            (),
            id="a-harmless-hint-changes-nothing",
        ),
        pytest.param(
            tool("move", hints={"destructiveHint": True}), "write", ("delete",), id="destructive"
        ),
    ],
)
def test_a_guess(definition: Mapping[str, Any], effect: str, touches: tuple[str, ...]) -> None:
    found = guess(definition)
    assert (found.effect, found.touches) == (effect, touches), found.why


@pytest.mark.parametrize(
    ("flag", "shown"),
    [
        pytest.param("dryRun", True, id="dryRun"),
        pytest.param("dry_run", True, id="dry_run"),
        pytest.param("preview", True, id="preview"),
        pytest.param("confirm", False, id="confirm"),
        pytest.param("push_to_intervals", False, id="push_to"),
    ],
)
def test_a_preview_flag_is_found(flag: str, shown: bool) -> None:  # noqa: FBT001
    fields = guess(tool("push_workout", **{flag: FLAG})).fields()
    assert fields["forbid"] == [flag]
    assert fields["preview"] == {"set": {flag: shown}}
    assert fields["apply"] == {"set": {flag: not shown}}


def test_a_flag_that_cannot_be_turned_is_none() -> None:
    assert guess(tool("push", confirm={"type": "string"})).flags == ()


def test_a_read_with_a_flag_stays_a_read() -> None:
    assert guess(tool("list_x", preview=FLAG)).fields() == {"effect": "read"}


@given(
    name=st.text(),
    description=st.text(),
    hints=st.dictionaries(st.sampled_from(["readOnlyHint", "destructiveHint"]), st.booleans()),
    properties=st.dictionaries(st.text(), st.just({"type": "boolean"}), max_size=3),
)
def test_a_server_s_own_words_never_make_a_guess_milder(
    name: str, description: str, hints: dict[str, bool], properties: dict[str, Any]
) -> None:
    bare = guess(tool(name, **properties))
    said = guess(tool(name, description, hints, **properties))
    order = ["read", "write", "destructive"]
    assert order.index(said.effect) >= order.index(bare.effect)
    assert {*said.touches} >= {*bare.touches}


EVIL = st.text(st.sampled_from([*"\n\r\t\"'#[]=\\{}\x00\x7f\x85\u2028\u202ea🙂", "\ud7ff"]))


@given(
    description=EVIL,
    flags=st.lists(EVIL.map(lambda evil: f"dry{evil}run"), max_size=3),
    name=EVIL,
    argument=EVIL.filter(lambda text: text and "\0" not in text),
)
def test_nothing_that_a_server_says_leaves_its_place(
    description: str, flags: list[str], name: str, argument: str
) -> None:
    definition = tool("push_x", description, **{key: {"type": "boolean"} for key in flags})
    told = listing([definition, {"name": name}], {"name": name, "version": "1"})
    upstream = Upstream(command=("node", argument))
    text = starter("up", upstream, told)
    assert tomllib.loads(text) == {"upstream": {"up": {"command": ["node", argument]}}}
    tools = tomllib.loads(confirmed(text)).get("tool", {}).get("up", {})
    assert [*tools] == [*told.tools]
    assert all(entry["effect"] == "write" for entry in tools.values())
    for line in text.splitlines():
        assert line.isprintable() or not line


@given(st.dictionaries(st.text(), st.text() | st.booleans() | st.integers(-9, 9) | st.floats(0, 1)))
def test_what_is_written_as_toml_reads_back_the_same(fields: dict[str, Any]) -> None:
    clean = {k: v for k, v in fields.items() if _unicode(k) and _unicode(v)}
    assert tomllib.loads("\n".join(table(["a", 'b"]'], clean))) == {"a": {'b"]': clean}}


def _unicode(value: object) -> bool:
    return not isinstance(value, str) or not re.search("[\ud800-\udfff]", value)


def test_a_name_that_would_be_too_long_is_said_to_be() -> None:
    told = listing([tool("x" * 62)], {})
    text = starter("up", Upstream(command=("node",)), told)
    assert "cannot be declared" in text
    assert confirmed(text) == text


@pytest.mark.parametrize("which", ["calendar", "filesystem"])
async def test_a_confirmed_start_loads_and_every_tool_can_be_called(
    which: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (tmp_path / "files").mkdir()
    if which == "filesystem":
        node, server = request.getfixturevalue("filesystem_server")
        command: tuple[str, ...] = (node, server, str(tmp_path / "files"))
    else:
        command = calendar(tmp_path / "files")
    text = await _in_thread("--name", "up", "--", *command)
    config = written(tmp_path)
    config.write_text(SERVER + REPOSITORY + text)
    assert load(config).tools.list() == []
    config.write_text(SERVER + REPOSITORY + confirmed(text))
    loaded = load(config)
    upstreams = McpUpstreams(loaded.settings.upstream, tmp_path, os.environ)
    try:
        await upstreams.start(loaded.tools)
        found = loaded.tools.list()
        assert [t.name for t in found if not t.published] == []
        assert len(found) == len(upstreams.listing("up").tools) >= 11
    finally:
        await upstreams.close()
    assert calls(tmp_path / "files") == []


async def test_the_flag_of_the_filesystem_server_is_found(
    tmp_path: Path, filesystem_server: tuple[str, str]
) -> None:
    text = confirmed(await _in_thread("--", *filesystem_server, str(tmp_path)))
    [tools] = tomllib.loads(text)["tool"].values()
    edit = tools["edit_file"]
    assert (edit["preview"]["set"], edit["apply"]["set"]) == ({"dryRun": True}, {"dryRun": False})
    reads = {name for name, fields in tools.items() if fields["effect"] == "read"}
    assert {"read_text_file", "list_directory", "directory_tree", "get_file_info"} <= reads
    assert reads & {"write_file", "edit_file", "create_directory", "move_file"} == set()


async def test_a_server_at_an_address_is_asked_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAL_TOKEN", "Bearer s3cret")
    process = await asyncio.create_subprocess_exec(
        *calendar(tmp_path, http=True), stdout=asyncio.subprocess.PIPE, env={"TOKEN": "s3cret"}
    )
    assert process.stdout is not None
    try:
        url = f"http://127.0.0.1:{int(await process.stdout.readline())}/mcp"
        text = await _in_thread("--header", "Authorization=CAL_TOKEN", url)
    finally:
        process.kill()
        await process.wait()
    made = tomllib.loads(confirmed(text))
    assert made["upstream"]["calendar"] == {
        "url": url,
        "headers_env": {"Authorization": "CAL_TOKEN"},
    }
    assert made["tool"]["calendar"]["create_event"]["effect"] == "write"
    assert "s3cret" not in text
    assert calls(tmp_path) == []


async def test_tools_that_cannot_be_used_are_named_with_the_reason() -> None:
    text = await _in_thread("--", *hostile())
    assert "## twice cannot be used: the server lists two tools of this name." in text
    assert [*tomllib.loads(confirmed(text))["tool"]["hostile"]] == ["good"]


def test_a_file_is_never_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "start.toml"
    words = ["tools", "suggest", "--out", str(out), "--", *calendar(tmp_path)]
    assert CliRunner().invoke(program, words).exit_code == 0
    first = out.read_text()
    again = CliRunner().invoke(program, words)
    assert (again.exit_code, out.read_text()) == (1, first)
    assert "not overwritten" in again.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["--", "no-such-program-here"], "did not say what tools", id="no-program"),
        pytest.param(["--name", "a b", "--", *hostile()], "--name a b", id="bad-name"),
        pytest.param(["ftp://x"], "did not say what tools", id="no-address-is-a-command"),
        pytest.param(["--env", "NOT_SET_HERE", "--", "node"], "NOT_SET_HERE", id="no-variable"),
        pytest.param(["--header", "A=B", "--", "node"], "headers_env belongs", id="no-headers"),
    ],
)
def test_what_cannot_be_listed_is_said_in_one_sentence(words: list[str], said: str) -> None:
    result = CliRunner().invoke(program, ["tools", "suggest", *words])
    assert result.exit_code == 1
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_an_empty_listing_declares_nothing() -> None:
    text = starter("up", Upstream(url="https://x.example/mcp"), Listing())
    assert tomllib.loads(text) == {"upstream": {"up": {"url": "https://x.example/mcp"}}}


async def _in_thread(*words: str) -> str:
    """As from a shell: the command runs an event loop of its own."""
    return await asyncio.to_thread(suggested, *words)
