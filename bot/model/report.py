"""The report of a run, as it is written to report.json (the contract's field names)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from bot.model.noise import Noise
from bot.model.report_assertions import AssertionOutcome, ProposedAssertions
from bot.model.report_methods import ComparedProfile, MethodSuspect
from bot.model.report_part import Part
from bot.model.report_resources import CountedResources, ResourceSuspect
from bot.model.trials import untried

OptionValue: TypeAlias = bool | int | float | str
Verdict: TypeAlias = Literal["regression", "improvement", "mixed", "none", "inconclusive"]
State: TypeAlias = Literal["slower", "faster", "same", "unclear", "failed"]
Interval: TypeAlias = tuple[float, float]
Unit: TypeAlias = Literal["seconds", "ratio", "instructions", "metric"]
"""Of a series' values; ratio: to the same configuration at the anchor; metric: a table's own."""
LEAST_FAILED_PAIRS = 4
"""Pairs in which head alone failed, from which on that is told as its own fault. Arbitrary."""
_REPOSITORY = r"^(https://[A-Za-z0-9.-]+(:[0-9]+)?/[A-Za-z0-9._-]+/[A-Za-z0-9._-]+)?$"


class RevisionRef(Part):
    """A revision's full id and its label for people."""

    revision: str
    label: str


class Acceptance(Part):
    """People live with a change, by the accepted file or a label. until: an entry's last day, YYYY-MM-DD."""

    source: Literal["file", "label"]
    until: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")] | None = None
    reason: Annotated[str, Field(max_length=300)] = ""


class Effect(Part):
    """A change of a metric in the configurations where a term holds; ratio = head / base.

    `probability`: that this term carries the change. `prior`: before this run, from history (null: none).
    `significant`: alarmed within the pull request's error rate. `relevant`: beyond the margin. `accepted`: no
    alarm, people decided so. `base_ratio`: by which base is worse there already. `spared`: terms it misses.
    """

    metric: str
    term: tuple[str, ...]
    aliases: tuple[tuple[str, ...], ...] = ()
    ratio: float
    interval: Interval
    probability: float
    prior: float | None = None
    significant: bool
    relevant: bool
    accepted: Acceptance | None = None
    base_ratio: float | None = None
    spared: tuple[tuple[str, ...], ...] = ()


class ConfigurationChange(Part):
    """What its pairs say, the default one's first; `failed_sides`: whose trials failed, in whatever pair."""

    options: dict[str, OptionValue]
    default: bool = False
    metric: str
    ratio: float | None
    interval: Interval | None
    pairs: int
    failed_pairs: int = 0
    failed_sides: tuple[Literal["base", "head"], ...] = ()
    failure: str = ""
    state: State


class Suspects(Part):
    """Who is blamed: options first, then methods and resource features."""

    options: tuple[Effect, ...] = ()
    methods: tuple[MethodSuspect, ...] = ()
    resources: tuple[ResourceSuspect, ...] = ()


class ChangePoint(Part):
    """A revision where the performance of a term moved; ratio = from it on / before it, with a 90 % interval.

    interval: the first and last revision it may be. label and subject (of its commit): for people.
    before: the last revision that lies before the interval. places: where the revision and its interval's
    ends lie in the range, from 0. shape: step; transient (start or end of an episode that passed).
    accepted, spared: as of an effect.
    """

    revision: str
    label: str = ""
    subject: str = ""
    interval: tuple[str, str]
    interval_labels: tuple[str, str] = ("", "")
    before: RevisionRef | None = None
    places: tuple[int, int, int] | None = None
    term: tuple[str, ...]
    aliases: tuple[tuple[str, ...], ...] = ()
    metric: str
    ratio: float
    ratio_interval: Interval | None = None
    probability: float
    shape: Literal["step", "transient"] = "step"
    accepted: Acceptance | None = None
    spared: tuple[tuple[str, ...], ...] = ()


class Point(Part):
    """Median value of a configuration's trials at a revision; place: the revision's in its range."""

    revision: str
    place: int
    value: float
    trials: int


class Series(Part):
    """A configuration's values over the revisions of a range (seconds, ratios to the anchor, or counts).

    failed: places of the revisions where it was tried and gave no value (unbuilt, or every trial failed).
    """

    options: dict[str, OptionValue]
    default: bool = False
    points: tuple[Point, ...]
    failed: tuple[int, ...] = ()
    unit: Unit = "seconds"


class Listed(Part):
    """What a night tells in sentences: what it learnt, what is still unclear, what tomorrow would do."""

    kind: Literal["learnt", "unclear", "tomorrow"]
    items: tuple[Annotated[str, Field(max_length=4000)], ...]


class Influence(Part):
    """How much a term adds to the mean cost of a method (without callees) or, with null, of the system.

    Of one level against the same configurations without it; of two, beyond the sum of both; of none: the mean
    cost itself. influence and its 90 % interval: in `quantity`. share: of the system's influence of the same
    term; of the system: of its mean cost. error: mean relative error of the model on a held-out random
    probe; noise_floor: what a perfect model would show there (null: nothing was repeated). curve: of a level
    of a number, its values (a dozen at most) with the mean cost at each, all else as it comes.
    """

    method: str | None
    term: tuple[str, ...]
    influence: float
    interval: Interval
    share: float
    error: float
    noise_floor: float | None
    quantity: Literal["seconds", "instructions", "calls", "metric"] = "seconds"
    curve: tuple[tuple[float, float], ...] = ()


