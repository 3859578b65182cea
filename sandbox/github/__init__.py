"""A GitHub on this machine, for the demo and the tests. It imports nothing of the product."""

from .app import create_app
from .clock import Clock
from .faults import DeliveryFault, Fault, secondary_limit
from .person import Person
from .refusal import Refused
from .world import World

__all__ = [
    "Clock",
    "DeliveryFault",
    "Fault",
    "Person",
    "Refused",
    "World",
    "create_app",
    "secondary_limit",
]
