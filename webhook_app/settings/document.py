"""The configuration page, written from the fields themselves so that it cannot lie."""

from datetime import timedelta
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo

from checks.times import Duration

from .fields import Floor, Repository, Settings
from .upstreams import Upstream

_DURATION = TypeAdapter[timedelta](Duration)
_HEAD = """# Configuration

Made from the code by `make docs`. Every setting stands in `placet.toml` or in the environment,
which wins. An unknown key refuses the start. Keep secrets in the environment, or in files that only
the server can read.

## `[server]`

| key | environment | default | what it is |
|---|---|---|---|
"""
_TABLES = """
## Tables of their own

| key | default | what it is |
|---|---|---|
"""
_TOOLS = """
Tools are declared as `[tool.UPSTREAM.NAME]`; each is governed by one of the repositories above.
"""


def document() -> str:
    """The page `docs/reference/configuration.md`."""
    fields = {n: f for n, f in Settings.model_fields.items() if n not in _NESTED}
    rows = [
        f"| `{name}` | `PLACET_{name.upper()}` | {_default(field)} | {_line(field.description)} |"
        for name, field in fields.items()
    ]
    nested = [row for name, model in _NESTED.items() for row in _nested(name, model)]
    return _HEAD + "\n".join(rows) + "\n" + _TABLES + "\n".join(nested) + "\n" + _TOOLS


_NESTED: dict[str, type[BaseModel]] = {
    "policy_floor": Floor,
    "repository": Repository,
    "upstream": Upstream,
}


def _nested(name: str, model: type[BaseModel]) -> list[str]:
    yours = "EFFECT" if name == "policy_floor" else "NAME"
    about = _line(Settings.model_fields[name].description)
    means = {key: _line(f.description or model.__doc__) for key, f in model.model_fields.items()}
    return [f"| `[{name}.{yours}]` | none | {about} |"] + [
        f"| `{name}.{yours}.{key}` | {_default(field)} | {means[key]} |"
        for key, field in model.model_fields.items()
    ]


def _line(text: str | None) -> str:
    """A docstring as a cell of a table."""
    return " ".join((text or "").split())


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "**required**"
    return _shown(field.default)


def _shown(value: Any) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return f"`{str(value).lower()}`"
        case timedelta():
            return f"`{_DURATION.dump_python(value, mode='json')}`"
        case tuple() | frozenset():
            return ", ".join(f"`{v}`" for v in value) or "none"
        case _:
            return f"`{value}`"
