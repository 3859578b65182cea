"""For agents: ask Placet for tool calls from Python. Needs httpx and nothing of the server.

placet = Placet("https://placet.example.com", token)
asked = placet.propose("crm.deactivate", {"ids": [17, 23]}, reason="they bounced")
print(asked["say_to_user"])
over = placet.wait(asked["proposal"], timeout=3600)

AsyncPlacet asks the same, and every answer is awaited.
"""

from .asking import Action, Asking
from .awaited import AsyncPlacet, Awaited
from .direct import Placet
from .facts import not_confirmed, read_facts
from .presently import Presently, at_once
from .requests import OVER, PlacetError, StillWaiting

__all__ = [
    "OVER",
    "Action",
    "Asking",
    "AsyncPlacet",
    "Awaited",
    "Placet",
    "PlacetError",
    "Presently",
    "StillWaiting",
    "at_once",
    "not_confirmed",
    "read_facts",
]
