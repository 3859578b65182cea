"""The worker: drains the inbox, advances proposals one at a time each, sends the outbox, sweeps."""

from .worker import Worker

__all__ = ["Worker"]