class VisibleOption(Part):
    """The smallest slow-down (as a ratio minus one) this run could have seen on an option; null: none."""

    option: str
    slow_down: float | None


class Visible(Part):
    """What this run could have seen and what it did not exercise."""

    options: tuple[VisibleOption, ...] = ()
    everything: float | None = None
    levels_not_exercised: tuple[str, ...] = ()
    pairs_not_exercised: tuple[tuple[str, str], ...] = ()
    pairs_not_exercised_count: int = 0


class Spent(Part):
    """What the run cost; earlier: values of an earlier run that were not measured again."""

    seconds: float = 0.0
    build_seconds: float = 0.0
    trials: int = 0
    pairs: int = 0
    builds: int = 0
    failed_trials: int = 0
    earlier: int = 0
    budget_seconds: float | None = None

    @classmethod
    def together(cls, each: Sequence[Spent]) -> Spent:
        """Of machines that worked at the same time: their builds took as long as the longest."""
        return cls(
            seconds=sum(one.seconds for one in each),
            build_seconds=max((one.build_seconds for one in each), default=0.0),
            trials=sum(one.trials for one in each),
            pairs=sum(one.pairs for one in each),
            builds=sum(one.builds for one in each),
            failed_trials=sum(one.failed_trials for one in each),
        )


class Environment(Part):
    """The machine the run was measured on and its noise."""

    cpu: str = ""
    cores: int = 0
    kernel: str = ""
    image: str = ""
    tools: dict[str, str] = Field(default_factory=dict)
    load: tuple[float, float] | None = None
    noise: tuple[Noise, ...] = ()

    def noise_of(self, metric: str) -> Noise | None:
        """This run's noise in a metric; None: it was not looked at."""
        return next((noise for noise in self.noise if noise.metric == metric), None)


class History(Part):
    """Where the history came from, how much it holds and how old it is."""

    source: str | None = None
    measurements: int = 0
    newest: str | None = None
    age_days: float | None = None


class BuildFailure(Part):
    """A side that could not be built: the step, one sentence, and the last lines of its log."""

    side: Literal["base", "head"]
    step: str
    reason: str
    log: str = ""


class Reproduction(Part):
    """Exact shell commands that repeat a flagged configuration's measurement."""

    options: dict[str, OptionValue]
    commands: tuple[str, ...]


class Report(Part):
    """Everything a run found; every field is always present."""

    version: Literal[1] = 1
    mode: Literal["pull_request", "nightly", "bisect"]
    subject: str = ""
    config: str = Field("", max_length=4000)  # the file that was given, when it was
    overlay_from: str = ""  # the revision whose inputs all others got, where some have others
    repository: str = Field("", max_length=300, pattern=_REPOSITORY)  # its address, where people read files
    verdict: Verdict
    interrupted: Literal["", "budget", "signal"] = ""
    base: RevisionRef | None
    head: RevisionRef | None
    primary_metric: str = "cpu"
    higher_is_better: tuple[str, ...] = ()
    threshold: float = 0.01
    false_alarms: float = 0.01
    effects: tuple[Effect, ...] = ()
    configurations: tuple[ConfigurationChange, ...] = ()
    suspects: Suspects = Suspects()
    profiles: tuple[ComparedProfile, ...] = ()
    resources: tuple[CountedResources, ...] = ()
    assertions: tuple[AssertionOutcome, ...] = ()
    proposed_assertions: ProposedAssertions = ProposedAssertions()
    change_points: tuple[ChangePoint, ...] = ()
    series: tuple[Series, ...] = ()
    revisions: int = 0  # in the range that was searched
    lists: tuple[Listed, ...] = ()
    influences: tuple[Influence, ...] = ()
    visible: Visible = Visible()
    spent: Spent = Spent()
    environment: Environment = Environment()
    history: History = History()
    build_failures: tuple[BuildFailure, ...] = ()
    reproduce: tuple[Reproduction, ...] = ()
    notes: tuple[Annotated[str, Field(max_length=4000)], ...] = ()

    @property
    def broken_at_head(self) -> tuple[ConfigurationChange, ...]:
        """Configurations in which head always failed and base did not; none when that may be chance."""
        primary = (c for c in self.configurations if c.metric == self.primary_metric)
        found = tuple(c for c in primary if c.state == "failed" and c.failed_sides == ("head",))
        return found if sum(c.failed_pairs for c in found) >= LEAST_FAILED_PAIRS else ()

    @property
    def measured(self) -> bool:
        """Whether a pair was completed (of a range: a trial, now or before; of a night: beside its tip's)."""
        tried = self.spent.trials > self.spent.failed_trials or bool(self.series)
        return not untried(self.notes) and (self.spent.pairs > 0 or (self.mode != "pull_request" and tried))
