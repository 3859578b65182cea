"""The MCP door: agents reach every declared tool here, and each call passes the gate.

Only `entrance` may be imported before somebody comes in: the mcp library takes most of a second.
"""
