"""Compare what people read with a file that was read and agreed before."""

from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


def compare(text: str, path: Path, *, update: bool) -> None:
    """Fail unless the file holds exactly this text; with `update`, write it instead."""
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return
    assert path.is_file(), f"{path.name} does not exist: run pytest --update-golden and read it"
    assert text == path.read_bytes().decode(), f"{path.name} differs: --update-golden writes it"
