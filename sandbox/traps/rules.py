"""What the operator of the traps has set up: the office's tools, and who may approve them."""

import sys
from pathlib import Path

POLICY = """\
version: 1
rules:
  - tools: ["crm.enrol", "crm.spend", "crm.delete_customer", "crm.import_contacts", "calendar.*"]
    require: [{approvals: 1}]
    permission: write
"""
"""Nobody may approve `crm.call_api`: there is no rule for it."""
RULED = ("crm.enrol", "crm.spend", "crm.delete_customer", "crm.import_contacts", "calendar.")
APPROVERS = ("lee", "noor")
"""Who may approve; dana is the agent's own person, and sam may only read."""
CONFIRMED = frozenset({"crm.set_note", "crm.tag"})
"""The tools of mode `confirm`: they need a preview, and no person."""


def upstream(office: Path, half: str) -> list[str]:
    """The command that serves one half of the office, which lies in this folder."""
    return [sys.executable, str(Path(__file__).with_name("office.py")), str(office), half]


def tools(office: Path) -> str:
    """The tools, as placet.toml declares them; `crm.wipe` is not declared."""
    servers = [f"[upstream.{h}]\ncommand = {upstream(office, h)}" for h in ("crm", "calendar")]
    return "\n".join(("", *servers, TOOLS))


TOOLS = """
[tool.crm.find_customer]
effect = "read"
[tool.crm.list_segment]
effect = "read"
[tool.calendar.list_events]
effect = "read"

[tool.crm.set_note]
effect = "write"
mode = "confirm"
summary = "Set the notes of customer {/arguments/id}"

[tool.crm.tag]
effect = "write"
mode = "confirm"
summary = "Put customer {/arguments/id} into {/arguments/segment}"

[tool.crm.enrol]
effect = "write"
touches = ["contact", "start"]
summary = "Enrol the segment {/arguments/segment} in {/arguments/course}"
effects = [{what = "enrolled and mailed", after = {from = "/pre/members"}}]
[[tool.crm.enrol.pre]]
id = "members"
tool = "crm.list_segment"
args = {segment = {from = "/arguments/segment"}}
take = "/structuredContent/members"
pin = "value"

[tool.crm.spend]
effect = "write"
touches = ["spend"]
summary = "Spend {/arguments/amount} EUR on {/arguments/purpose}"
cost = {amount = {from = "/arguments/amount"}, unit = "EUR"}

[tool.crm.delete_customer]
effect = "destructive"
touches = ["delete"]
summary = "Delete customer {/arguments/id}"

[tool.crm.import_contacts]
effect = "write"
touches = ["start"]
summary = "Import contacts from {/arguments/source}"
forbid = ["dry_run"]
preview = {set = {dry_run = true}, take = "/structuredContent"}
apply = {set = {dry_run = false}}

[tool.crm.call_api]
effect = "destructive"
touches = ["contact", "start", "delete"]
summary = "{/arguments/method} {/arguments/path}"

[tool.calendar.create_event]
effect = "write"
touches = ["contact"]
summary = "Create the event {/arguments/title}"
"""
