"""The `target` of a call: somebody's pull request or commit, as an agent writes it."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from proposals.plan import Aim


class Targeted(BaseModel):
    """Whose page the call is tied to: exactly one of `pull_request` and `commit`, a full sha."""

    model_config = ConfigDict(extra="forbid", strict=True)

    repository: Annotated[
        str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}$")
    ]
    pull_request: Annotated[int, Field(gt=0, lt=2**53)] | None = None
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.pull_request is None) == (self.commit is None):
            raise ValueError("give either pull_request or commit")
        return self

    def aim(self) -> Aim:
        """The same in the words of the flow."""
        return Aim(self.repository, self.pull_request or 0, self.commit or "")


# Written out in place: a reference to a definition inside it would lead nowhere in /openapi.json.
TARGET = {"anyOf": [Targeted.model_json_schema(), {"type": "null"}], "default": None}
