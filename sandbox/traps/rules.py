"""What the operator of the traps has set up: the office's tools, and who may approve them."""

import sys
from pathlib import Path

POLICY = """\
version: 1
rules:
  - tools: ["crm.enrol", "crm.spend", "crm.delete_customer", "crm.*_contacts", "calendar.*"]
    require: [{approvals: 1}]
    permission: write
"""
"""Nobody may approve `crm.call_api` or `crm.reopen`: there is no rule for them."""
RULED = (
    *("crm.enrol", "crm.spend", "crm.delete_customer", "crm.import_contacts"),
    *("crm.sync_contacts", "calendar."),
)
APPROVERS = ("lee", "noor")
"""Who may approve; dana is the agent's own person, sam may only read, robo is a machine."""
MACHINE = "robo"
"""An account that may write, and that the operator has declared as a machine's."""
CONFIRMED = frozenset({"crm.set_note", "crm.tag"})
"""The tools of mode `confirm`: they need a preview, and no person."""
ANNOUNCED = frozenset({"crm.set_label", "crm.file_under"})
"""The tools of mode `announce`: they need a receipt, and it must be true."""


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

[tool.crm.set_label]
effect = "write"
mode = "announce"
summary = "Set the label of customer {/arguments/id}"
effects = [{what = "label", before = {from = "/pre/old"}, after = {from = "/arguments/label"}}]
[[tool.crm.set_label.pre]]
id = "old"
tool = "crm.find_customer"
args = {id = {from = "/arguments/id"}}
take = "/structuredContent/label"
pin = "value"
keep = true
[[tool.crm.set_label.verify]]
tool = "crm.find_customer"
args = {id = {from = "/arguments/id"}}
take = "/structuredContent/label"
equals = {from = "/arguments/label"}
[[tool.crm.set_label.undo]]
tool = "crm.set_label"
args = {id = {from = "/arguments/id"}, label = {from = "/pre/old"}}

[tool.crm.file_under]
effect = "write"
mode = "announce"
summary = "Put customer {/arguments/id} into {/arguments/folder}"
[[tool.crm.file_under.verify]]
tool = "crm.find_customer"
args = {id = {from = "/arguments/id"}}
take = "/structuredContent/folder"
equals = {from = "/arguments/folder"}
[[tool.crm.file_under.undo]]
tool = "crm.reopen"
args = {id = {from = "/arguments/id"}}

[tool.crm.reopen]
effect = "write"
summary = "Take customer {/arguments/id} out of its folder"

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

[tool.crm.sync_contacts]
effect = "write"
touches = ["start"]
summary = "Bring contacts up to date from {/arguments/source}"
forbid = ["dry_run"]
preview = {unset = ["dry_run"], take = "/structuredContent"}
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
