"""The subject program's file, `.github/suspects.yml`, as frozen models (the contract's key names)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, StrictBool, StrictInt, Tag

from bot.model.names import Command, LevelName, Name, Variable
from bot.model.quantities import Fraction, Number, Seconds, Text
from bot.model.space import Option, Space, Value
from bot.model.subject_running import Analysis, Budget, HistoryStore, Key, RunOn

WORKLOAD = "workload"
"""Name of the choice that stands for the input when there are several."""


class Server(Key):
    """A server that each trial starts, waits for, and stops after its client (`run`) has ended."""

    start: Command
    """Shell command of the server. Placeholders: {port}, {options}, {workload}, {scratch}."""
    ready: Command | None = None
    """Shell command that succeeds once it serves; without: its port takes connections."""
    measure: Literal["server", "client"] = "server"
    """Whose CPU time, memory and faults are measured; wall time is the client's."""


class Program(Key):
    """A program that is built and run."""

    runtime: Literal["native", "python", "jvm", "node"] = "native"
    """How methods are profiled."""
    setup: Command | None = None
    """Shell command, once per machine or image."""
    build: Command | None = None
    """Shell command, once per revision, in a fresh checkout."""
    build_timeout: Seconds = 900.0
    """Time limit of one build."""
    run: Command
    """One trial, split into words without a shell. Placeholders: {options}, {workload}, {scratch}."""
    stdin: str | None = None
    """The workload that is fed to standard input: its name, its path, or {workload} for the current one."""
    timeout: Seconds = 60.0
    """Time limit of one trial alone; doubled while two share a core."""
    ok_exit: Annotated[tuple[Annotated[StrictInt, Field(ge=0, le=255)], ...], Field(min_length=1)] = (0,)
    """Exit codes that mean success."""
    parallel: StrictBool = False
    """Wall time is the primary metric (threads, I/O, waiting)."""
    env: dict[Variable, Text] = Field(default_factory=dict)
    """Environment variables of every build and trial."""
    pass_env: tuple[Variable, ...] = ()
    """Variables taken over from the runner's environment."""
    network: tuple[Literal["setup", "build"], ...] = ("setup",)
    """What may use the network; trials never do."""
    cache: tuple[Command, ...] = ()
    """Folders kept between builds: ~/... (the build's home), or in the checkout."""
    server: Server | None = None
    """A server, whose client `run` is."""
    submodules: StrictBool = False
    """Whether the checkout's submodules are needed; they are taken from the clone."""
    writable: tuple[Command, ...] = ()
    """Folders of the machine that builds and trials may write, too: /tmp, if TMPDIR does not help."""


MINUTE = 60.0
"""A table whose median trial takes longer, as its values say, holds something else than seconds."""


class TableProgram(Key):
    """Data measured elsewhere: a row per (configuration, revision)."""

    table: Command
    """CSV file beside the configuration file."""
    revision: Command
    """Column of the revision."""
    metric: Command
    """Column of the measured value; empty = failed trial."""

    def unit(self, middle: float) -> Literal["seconds", "instructions", "metric"]:
        """What its values are, as far as their name and median tell; metric: neither, or nobody knows."""
        if self.metric == "instructions":
            return "instructions"
        return "seconds" if middle <= MINUTE else "metric"


