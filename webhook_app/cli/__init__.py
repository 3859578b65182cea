"""The command `placet`: for the operator (over the socket beside the store) and for agents."""

import gc

__all__ = ["main"]


def main() -> None:
    """Run the command line; collecting garbage between its imports would cost a fifth of them."""
    gc.disable()
    from .program import program  # noqa: PLC0415

    gc.freeze()
    gc.enable()
    program()
