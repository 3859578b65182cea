"""The cases are played in the same town, with the same box, as the tests of the whole system."""

from tests.system.conftest import box, here

__all__ = ["box", "here"]
