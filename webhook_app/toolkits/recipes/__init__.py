"""Tools that others wrote, played by the recipe of their operator: kinds mcp and http."""

from .toolkit import RecipeToolkit

__all__ = ["RecipeToolkit"]
