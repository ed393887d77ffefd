"""What all sections of a profile have in common."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Section(BaseModel):
    """A section of a profile: unknown keys are errors, and nothing changes once it is read."""

    # Inputs are hidden because a secret may stand in a wrong place.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)
