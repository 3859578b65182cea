"""A box of notes with a tool in each mode, all of which can be taken back; and what can go wrong.

`ills` is a set of words: `die` (the apply ends before it does anything), `blind` (nothing can be
read back), `cost` (the plan costs something), `dear` (so does an undo), `lazy` (an undo says that
it is done and is not).
"""

import json
import sys
from pathlib import Path
from typing import Any

TOOL = """
import json, os, sys
from pathlib import Path
box, asked = Path(os.environ["NOTES"]), json.load(sys.stdin)
verb, name, text = asked["verb"], asked["arguments"]["name"], asked["arguments"]["text"]
notes = json.loads((box / "notes").read_text())
ills = json.loads((box / "ills").read_text())
held = asked["plan"]["preconditions"] if verb in ("verify", "undo", "undo_plan") else {}
if verb == "plan":
    said = {"effects": [{"what": "note " + name, "before": notes.get(name), "after": text}],
            "preconditions": {"was": notes.get(name)}}
    if "cost" in ills:
        said["cost"] = {"amount": 100, "unit": "EUR"}
elif verb == "undo_plan":
    if notes.get(name) == held["was"]:
        said = {"error": {"code": "already_undone", "message": "it is as before"}}
    else:
        said = {"effects": [{"what": "note " + name, "before": text, "after": held["was"]}],
                "preconditions": {"back": held["was"]}}
        if "dear" in ills:
            said["cost"] = {"amount": 100, "unit": "EUR"}
elif verb in ("apply", "undo"):
    with (box / "runs").open("a") as runs:
        runs.write(verb + "\\n")
    if "die" in ills:
        os._exit(3)
    notes[name] = held["back"] if verb == "undo" else text
    if not (verb == "undo" and "lazy" in ills):
        (box / "notes").write_text(json.dumps({k: v for k, v in notes.items() if v is not None}))
    said = {"ok": True, "result": {}}
elif "blind" in ills:
    said = {"verdict": "unverified", "why": "it is dark"}
else:
    wanted = held["back"] if "back" in held else text
    fits = notes.get(name) == wanted
    said = {"verdict": "verified" if fits else "contradicted",
            "checks": [{"what": name, "expected": wanted, "found": notes.get(name), "ok": fits}]}
print(json.dumps(said))
"""


class Notes:
    """The notes in their folder, and what was run on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "tool.py").write_text(TOOL)
        self.write({})
        self.ills()

    def write(self, notes: dict[str, str]) -> None:
        """Somebody else writes all of them."""
        (self.folder / "notes").write_text(json.dumps(notes))

    @property
    def all(self) -> dict[str, str]:
        """The notes that there are."""
        return dict(json.loads((self.folder / "notes").read_text()))

    @property
    def runs(self) -> list[str]:
        """Which verbs were run that change something, in their order."""
        file = self.folder / "runs"
        return file.read_text().split() if file.exists() else []

    def ills(self, *ills: str) -> None:
        """What is wrong from now on."""
        (self.folder / "ills").write_text(json.dumps(ills))

    def toml(self) -> str:
        """The tools `note.ask`, `note.confirm` and `note.announce`."""
        modes = {"ask": "approve", "confirm": "confirm", "announce": "announce"}
        return "".join(self._tool(name, mode) for name, mode in modes.items())

    def _tool(self, name: str, mode: str) -> str:
        argv: Any = [sys.executable, "-I", "-S", str(self.folder / "tool.py")]
        return f"""
[tool.note.{name}]
kind = "command"
effect = "write"
mode = "{mode}"
summary = "Write the note {{/arguments/name}}"
plan = {argv}
apply = {argv}
verify_command = {argv}
undo_command = {argv}
plan_env = {{NOTES = "{self.folder}"}}
apply_env = {{NOTES = "{self.folder}"}}
arguments = {{type = "object", required = ["name", "text"], properties = {{name = {{type = \
"string"}}, text = {{type = "string"}}}}}}
"""
