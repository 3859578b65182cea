"""The command `placet`: for the operator (over the socket beside the store) and for agents."""

from .program import main

__all__ = ["main"]
