"""What the names of a configuration file may consist of."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field, StrictInt

from bot.model.quantities import parse_text

NAME_PATTERN = r"^[A-Za-z_][A-Za-z0-9_.-]*$"
"""Names of options and metrics: they stand in levels and constraints without quotes."""
LEVEL_PATTERN = r"^[A-Za-z0-9_.:/@%-]+$"
"""Names of choices and workloads: what may follow `name=` in a level."""
VARIABLE_PATTERN = r"^[A-Za-z_][A-Za-z0-9_]*$"

Name: TypeAlias = Annotated[str, Field(pattern=NAME_PATTERN)]
LevelName: TypeAlias = Annotated[
    str,
    Field(pattern=LEVEL_PATTERN),
    BeforeValidator(
        parse_text, json_schema_input_type=Annotated[str, Field(pattern=LEVEL_PATTERN)] | StrictInt
    ),
]
Variable: TypeAlias = Annotated[str, Field(pattern=VARIABLE_PATTERN)]
Command: TypeAlias = Annotated[str, Field(min_length=1)]
