"""What an MCP server writes, cut into messages: in any pieces, of any length."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook_app.toolkits.mcp.lines import Lines, TooLong


def fed(lines: Lines, pieces: list[bytes]) -> list[bytes | TooLong]:
    return [line for piece in pieces for line in lines.feed(piece)]


@given(st.binary(), st.lists(st.integers(1, 40)), st.integers(0, 30))
def test_the_same_lines_come_out_in_whatever_pieces_they_arrive(
    data: bytes, sizes: list[int], most: int
) -> None:
    pieces, rest = [], data
    for size in sizes:
        pieces.append(rest[:size])
        rest = rest[size:]
    whole = data.split(b"\n")[:-1]
    found = fed(Lines(most), [*pieces, rest])
    sizes_found = [line.size if isinstance(line, TooLong) else len(line) for line in found]
    assert sizes_found == [len(line) for line in whole]
    kept = [line for line in found if not isinstance(line, TooLong)]
    assert kept == [line for line in whole if len(line) <= most]


LONG = {"content": [{"type": "text", "text": '"id": 8, ' * 500}]}


@pytest.mark.parametrize(
    ("message", "id_"),
    [
        pytest.param({"jsonrpc": "2.0", "id": 7, "result": LONG}, 7, id="id-first"),
        pytest.param({"result": LONG, "jsonrpc": "2.0", "id": 7}, 7, id="id-last"),
        pytest.param({"id": 7, "result": LONG, "jsonrpc": "2.0"}, 7, id="id-before-the-rest"),
        pytest.param({"result": LONG, "id": 7, "jsonrpc": "2.0"}, 7, id="id-before-the-version"),
        pytest.param({"result": {**LONG, "id": 8}, "jsonrpc": "2.0"}, None, id="id-deeper"),
        pytest.param({"jsonrpc": "2.0", "result": LONG}, None, id="no-id"),
        pytest.param({"jsonrpc": "2.0", "id": "7", "result": LONG}, None, id="not-one-of-ours"),
    ],
)
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")], ids=["tight", "wide"])
@pytest.mark.parametrize("step", [1, 100, 100_000])
def test_of_a_line_that_is_too_long_its_request_is_still_known(
    message: dict[str, object], id_: int | None, separators: tuple[str, str], step: int
) -> None:
    data = json.dumps(message, separators=separators).encode() + b"\nnext\n"
    pieces = [data[i : i + step] for i in range(0, len(data), step)]
    assert fed(Lines(1000), pieces) == [TooLong(len(data) - 6, id_), b"next"]
