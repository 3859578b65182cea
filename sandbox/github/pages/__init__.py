"""The sandbox's web pages: what a person sees and presses on GitHub, as plain forms."""

from .routes import mount

__all__ = ["mount"]
