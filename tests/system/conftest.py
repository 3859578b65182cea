"""A town with a box: a tool whose every run leaves a line, so that runs can be counted."""

import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox.testing import Town, town

BOX = """
import json, os, sys, time
from pathlib import Path
asked = json.load(sys.stdin)
box, verb = Path(os.environ["BOX"]), asked["verb"]
value = int((box / "value").read_text())
if verb == "read":
    print(json.dumps({"result": {"value": value}}))
    sys.exit()
n = asked["arguments"]["n"]
fault = (box / "fault").read_text() if (box / "fault").exists() else ""
if verb == "plan" and fault == "no plan":
    said = {"error": {"code": "no_box", "message": "the box is gone"}}
elif verb == "plan" and fault == "crash":
    sys.exit(3)
elif verb == "plan":
    if fault == "slow plan":
        time.sleep(0.5)
    said = {"effects": [{"what": "value", "before": value, "after": value + n}],
            "preconditions": {"value": value}}
elif verb == "apply":
    with (box / "runs").open("a") as runs:
        runs.write(json.dumps(asked) + "\\n")
    while fault == "slow write":
        time.sleep(0.01)
        fault = (box / "fault").read_text()
    if fault == "die unseen":
        os._exit(9)
    if fault == "slow apply":
        time.sleep(0.6)
    if fault == "nothing":
        said = {"ok": False, "did_nothing": True, "why": "the box is locked"}
    else:
        if fault != "lie":
            (box / "new").write_text(str(value + n))
            (box / "new").replace(box / "value")  # never seen half written
        if fault == "die":
            os._exit(9)
        if fault == "hang":
            time.sleep(60)
        said = {"ok": True, "result": {"value": value + n}}
else:
    while fault == "slow verify":
        time.sleep(0.01)
        fault = (box / "fault").read_text()
    wanted = asked["plan"]["effects"][0]["after"]
    said = {"verdict": "verified" if value == wanted else "contradicted",
            "checks": [{"what": "value", "expected": wanted, "found": value,
                        "ok": value == wanted}]}
print(json.dumps(said))
"""


class Box:
    """The box in its folder: its value, its runs, and what is wrong with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "tool.py").write_text(BOX)
        self.value = 1

    @property
    def value(self) -> int:
        return int((self.folder / "value").read_text())

    @value.setter
    def value(self, value: int) -> None:
        (self.folder / "value").write_text(str(value))

    @property
    def runs(self) -> int:
        """How many times apply was started, whatever came of it."""
        file = self.folder / "runs"
        return len(file.read_text().split("\n")) - 1 if file.exists() else 0

    def breaks(self, how: str) -> None:
        (self.folder / "fault").write_text(how)

    def mends(self) -> None:
        self.breaks("")

    def toml(self) -> str:
        argv = [sys.executable, "-I", "-S", str(self.folder / "tool.py")]
        return f"""
[tool.box.add]
kind = "command"
effect = "write"
summary = "Add {{/arguments/n}} to the box"
plan = {argv}
apply = {argv}
verify_command = {argv}
plan_env = {{BOX = "{self.folder}"}}
apply_env = {{BOX = "{self.folder}"}}
timeout = "2s"
targets = ["acme/shop"]
arguments = {{type = "object", properties = {{n = {{type = "integer"}}}}, required = ["n"]}}

[tool.box.look]
kind = "command"
effect = "read"
read = {argv}
plan_env = {{BOX = "{self.folder}"}}
"""


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path / "box")


POLICY = """\
version: 1
rules:
  - tools: ["box.*"]
    require: [{approvals: 1}]
    expires: 4h
"""


@pytest.fixture
async def here(
    tmp_path: Path, box: Box, judged: Callable[[Any], Any], request: pytest.FixtureRequest
) -> AsyncIterator[Town]:
    """The town; a test may give it another policy by indirect parametrisation."""
    policy = getattr(request, "param", POLICY)
    async with town(tmp_path / "town", tools=box.toml(), policy=policy, wrap=judged) as made:
        yield made
