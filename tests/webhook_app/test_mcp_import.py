"""Clients' files moved behind the gate: secrets to one place, one entry left, nothing by half."""

import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from tests.running import SERVER, written
from webhook_app.cli.program import program
from webhook_app.mcp_clients import CLIENTS, read, snippet, ungated
from webhook_app.mcp_clients.jsonc import loads
from webhook_app.mcp_clients.secrets import HIDDEN, masked, secret_in
from webhook_app.mcp_clients.snippets import entry
from webhook_app.mcp_clients.tables import without_tables
from webhook_app.settings import Settings, load
from webhook_app.settings.toml import table
from webhook_app.toolkits.mcp import McpUpstreams

ROOT = Path(__file__).parents[2]
SECRET = "hunter2-is-no-token"
BEARER = "Bearer s3cret-of-the-calendar"
URL = "https://placet.acme.example"
CLAUDE = {
    "mcpServers": {
        "fs": {"command": "node", "args": ["fs.js", "/srv/docs"], "env": {"KEY": SECRET}},
        "cal": {"type": "http", "url": "https://cal.example/mcp", "headers": {"X-Auth": BEARER}},
    },
    "theme": "dark",
}
VSCODE = """\
{
\t// what we use
\t"servers": {
\t\t"fs": {"command": "node", "args": ["${workspaceFolder}/fs.js"], "env": {"KEY": "${input:k}"}},
\t},
\t"inputs": [{"type": "promptString", "id": "k", "password": true}],
}
"""
CODEX = f"""\
# mine
model = "gpt-5.2"

[mcp_servers.fs]
command = "node"
args = ["fs.js"]
env_vars = ["HOME_OF_IT"]

[mcp_servers.fs.env]
KEY = "{SECRET}"

[mcp_servers.cal] # the calendar
url = "https://cal.example/mcp"
bearer_token_env_var = "CAL"

[tools]
web_search = false
"""


