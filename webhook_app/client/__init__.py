"""For agents: ask Placet for tool calls from Python. Needs httpx and nothing of the server.

placet = Placet("https://placet.example.com", token)
asked = placet.propose("crm.deactivate", {"ids": [17, 23]}, reason="they bounced")
print(asked["say_to_user"])
over = placet.wait(asked["proposal"], timeout=3600)

AsyncPlacet asks the same, and every answer is awaited.
"""

from .asking import Action, Asking
from .awaited import AsyncPlacet
from .direct import Placet
from .facts import not_confirmed, read_facts
from .requests import OVER, PlacetError, StillWaiting

__all__ = [
    "OVER",
    "Action",
    "Asking",
    "AsyncPlacet",
    "Placet",
    "PlacetError",
    "StillWaiting",
    "not_confirmed",
    "read_facts",
]
