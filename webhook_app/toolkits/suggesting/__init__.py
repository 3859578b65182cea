"""A starter file for somebody else's server: what its tools seem to be, for the operator to say."""

from .guessing import Guess, guess
from .listed import NotListed, listed, named
from .starter import confirmed, starter

__all__ = ["Guess", "NotListed", "confirmed", "guess", "listed", "named", "starter"]
