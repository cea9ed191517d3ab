"""What all parts of a report have in common: they are frozen, and unknown fields are errors."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """A frozen part of a report; unknown fields are errors, because reports of forks are read back."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_serialization_defaults_required=True,  # every field is always present
    )
