"""A starter file for somebody else's server: what its tools seem to be, for the operator to say."""

from .guessing import Guess, guess
from .listed import NotListed, listed
from .starter import starter

__all__ = ["Guess", "NotListed", "guess", "listed", "starter"]