class CallableProgram(Key):
    """A simulated program: `module:function` beside the configuration file."""

    callable: Annotated[str, Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")]
    """module:function, called with a revision and an array of configurations."""
    revisions: Annotated[StrictInt, Field(ge=2)]
    """Number of revisions: 0, 1, ..."""


class OnOff(Key):
    """Texts of a switch when on and when off."""

    on: Text = ""
    """Text when on."""
    off: Text = ""
    """Text when off."""


class FlagOption(Key):
    """A switch: its arguments when on (and off), or with `env` that variable's values (empty text: unset)."""

    flag: Text | OnOff
    """Arguments when on, or {on: ..., off: ...}."""
    env: Variable | None = None
    """Environment variable that gets the text instead of the command line."""
    default: StrictBool = False
    """Whether the switch is on by default."""


def _named_levels(value: object) -> object:
    # A list of names: each renders as itself.
    return {name: name for name in value} if isinstance(value, (list, tuple)) else value


class ChoiceOption(Key):
    """An alternative group: level name -> arguments (or value of `env`)."""

    choice: Annotated[
        dict[LevelName, Text],
        Field(min_length=1),
        BeforeValidator(
            _named_levels,
            json_schema_input_type=Annotated[dict[LevelName, Text], Field(min_length=1)]
            | Annotated[list[LevelName], Field(min_length=1)],
        ),
    ]
    """Name -> arguments; a list of names when each name is its own argument."""
    env: Variable | None = None
    """Environment variable that gets the text instead of the command line."""
    default: LevelName | None = None
    """Name of the default; the first one when absent."""


class NumberOption(Key):
    """A number with the values worth measuring; `{value}` in `flag` is replaced."""

    number: Annotated[tuple[Number, ...], Field(min_length=1)]
    """Values worth measuring."""
    flag: str | None = None
    """Arguments, with {value}."""
    env: Variable | None = None
    """Environment variable that gets the text (the value alone without `flag`)."""
    default: Number | None = None
    """Default value; the smallest one when absent."""


def _kind(value: object) -> str | None:
    if isinstance(value, Mapping):
        # A number also has `flag`: the distinguishing key goes first.
        return next((f"<{k}>" for k in ("choice", "number", "flag") if k in value), None)
    kinds = ((FlagOption, "<flag>"), (ChoiceOption, "<choice>"), (NumberOption, "<number>"))
    return next((tag for model, tag in kinds if isinstance(value, model)), None)


def _sort(value: object) -> str | None:
    if isinstance(value, Mapping):
        return next((f"<{k}>" for k in ("table", "callable") if k in value), "<run>")
    sorts = ((Program, "<run>"), (TableProgram, "<table>"), (CallableProgram, "<callable>"))
    return next((tag for model, tag in sorts if isinstance(value, model)), None)


# Tags in brackets cannot be keys of the file: the reader drops them from the places of errors.
SubjectOption: TypeAlias = Annotated[
    Annotated[FlagOption, Tag("<flag>")]
    | Annotated[ChoiceOption, Tag("<choice>")]
    | Annotated[NumberOption, Tag("<number>")],
    Discriminator(_kind),
]
AnyProgram: TypeAlias = Annotated[
    Annotated[Program, Tag("<run>")]
    | Annotated[TableProgram, Tag("<table>")]
    | Annotated[CallableProgram, Tag("<callable>")],
    Discriminator(_sort),
]


class Workload(Key):
    """An input: a path in the checkout, and the command that makes it."""

    path: Command
    """File, relative to the checkout."""
    prepare: Command | None = None
    """Shell command that makes the file."""


class MetricRule(Key):
    """How a metric is read and judged; `regex` (one group) reads it from the program's output."""

    regex: Command | None = None
    """Regular expression with exactly one group, searched in the program's output."""
    better: Literal["lower", "higher"] = "lower"
    """Which direction is good."""
    unit: str = ""
    """Unit, for people."""
    threshold: Fraction | None = None
    """This metric's own margin."""


class Metric(MetricRule):
    """A metric and its rule."""

    name: Name
    """cpu, wall, max_rss, instructions, or a name of one's own (with `regex`)."""


def _named_rule(value: object) -> object:
    # `cpu` and `{throughput: {regex: ...}}` as people write them; models pass through.
    if isinstance(value, str):
        return {"name": value}
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, rule),) = value.items()
        if rule is None or (isinstance(rule, Mapping) and "name" not in rule):
            return {"name": name, **(rule or {})}
    if isinstance(value, MetricRule):
        return value
    raise ValueError("a name or {name: {regex: ..., better: ..., unit: ..., threshold: ...}} is needed")


MetricEntry: TypeAlias = Annotated[
    Metric,
    BeforeValidator(
        _named_rule,
        json_schema_input_type=Name
        | Annotated[dict[Name, MetricRule | None], Field(min_length=1, max_length=1)],
    ),
]


class Subject(Key):
    """The whole file."""

    program: AnyProgram
    """What is measured: a program that is built and run, a table, or a Python function."""
    overlay: tuple[Command, ...] = ()
    """Folders taken from head for both sides: benchmark scripts and inputs."""
    workloads: dict[LevelName, Workload] = Field(default_factory=dict)
    """Inputs by name; several become one more choice named `workload`."""
    options: dict[Name, SubjectOption] = Field(default_factory=dict)
    """Options by name."""
    files: dict[Command, Command] = Field(default_factory=dict)
    """Configuration files rendered for each configuration: path -> template (sandboxed jinja2)."""
    constraints: tuple[str, ...] = ()
    """Sentences over options that every configuration must satisfy."""
    metrics: Annotated[tuple[MetricEntry, ...], Field(min_length=1)] = (Metric(name="cpu"),)
    """What is measured."""
    threshold: Fraction = 0.01
    """The margin: smaller changes are not worth a reader's time."""
    false_alarms: Fraction = 0.01
    """Chance of a false alarm per pull request, over all tests made in it."""
    budget: Budget = Budget()
    """Time per mode."""
    overhead: Fraction = 0.1
    """Target of fine profiling."""
    history: tuple[HistoryStore, ...] = ()
    """Where history is read from, in order."""
    sandbox: Literal["auto", "required", "off"] = "auto"
    """Whether missing isolation is tolerated, an error, or unwanted."""
    analysis: Analysis = Analysis()
    """How the analyses are computed."""
    run_on: RunOn = RunOn()
    """Which pull requests are measured."""

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


def _option(name: str, option: FlagOption | ChoiceOption | NumberOption) -> Option:
    match option:
        case FlagOption():
            return Option(name, "flag", (False, True), option.default)
        case ChoiceOption():
            names = tuple(option.choice)
            return Option(name, "choice", names, option.default if option.default is not None else names[0])
        case NumberOption():
            values: tuple[Value, ...] = tuple(sorted(option.number))
            return Option(name, "number", values, values[0] if option.default is None else option.default)
