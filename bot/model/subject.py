"""The subject program's file, `.github/suspects.yml`, as frozen models (the contract's key names)."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from bot.model.space import Option, Space, Value


class Key(BaseModel):
    """A mapping in the file; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# The reader (adapters/subject_file.py) turns "60s", "5m", "1%" into seconds and fractions before validation.
Seconds: TypeAlias = Annotated[float, Field(gt=0)]
Fraction: TypeAlias = Annotated[float, Field(gt=0, lt=1)]
WORKLOAD = "workload"
"""Name of the choice that stands for the input when there are several."""


class Program(Key):
    """A program that is built and run."""

    runtime: Literal["native", "python", "jvm", "node"] = "native"
    setup: str | None = None
    build: str | None = None
    build_timeout: Seconds = 900.0
    run: str
    stdin: str | None = None
    timeout: Seconds = 60.0
    ok_exit: tuple[int, ...] = (0,)
    parallel: bool = False
    env: dict[str, str] = Field(default_factory=dict)
    pass_env: tuple[str, ...] = ()


class TableProgram(Key):
    """Data measured elsewhere: a row per (configuration, revision)."""

    table: str
    revision: str
    metric: str


class CallableProgram(Key):
    """A simulated program: `module:function` beside the configuration file."""

    callable: str
    revisions: Annotated[int, Field(ge=2)]


class OnOff(Key):
    """Arguments of a switch when on and when off."""

    on: str = ""
    off: str = ""


class FlagOption(Key):
    """A switch: its arguments when on (and off), or an environment variable set to 1 (on) or unset."""

    flag: str | OnOff
    env: str | None = None
    default: bool = False


class ChoiceOption(Key):
    """An alternative group: level name -> arguments (or value of `env`)."""

    choice: dict[str, str]
    env: str | None = None
    default: str | None = None


class NumberOption(Key):
    """A number with the values worth measuring; `{value}` in `flag` is replaced."""

    number: tuple[int | float, ...]
    flag: str | None = None
    env: str | None = None
    default: int | float | None = None


SubjectOption: TypeAlias = FlagOption | ChoiceOption | NumberOption


class Workload(Key):
    """An input: a path in the checkout, and the command that makes it."""

    path: str
    prepare: str | None = None


class Metric(Key):
    """A metric and its rule; `regex` (one group) reads it from the program's output."""

    name: str
    regex: str | None = None
    better: Literal["lower", "higher"] = "lower"
    unit: str = ""
    threshold: Fraction | None = None


class Budget(Key):
    """Wall seconds per mode."""

    pull_request: Seconds = 300.0
    nightly: Seconds = 3600.0
    bisect: Seconds = 3600.0


class HistoryStore(Key):
    """One place where history lies."""

    store: Literal["branch", "artifact", "directory", "object"]
    ref: str | None = None
    path: str | None = None
    url: str | None = None


class Subject(Key):
    """The whole file."""

    program: Program | TableProgram | CallableProgram
    workloads: dict[str, Workload] = Field(default_factory=dict)
    options: dict[str, SubjectOption] = Field(default_factory=dict)
    files: dict[str, str] = Field(default_factory=dict)
    constraints: tuple[str, ...] = ()
    metrics: tuple[Metric, ...] = (Metric(name="cpu"),)
    threshold: Fraction = 0.01
    false_alarms: Fraction = 0.01
    budget: Budget = Budget()
    overhead: Fraction = 0.1
    history: tuple[HistoryStore, ...] = ()
    sandbox: Literal["auto", "required", "off"] = "auto"

    @property
    def space(self) -> Space:
        """Options and constraints without their rendering.

        Several workloads become one more choice named `workload`, so that a term can name an input.
        """
        options = [_option(n, o) for n, o in self.options.items()]
        if len(self.workloads) > 1:
            names = tuple(self.workloads)
            options.append(Option(WORKLOAD, "choice", names, names[0]))
        return Space(tuple(options), self.constraints)


def _option(name: str, option: SubjectOption) -> Option:
    match option:
        case FlagOption():
            return Option(name, "flag", (False, True), option.default)
        case ChoiceOption():
            names = tuple(option.choice)
            return Option(name, "choice", names, option.default if option.default is not None else names[0])
        case NumberOption():
            values: tuple[Value, ...] = tuple(sorted(option.number))
            return Option(name, "number", values, values[0] if option.default is None else option.default)
