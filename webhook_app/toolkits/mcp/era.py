"""The two eras of MCP: what a request of the newer one carries, beside what it asks."""

from collections.abc import Mapping
from typing import Any

from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
    find_invalid_x_mcp_header,
    mcp_param_headers,
    x_mcp_header_map,
)
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    Implementation,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS


def modern(version: str) -> bool:
    """Whether a version is of the newer era, without sessions: each request says all of itself."""
    return version in MODERN_PROTOCOL_VERSIONS


def headers(version: str, method: str, params: Mapping[str, Any]) -> dict[str, str]:
    """The HTTP headers of a request of the newer era."""
    about = params.get(NAME_BEARING_METHODS.get(method, ""))
    named = {MCP_NAME_HEADER: encode_header_value(about)} if isinstance(about, str) else {}
    return {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: method, **named}


def mirrored(schema: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, str]:
    """The headers that repeat arguments of a tool call, where the tool's schema asks for that."""
    plain = dict(schema)
    if find_invalid_x_mcp_header(plain) is not None:
        return {}
    return mcp_param_headers(x_mcp_header_map(plain), params.get("arguments") or {})


def enveloped(version: str, client: Implementation, params: Mapping[str, Any]) -> dict[str, Any]:
    """A request's parameters with who asks; nothing that a server could ask back is offered."""
    said = {
        PROTOCOL_VERSION_META_KEY: version,
        CLIENT_INFO_META_KEY: client.model_dump(by_alias=True, mode="json", exclude_none=True),
        CLIENT_CAPABILITIES_META_KEY: {},
    }
    return {**params, "_meta": {**(params.get("_meta") or {}), **said}}
