"""The command `placet`: for the operator (over the socket beside the store) and for agents."""

from .uncollected import uncollected

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    with uncollected():
        from .program import program  # noqa: PLC0415
    program()
