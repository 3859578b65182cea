"""Tools of MCP servers: sessions with them, what they list, and calls. Loads mcp when needed."""

from .upstreams import McpUpstreams

__all__ = ["McpUpstreams"]
