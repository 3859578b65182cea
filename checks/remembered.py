"""What policies say, remembered: every decision needs the same few texts several times."""

from functools import lru_cache

from .policy import Policy, PolicyError, Rule, load


@lru_cache(maxsize=128)
def policy_of(text: str) -> Policy:
    """As `load`, which takes milliseconds to read YAML.

    What is kept is frozen; a fault is found anew each time.
    """
    return load(text)


def rule_in(text: str, tool: str) -> Rule | None:
    """The rule that a policy's text has for a tool; None: it has none, or it cannot be used."""
    try:
        hit = policy_of(text).rule_for(tool)
    except PolicyError:
        return None
    return hit[1] if hit else None
