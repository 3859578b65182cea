"""What is there may be somebody else's: reading back can ask whose it is."""

import tomllib
from pathlib import Path

import pytest

from proposals.ports import Order, Reading
from proposals.tools import declared
from tests.folder import Desk, Folder

pytestmark = pytest.mark.anyio
READS = """
[tool.fs.read_text_file]
effect = "read"
absent = "^ENOENT"
[tool.fs.get_file_info]
effect = "read"
absent = "^ENOENT"
[tool.fs.write_file]
effect = "write"
"""
THERE = '{tool = "fs.read_text_file", args = {path = {from = "/arguments/path"}}, exists = true}'
OURS = """{tool = "fs.get_file_info", args = {path = {from = "/arguments/path"}},
    take = "/structuredContent/content", equals = "owner: placet"}""".replace("\n    ", " ")


class Shared(Folder):
    """A folder of several people; nobody's write reaches a file that is another's."""

    def get_file_info(self, path: str) -> str:
        return "owner: bob" if path.startswith("bob") else "owner: placet"


def desk(folder: Path, *verify: str) -> Desk:
    table = tomllib.loads(f"{READS}verify = [{', '.join(verify)}]\n")["tool"]["fs"]
    return Desk(Shared(folder), declared({"fs": table}, {"fs": "mcp"}))


@pytest.mark.parametrize(
    ("path", "verify", "reading"),
    [
        pytest.param("ours.txt", [THERE, OURS], Reading.VERIFIED, id="there-and-ours"),
        pytest.param("bob.txt", [THERE, OURS], Reading.CONTRADICTED, id="there-and-anothers"),
        pytest.param("bob.txt", [THERE], Reading.VERIFIED, id="existence-alone-does-not-tell"),
        pytest.param("none.txt", [THERE, OURS], Reading.CONTRADICTED, id="not-there"),
        pytest.param("ours.txt", [], Reading.UNVERIFIED, id="nothing-to-look-at"),
    ],
)
async def test_reading_back_asks_whether_it_is_there_and_whose_it_is(
    tmp_path: Path, path: str, verify: list[str], reading: Reading
) -> None:
    here = desk(tmp_path, *verify)
    (tmp_path / "bob.txt").write_text("new")
    pinned = await here.plan("fs.write_file", path=path, content="new")
    here.folder.fault = "" if path == "ours.txt" else "idle"
    tool, order = here.catalog.find("fs.write_file"), Order(pinned.plan, "p_1", pinned.kept)
    returned = await here.runner.apply(tool, order)
    assert (await here.runner.verify(tool, order, returned.result)).reading is reading
