"""Options, levels, configurations and terms: the vocabulary of every analysis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

Value: TypeAlias = bool | str | int | float
Configuration: TypeAlias = tuple[Value, ...]
"""One value for every option, in the order of `Space.options`."""
Term: TypeAlias = tuple[str, ...]
"""Sorted level texts; `()` is every configuration."""
Operator: TypeAlias = Literal["on", "off", "=", ">=", "<"]


def value_text(value: Value) -> str:
    """Text of an option's value as levels and reports write it (6, not 6.0)."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


@dataclass(frozen=True, order=True)
class Level:
    """A condition on one option: `name`, `!name`, `name=value`, `name>=value` or `name<value`."""

    option: str
    operator: Operator
    value: Value = True

    def __str__(self) -> str:
        if self.operator == "on":
            return self.option
        if self.operator == "off":
            return f"!{self.option}"
        return f"{self.option}{self.operator}{value_text(self.value)}"

    def holds(self, value: Value) -> bool:
        """Whether an option with this value is at this level."""
        match self.operator:
            case "on":
                return value is True
            case "off":
                return value is False
            case "=":
                return value == self.value
        assert not isinstance(value, str) and not isinstance(self.value, str)
        return value >= self.value if self.operator == ">=" else value < self.value


def forbidding(levels: Sequence[Level]) -> str:
    """The sentence under `constraints` that keeps some levels from meeting, as people would write it."""
    if all(level.operator == "off" for level in levels):
        return " or ".join(level.option for level in levels)
    together = " and ".join(map(str, levels))
    return f"not ({together})" if len(levels) > 1 else f"not {together}"


@dataclass(frozen=True)
class Option:
    """A switch, a choice or a number of the subject program, with its allowed values in order."""

    name: str
    kind: Literal["flag", "choice", "number"]
    values: tuple[Value, ...]
    default: Value

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """Levels a term may use: on/off, one per choice, one per number and its inner thresholds."""
        if self.kind == "flag":
            return (Level(self.name, "on"), Level(self.name, "off", False))
        single = tuple(Level(self.name, "=", v) for v in self.values)
        if self.kind == "choice" or len(self.values) < 3:
            return single
        # The outermost thresholds hold in the same configurations as the outermost single values.
        inner = self.values[1:]
        thresholds = [Level(self.name, "<", v) for v in inner[1:]] + [
            Level(self.name, ">=", v) for v in inner[:-1]
        ]
        return (*single, *thresholds)


@dataclass(frozen=True)
class Space:
    """All options of a subject program and the constraints between them."""

    options: tuple[Option, ...]
    constraints: tuple[str, ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Option names in order."""
        return tuple(o.name for o in self.options)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Position of each option."""
        return {o.name: i for i, o in enumerate(self.options)}

    @cached_property
    def default(self) -> Configuration:
        """Every option at its default (it may violate the constraints: ask the solver)."""
        return tuple(o.default for o in self.options)

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """All levels of all options."""
        return tuple(level for o in self.options for level in o.levels)

    @cached_property
    def level_of(self) -> Mapping[str, Level]:
        """Level by its text."""
        return {str(level): level for level in self.levels}

    def holds(self, level: Level, configuration: Configuration) -> bool:
        """Whether a configuration is at a level."""
        return level.holds(configuration[self.index[level.option]])

    def carries(self, term: Sequence[str], configuration: Configuration) -> bool:
        """Whether a configuration is at all levels of a term."""
        return all(self.holds(self.level_of[level], configuration) for level in term)

    def as_dict(self, configuration: Configuration) -> dict[str, Value]:
        """Option name -> value."""
        return dict(zip(self.names, configuration, strict=True))


def distance(one: Configuration, other: Configuration) -> int:
    """Options that differ."""
    return sum(a != b for a, b in zip(one, other, strict=True))