class Desk:
    """A folder with a client's file and the command line beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.toml = folder / "placet.toml"
        self.env = folder / "placet.env"

    def client(self, text: str, name: str = ".mcp.json") -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    def run(self, path: Path, *words: str) -> Result:
        said = ["mcp", "import", str(path), "--config", str(self.toml), "--url", URL]
        return CliRunner().invoke(program, [*said, *words])

    def upstreams(self) -> Any:
        return tomllib.loads(self.toml.read_text())["upstream"]

    def files(self) -> dict[str, str]:
        return {p.name: p.read_text() for p in self.folder.rglob("*") if p.is_file()}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_without_write_nothing_is_written(desk: Desk) -> None:
    path = desk.client(json.dumps(CLAUDE))
    before = desk.files()
    shown = desk.run(path)
    assert shown.exit_code == 0, shown.output
    assert "Run it again with --write." in shown.stdout
    assert desk.files() == before


def test_the_servers_move_and_one_entry_is_left(desk: Desk) -> None:
    path = desk.client(json.dumps(CLAUDE, indent=4))
    path.chmod(0o640)
    done = desk.run(path, "--write")
    assert done.exit_code == 0, done.output
    said = json.loads(path.read_text())
    assert [*said["mcpServers"]] == ["placet"]
    assert said["theme"] == "dark"
    assert said["mcpServers"]["placet"]["env"]["PLACET_URL"] == URL
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert desk.upstreams() == {
        "fs": {"command": ["node", "fs.js", "/srv/docs"], "env": {"KEY": "env:UPSTREAM_FS_KEY"}},
        "cal": {
            "url": "https://cal.example/mcp",
            "headers_env": {"X-Auth": "UPSTREAM_CAL_X_AUTH"},
        },
    }
    assert desk.env.read_text().splitlines() == [
        f"UPSTREAM_FS_KEY={SECRET}",
        f"UPSTREAM_CAL_X_AUTH={BEARER}",
    ]
    assert stat.S_IMODE(desk.env.stat().st_mode) == 0o600


@pytest.mark.parametrize("more", [[], ["--write"], ["--json"], ["--write", "--json"]])
@pytest.mark.parametrize(
    ("name", "text"),
    [(".mcp.json", json.dumps(CLAUDE)), ("config.toml", CODEX), ("mcp.json", VSCODE)],
)
def test_a_secret_is_neither_shown_nor_in_the_configuration(
    desk: Desk, name: str, text: str, more: list[str]
) -> None:
    done = desk.run(desk.client(text, name), *more)
    held = {file for file, said in desk.files().items() if SECRET in said or BEARER in said}
    assert SECRET not in done.output
    assert BEARER not in done.output
    assert held <= {name, "placet.env", f"{name}.before-placet-1"}
    if "--write" in more:
        assert name not in held


def test_the_copy_is_the_old_file_for_its_owner_alone(desk: Desk) -> None:
    path = desk.client(json.dumps(CLAUDE))
    before = path.read_text()
    desk.run(path, "--write")
    copy = path.with_name(f"{path.name}.before-placet-1")
    assert copy.read_text() == before
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600


def test_a_second_time_changes_nothing(desk: Desk) -> None:
    path = desk.client(json.dumps(CLAUDE))
    desk.run(path, "--write")
    before = desk.files()
    again = desk.run(path, "--write")
    assert (again.exit_code, again.stdout) == (0, "Nothing to move.\n")
    assert desk.files() == before


def test_a_file_put_back_moves_again_without_doubling_anything(desk: Desk) -> None:
    path = desk.client(json.dumps(CLAUDE))
    desk.run(path, "--write")
    toml, env = desk.toml.read_text(), desk.env.read_text()
    path.write_text(json.dumps(CLAUDE))
    assert desk.run(path, "--write").exit_code == 0
    assert (desk.toml.read_text(), desk.env.read_text()) == (toml, env)
    assert [*json.loads(path.read_text())["mcpServers"]] == ["placet"]


def test_what_moved_can_be_run_by_placet(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    written(tmp_path)
    desk.toml.write_text(SERVER)
    desk.run(desk.client(json.dumps(CLAUDE)), "--write")
    loaded = load(desk.toml)
    pairs = [line.partition("=") for line in desk.env.read_text().splitlines()]
    env = {name: value for name, _, value in pairs}
    McpUpstreams(loaded.settings.upstream, tmp_path, env)
    assert loaded.settings.upstream["fs"].command == ("node", "fs.js", "/srv/docs")


def test_codex_keeps_every_other_line(desk: Desk) -> None:
    path = desk.client(CODEX, "config.toml")
    done = desk.run(path, "--write")
    assert done.exit_code == 0, done.output
    text = path.read_text()
    assert text.startswith('# mine\nmodel = "gpt-5.2"\n\n[tools]\nweb_search = false\n')
    said = tomllib.loads(text)["mcp_servers"]
    assert [*said] == ["placet"]
    assert said["placet"]["env_vars"] == ["PLACET_TOKEN"]
    assert desk.upstreams()["fs"]["env"] == {
        "KEY": "env:UPSTREAM_FS_KEY",
        "HOME_OF_IT": "env:HOME_OF_IT",
    }
    assert desk.upstreams()["cal"]["headers_env"] == {"Authorization": "UPSTREAM_CAL_AUTHORIZATION"}
    assert "# UPSTREAM_CAL_AUTHORIZATION=  (`Bearer ` and the value of CAL)" in desk.env.read_text()
    assert "FILL IN UPSTREAM_CAL_AUTHORIZATION" in done.stdout


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('mcp_servers = {fs = {command = "node"}}\n', id="one-line"),
        pytest.param('[mcp_servers]\nfs.command = "node"\n', id="dotted"),
        pytest.param(
            '[mcp_servers.fs]\ncommand = "node"\n[[x]]\na = """\n[mcp_servers.fs]\n"""\n',
            id="a-text-like-a-table",
        ),
    ],
)  # fmt: skip
def test_codex_in_a_way_that_cannot_be_taken_apart_is_left_alone(desk: Desk, text: str) -> None:
    path = desk.client(text, "config.toml")
    done = desk.run(path, "--write")
    assert done.exit_code == 1
    assert "cannot be taken apart" in done.stderr
    assert desk.files() == {"config.toml": text}


def test_vscode_asks_a_person_for_the_token_and_no_more_for_the_old_secret(desk: Desk) -> None:
    path = desk.client(VSCODE, ".vscode/mcp.json")
    done = desk.run(path, "--write")
    assert done.exit_code == 0, done.output
    said = json.loads(path.read_text())
    assert [i["id"] for i in said["inputs"]] == ["placet-token"]
    assert said["servers"]["placet"]["env"]["PLACET_TOKEN"] == "${input:placet-token}"
    assert desk.upstreams()["fs"]["command"] == ["node", f"{desk.folder}/fs.js"]
    assert "\t" in path.read_text()
    assert "Comments in the client's file are lost" in done.stdout
    assert "FILL IN UPSTREAM_FS_KEY" in done.stdout


def test_the_projects_of_claude_code_are_moved_too(desk: Desk) -> None:
    home = {"projects": {"/a": {"mcpServers": {"fs": {"command": "node"}}, "x": 1}}, "big": 10**20}
    path = desk.client(json.dumps(home), ".claude.json")
    assert desk.run(path, "--write").exit_code == 0
    said = json.loads(path.read_text())
    assert said["projects"] == {"/a": {"mcpServers": {}, "x": 1}}
    assert [*said["mcpServers"]] == ["placet"]
    assert said["big"] == 10**20


@pytest.mark.parametrize(
    ("server", "why"),
    [
        pytest.param({"command": "x", "args": ["--api-key", "abc"]}, "argument 2", id="flag"),
        pytest.param({"command": "x", "args": ["--token=abc"]}, "argument 1", id="flag-with-value"),
        pytest.param({"command": "x", "args": ["-e", "API_KEY=abc"]}, "argument 2", id="docker"),
        pytest.param({"command": "x", "args": ["pg://a:b@h/d"]}, "argument 1", id="login"),
        pytest.param({"command": "x", "args": ["Authorization: Basic x"]}, "argument 1", id="head"),
        pytest.param({"command": "x", "args": ["kJ8sdfH2ksd9fKJh2sdf8QWe"]}, "argument", id="key"),
        pytest.param({"command": "x", "args": ["${HOME}/x"]}, "a variable of", id="variable"),
        pytest.param({"command": "x", "env": {"A": "a\nb"}}, "more than one line", id="lines"),
        pytest.param({"command": "x", "env": {"A": 1}}, "no text", id="number"),
        pytest.param({"command": "x", "env": {"A": "1", "a": "2"}}, "both be", id="one-name"),
        pytest.param({"command": "x", "cwd": "/srv"}, '"cwd"', id="folder"),
        pytest.param({"command": "x", "disabled": True}, "switched off", id="off"),
        pytest.param({"type": "sse", "url": "https://x/sse"}, "Streamable HTTP", id="sse"),
        pytest.param({"url": "https://x/mcp?key=abc"}, "like a secret", id="query"),
        pytest.param({"url": "https://x/kJ8sdfH2ksd9fKJh2sdf8QWe"}, "like a secret", id="path"),
        pytest.param({"url": "${BASE}/mcp"}, "cannot be an upstream", id="address"),
        pytest.param({"command": ""}, "no command", id="empty"),
        pytest.param({}, "no command", id="nothing"),
    ],
)  # fmt: skip
def test_what_cannot_move_stays_and_says_why(desk: Desk, server: dict[str, Any], why: str) -> None:
    path = desk.client(json.dumps({"mcpServers": {"odd": server, "fs": {"command": "node"}}}))
    done = desk.run(path, "--write")
    assert done.exit_code == 1
    line = next(ln for ln in done.stdout.splitlines() if ln.startswith("STAYS, ungated: odd: "))
    assert why in line
    said = json.loads(path.read_text())["mcpServers"]
    assert said["odd"] == server
    assert [*said] == ["odd", "placet"]
    for word in ("abc", "a:b@h", "kJ8sdfH2"):
        assert word not in done.output


@pytest.mark.parametrize(
    "args",
    [
        ["-y", "@modelcontextprotocol/server-filesystem@2026.8.31", "/srv/docs"],
        ["/opt/somebody/projects/a-rather-long-name/dist/index.js", "--port", "8080"],
        ["--directory", "/opt/servers", "run", "server.py"],
        ["mcp-remote", "https://cal.example.com/a/rather/long/path/to/mcp"],
    ],
)
def test_a_plain_command_line_is_no_secret(args: list[str]) -> None:
    assert secret_in(args) is None


def test_a_server_that_is_declared_otherwise_is_not_overwritten(desk: Desk) -> None:
    desk.toml.write_text('[upstream.fs]\ncommand = ["other"]\n')
    path = desk.client(json.dumps({"mcpServers": {"fs": {"command": "node"}}}))
    done = desk.run(path, "--write")
    assert "[upstream.fs] is declared otherwise already" in done.stdout
    assert desk.upstreams() == {"fs": {"command": ["other"]}}
    assert [*json.loads(path.read_text())["mcpServers"]] == ["fs"]


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        pytest.param("UPSTREAM_FS_KEY=another\n", "has another value", id="another-value"),
        pytest.param(None, "chmod 600", id="others-can-read-it"),
    ],
)
def test_a_file_of_variables_that_cannot_take_it_stops_everything(
    desk: Desk, prepare: str | None, said: str
) -> None:
    desk.env.write_text(prepare or "")
    desk.env.chmod(0o600 if prepare else 0o644)
    path = desk.client(json.dumps(CLAUDE))
    before = desk.files()
    done = desk.run(path, "--write")
    assert done.exit_code == 1
    assert said in done.stderr
    assert desk.files() == before


def test_a_file_of_variables_that_is_a_link_is_not_followed(desk: Desk) -> None:
    (desk.folder / "elsewhere").touch(0o600)
    desk.env.symlink_to(desk.folder / "elsewhere")
    done = desk.run(desk.client(json.dumps(CLAUDE)), "--write")
    assert done.exit_code == 1
    assert (desk.folder / "elsewhere").read_text() == ""


def test_a_client_s_file_behind_a_link_stays_behind_it(desk: Desk) -> None:
    (desk.folder / "dotfiles").mkdir()
    real = desk.client(json.dumps(CLAUDE), "dotfiles/real.json")
    link = desk.folder / ".mcp.json"
    link.symlink_to(real)
    assert desk.run(link, "--write").exit_code == 0
    assert link.is_symlink()
    assert [*json.loads(real.read_text())["mcpServers"]] == ["placet"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"a": 1}', '{"mcpServers": {}, "mcpServers": {}}', "[" * 100_000]
)
def test_a_file_that_is_none_is_one_sentence(desk: Desk, text: str) -> None:
    done = desk.run(desk.client(text))
    assert done.exit_code == 1
    assert len(done.stderr.splitlines()) == 1


@given(st.text(), st.text())
def test_what_is_masked_shows_no_value(key: str, value: str) -> None:
    shown = masked({"env": {key: value}, "url": value, "x": value})
    held = shown["env"][key]
    assert held == HIDDEN or key == "PLACET_URL" or held.startswith("${")
    assert (shown["url"], shown["x"]) == (HIDDEN, HIDDEN)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_json_reads_the_same_with_comments_and_commas_allowed(value: Any) -> None:
    assert loads(json.dumps(value)) == value
    assert loads(json.dumps(value, ensure_ascii=False, indent=1)) == value


def test_comments_and_last_commas_are_read_over() -> None:
    text = '{"a": [1, 2, ], // x\n "b": "// no, /* none */,]", /* y */ }'
    assert loads(text) == {"a": [1, 2], "b": "// no, /* none */,]"}


def test_only_the_named_tables_go() -> None:
    text = "[s.a]\nx = 1\n[s.b]\ny = 1\n[s.a.env]\nz = 1\n[['s'.\"a\"]]\nq = 1\n[t]\n"
    assert without_tables(text, "s", {"a"}) == "[s.b]\ny = 1\n[t]\n"


@pytest.mark.parametrize("client", CLIENTS)
def test_a_snippet_is_a_file_with_nothing_ungated(client: Any, tmp_path: Path) -> None:
    place, text = snippet(client, URL)[0]
    path = tmp_path / os.path.basename(place)  # noqa: PTH119 (a name, not a path of this machine)
    path.write_text(text)
    document = read(path)
    assert document.client == client
    assert ungated(document, URL) == []
    assert [one.bridge for one in document.originals()] == [True]
    printed = CliRunner().invoke(program, ["mcp", "snippet", client, "--url", URL]).stdout
    assert text in printed


@pytest.mark.parametrize("client", CLIENTS)
def test_the_snippet_shows_how_a_client_is_spared_destructive_marks(client: Any) -> None:
    place, text = snippet(client, URL)[-1]
    assert "only if it refuses tools" in place
    [(key, names)] = tomllib.loads(text)["server"].items()
    assert key in Settings.model_fields
    assert len(names) == 1


@pytest.mark.parametrize("page", ["README.md", "docs/gateway.md"])
@pytest.mark.parametrize("client", CLIENTS)
def test_the_pages_show_the_entry_that_is_printed(client: Any, page: str) -> None:
    shown = "".join((ROOT / page).read_text().split())
    said = entry(client, "https://placet.example.com")
    if client == "codex":
        assert "".join("\n".join(table(["mcp_servers", "placet"], said)).split()) in shown
    else:
        assert "".join(json.dumps({"placet": said}).split())[1:-1] in shown


@pytest.mark.parametrize(
    ("server", "gated"),
    [
        pytest.param({"command": "placet", "args": ["mcp"]}, True, id="bridge"),
        pytest.param({"command": "/usr/bin/placet", "args": ["mcp"]}, True, id="bridge-by-path"),
        pytest.param({"url": f"{URL}/mcp"}, True, id="address"),
        pytest.param({"command": "node", "disabled": True}, True, id="off"),
        pytest.param({"url": f"{URL}.evil.example/mcp"}, False, id="another-address"),
        pytest.param({"command": "placet", "args": ["mcp", "--try"]}, False, id="more-words"),
        pytest.param({"command": "node", "args": ["placet", "mcp"]}, False, id="another-program"),
    ],
)
def test_what_counts_as_the_way_to_placet(
    desk: Desk,
    server: dict[str, Any],
    gated: bool,  # noqa: FBT001
) -> None:
    path = desk.client(json.dumps({"mcpServers": {"one": server}}))
    assert (ungated(read(path), URL) == []) is gated
