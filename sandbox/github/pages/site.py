"""What all pages share: the world they show, the templates, the signer of cookies."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sandbox.github.clock import iso
from sandbox.github.core import Core
from sandbox.github.model import CheckRun

from .markdown import rendered
from .session import Signer

TEMPLATES = Path(__file__).parent.parent / "templates"
STEPS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))
LOOKS = {
    "success": "good",
    "failure": "bad",
    "timed_out": "bad",
    "startup_failure": "bad",
    "action_required": "act",
}


def look_of(run: CheckRun) -> str:
    """Name the mark of a check run: busy, good, bad, act or calm."""
    return LOOKS.get(run.conclusion or "", "calm") if run.status == "completed" else "busy"


class Site:
    """The pages of one world."""

    def __init__(self, world: Core) -> None:
        self.world = world
        self.signer = Signer()
        self.templates = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.templates.filters.update(
            ago=self.ago,
            iso=iso,
            utc=lambda moment: f"{moment.astimezone(UTC):%-d %b %Y %H:%M:%S} UTC",
            look=look_of,
            markdown=rendered,
            path=quote,
            removesuffix=lambda text, end: text.removesuffix(end),
        )

    def render(self, template: str, **values: Any) -> str:
        """Render a template; a name it lacks is an error of ours."""
        return self.templates.get_template(template).render(values)

    def ago(self, moment: datetime) -> str:
        """Say how long ago, or in how long, by the sandbox's clock."""
        seconds = (self.world.clock.now() - moment).total_seconds()
        for size, unit in STEPS:
            if abs(seconds) >= size:
                count = int(abs(seconds) // size)
                words = f"{count} {unit}{'s' if count > 1 else ''}"
                return f"in {words}" if seconds < 0 else f"{words} ago"
        return "now"
