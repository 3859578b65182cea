"""The application: everything put together, and run."""

from .application import create_app
from .running import run

__all__ = ["create_app", "run"]
