"""The child process of a Python tool: `python -m webhook_app.toolkits.child MODULE VERB`.

VERB is `apply` or `undo`, for one request, or `serve`, for a request a line. It imports little, as
it starts afresh for every apply. What a tool prints goes to standard error; the wire is out of its
reach.
"""

import importlib
import json
import os
import sys
import traceback
from collections.abc import Callable
from types import ModuleType
from typing import Any, BinaryIO

from pydantic import BaseModel, ValidationError

CHANGES = ("apply", "undo")
FLAGGED = ("is_preview", "apply_push", "run")


def main() -> None:
    """Answer on the wire until it closes."""
    name, verb = sys.argv[1:3]
    asked, told = _wires()
    sys.path.insert(0, str(os.getcwd()))  # noqa: PTH109 (pathlib is not needed otherwise)
    for line in asked:
        told.write(answer(name, line) + b"\n")
        told.flush()
        if verb != "serve":
            return


def answer(name: str, line: bytes) -> bytes:
    """The tool's answer to one request, as a line. A change that raises gives none: it is lost."""
    request = json.loads(line)
    verb = request["verb"]
    try:
        module = importlib.import_module(name)
        call = _call(module, request)
    except ValidationError as error:
        return _encoded(_before(verb, "bad_arguments", _first(error)))
    except Exception as error:  # noqa: BLE001 (a tool's module may raise anything)
        traceback.print_exc()
        what = f"the module {name} cannot be used: {type(error).__name__}"
        return _encoded(_before(verb, "tool_failed", what))
    if verb in CHANGES:
        return _encoded(call())
    try:
        return _encoded(call())
    except Exception as error:  # noqa: BLE001 (as above)
        traceback.print_exc()
        return _encoded(_before(verb, "tool_failed", f"{verb} raised {type(error).__name__}"))


def _call(module: ModuleType, request: dict[str, Any]) -> Callable[[], object]:
    """What to call; everything that can fail without touching the world fails here."""
    model, verb = module.Arguments, request["verb"]
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise TypeError("Arguments is not a pydantic model")
    if verb == "schema":
        return lambda: _published(module, model)
    arguments = model.model_validate_json(json.dumps(request["arguments"]), strict=True)
    match verb:
        case "plan" | "apply" if hasattr(module, "is_preview"):
            return _flagged(module, verb, arguments)
        case "plan" | "read":
            look = getattr(module, verb)
            return lambda: look(arguments) if verb == "plan" else {"result": look(arguments)}
        case "apply" | "undo":
            change = getattr(module, verb)
            return lambda: change(arguments, request["plan"], request["key"])
        case "undo_plan" | "verify" if hasattr(module, verb):
            look = getattr(module, verb)
            return lambda: look(arguments, request["plan"], request["result"])
    return lambda: {"verdict": "unverified", "why": "nothing to read back"}


def _flagged(module: ModuleType, verb: str, arguments: BaseModel) -> Callable[[], object]:
    """What to call of a module whose arguments hold the flag that makes a call a preview."""
    if verb == "plan":
        if not module.is_preview(arguments):
            why = "these arguments ask for the change itself; leave that flag out"
            return lambda: {"error": {"code": "flag_not_yours", "message": why}}
        return lambda: {"preview": module.run(arguments)}
    pushed = module.apply_push(arguments)
    if module.is_preview(pushed):
        why = "apply_push gave the arguments of a preview; nothing was run"
        return lambda: {"ok": False, "did_nothing": True, "why": why}
    return lambda: {"ok": True, "result": module.run(pushed)}


def _published(module: ModuleType, model: type[BaseModel]) -> dict[str, object]:
    """What a module says of itself at the start."""
    flags = [name for name in FLAGGED[:2] if hasattr(module, name)]
    lacks = [name for name in FLAGGED if not hasattr(module, name)]
    if flags and lacks:
        why = f"it has {flags[0]} but no {lacks[0]}; a preview by flag needs {', '.join(FLAGGED)}"
        return {"error": {"code": "half_a_preview", "message": why}}
    has, plans = hasattr(module, "undo"), hasattr(module, "undo_plan")
    if has != plans:
        there, lacking = ("undo", "undo_plan") if has else ("undo_plan", "undo")
        why = f"it has {there} but no {lacking}; an undo needs both, so add it or remove {there}"
        return {"error": {"code": "half_an_undo", "message": why}}
    reads, looks = hasattr(module, "read"), hasattr(module, "verify")
    return {"schema": model.model_json_schema(), "undo": has, "read": reads, "verify": looks}


def _before(verb: str, code: str, why: str) -> dict[str, object]:
    """What to say when the tool was not even called, or only to look."""
    if verb in CHANGES:
        return {"ok": False, "did_nothing": True, "why": why}
    if verb == "verify":
        return {"verdict": "unverified", "why": why}
    return {"error": {"code": code, "message": why}}


def _encoded(value: object) -> bytes:
    return json.dumps(value).encode()


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(str(step) for step in first['loc']) or 'arguments'}: {first['msg']}"


def _wires() -> tuple[BinaryIO, BinaryIO]:
    """Take standard input and output away from the tool, and from everything it starts."""
    asked, told = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return asked, told


if __name__ == "__main__":
    main()
