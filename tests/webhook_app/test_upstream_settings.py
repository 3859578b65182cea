"""The upstreams of placet.toml: what they are, and every fault a sentence."""

from pathlib import Path

import pytest

from tests.webhook_app.test_settings import MINIMAL, PEM, written
from webhook_app.settings import SettingsError, load

GOVERNED = MINIMAL + "[repository.default]\nid = 1\n"
FS = '[upstream.fs]\ncommand = ["node", "server.js"]\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Path:
    (tmp_path / "app.pem").write_text(PEM)
    return tmp_path


def test_the_tools_of_an_upstream_need_no_kind(folder: Path) -> None:
    text = f"""{GOVERNED}{FS}env = {{ROOT = "/srv", TOKEN = "env:FS_TOKEN"}}
[upstream.cal]
url = "https://cal.example/mcp"
headers_env = {{Authorization = "CAL_TOKEN"}}
prefix = ""
[tool.fs.read_file]
effect = "read"
[tool.cal.add]
effect = "write"
"""
    config = load(written(folder, text))
    assert {tool.name: tool.kind for tool in config.tools.list()} == {
        "cal.add": "mcp",
        "fs.read_file": "mcp",
    }
    fs, cal = config.settings.upstream["fs"], config.settings.upstream["cal"]
    assert (fs.command, fs.env["TOKEN"]) == (("node", "server.js"), "env:FS_TOKEN")
    assert (fs.wire("fs.read_file"), cal.wire("cal.add")) == ("fs__read_file", "add")
    assert cal.headers_env == {"Authorization": "CAL_TOKEN"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        pytest.param(
            FS.replace("command", "comand"),
            r'unknown key "comand". Did you mean "command"',
            id="key",
        ),
        pytest.param("[upstream.fs]\n", "one of command and url", id="neither"),
        pytest.param(FS + 'url = "https://a.example"\n', "one of command and url", id="both"),
        pytest.param(FS + 'headers_env = {A = "B"}\n', "headers_env belongs to", id="headers"),
        pytest.param(
            '[upstream.a]\nurl = "https://a.example"\nenv = {A = "b"}\n', "env belongs to", id="env"
        ),
        pytest.param('[upstream.a]\nurl = "file:///etc"\n', "is no address such as", id="no-url"),
        pytest.param(FS + 'env = {"A B" = "c"}\n', r'write NAME = "value"', id="variable"),
        pytest.param(
            '[upstream.a]\nurl = "https://a.example"\nheaders_env = {"A:" = "B"}\n',
            "write HEADER = NAME",
            id="header",
        ),
        pytest.param(FS.replace(".fs", ".f__s"), "an upstream's name has", id="name"),
        pytest.param(
            FS + 'relay = ["tools"]\n', "'resources', 'prompts' or 'completion'", id="relay"
        ),
        pytest.param(
            '[upstream.a]\nbase_url = "https://a.example"\nrelay = ["prompts"]\n',
            "relay belongs to an MCP server",
            id="relay-of-an-api",
        ),
        pytest.param(FS + "max_answer = 10\n", "greater than or equal to 1000", id="cap"),
        pytest.param(FS + 'prefix = "a b"\n', "should match pattern", id="prefix"),
        pytest.param(
            FS + 'prefix = ""\n[tool.fs.placet_status]\neffect = "read"\n',
            "one of Placet's own names",
            id="a-name-of-ours",
        ),
        pytest.param(
            FS
            + 'prefix = ""\n[upstream.g]\ncommand = ["g"]\nprefix = ""\n'
            + '[tool.fs.a]\neffect = "read"\n[tool.g.a]\neffect = "read"\n',
            r'agents would call both \[tool.fs.a\] and \[tool.g.a\] "a"',
            id="two-of-one-name",
        ),
        pytest.param(
            '[tool.fs.a]\nkind = "mcp"\neffect = "read"\n',
            r"needs \[upstream.fs\]",
            id="no-upstream",
        ),
    ],
)
def test_a_fault_refuses_the_start(folder: Path, text: str, sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        load(written(folder, GOVERNED + text))
