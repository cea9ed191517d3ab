"""What `suspects check` finds out: the space, the sample a pull request would get, a build and some pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from bot.flows.ports import Bench
from bot.flows.pull_requests.flag_words import unknown_flags
from bot.flows.run.job import Job
from bot.model.invocation import Invocation, invocation
from bot.model.noise import LEAST_FOR_SCALE, Noise
from bot.model.revisions import Build
from bot.model.space import Configuration, Level, Space
from bot.model.subject import Program
from bot.model.trials import Pair, Wish
from bot.sampling.schedule import FEW, MOST, room, time_for_few

SECONDS = 600.0
"""Patience with the one pair that is run."""
AGAIN, AGAIN_SECONDS = 12, 20.0
"""Pairs more, for how far runs differ; fewer where these would take longer."""
LEVELS_SECONDS = 30.0
"""Patience with levels that are tried by themselves, and with some of the sample after them."""
MIXED = 16
"""Configurations of the sample that are tried: enough to tell which pair of levels fails."""


@dataclass(frozen=True)
class TriedLevels:
    """Each level that the default configuration has not, once: how many of how many, and why which failed."""

    tried: int
    levels: int
    failed: tuple[tuple[Level, str], ...]


@dataclass(frozen=True)
class TriedSample:
    """The first configurations of the sample without levels that fail by themselves, once each.

    failed: with the reason. worked: also what was tried before.
    """

    tried: int
    failed: tuple[tuple[Configuration, str], ...]
    worked: tuple[Configuration, ...]


@dataclass(frozen=True)
class Checked:
    """`sample`: in the order a pull request would take it. `pair`: of the default configuration, when it ran.

    count: how many configurations of the sample the pull-request budget holds, from the pair's seconds.
    wanted: seconds of a budget that holds enough of them to tell options apart; None: this one does.
    noise: how far its runs differ; None: it was not run again. alone, mixed: None: levels, or some
    of the sample, were not tried.
    """

    sample: tuple[Configuration, ...]
    builds: tuple[Build, ...]
    pair: Pair | None
    command: Invocation | None
    count: int | None
    notes: tuple[str, ...]
    wanted: float | None = None
    noise: Noise | None = None
    alone: TriedLevels | None = None
    mixed: TriedSample | None = None


def check_flow(job: Job) -> Checked:
    """Builds (both sides of `job.comparison`, usually the same commit twice) and runs one pair."""
    sample = tuple(job.sampler(MOST))
    program = job.subject.program if isinstance(job.subject.program, Program) else None
    command = None if program is None else invocation(job.subject, sample[0])
    builds: tuple[Build, ...] = ()
    if job.workshop is not None:
        job.progress.stage("building")
        builds = tuple(job.workshop.build(job.comparison).values())
        if not all(b.ok for b in builds):
            return Checked(sample, builds, None, command, None, (*job.notes, *job.workshop.notes()))
    job.progress.stage("running one pair of trials")
    bench = job.open_bench(SECONDS)
    wish = Wish(bench.served(sample[0]), track="wall" if program is not None and program.parallel else "duet")
    pair = next(iter(bench.measure(iter([wish]))), None)
    count = wanted = noise = alone = mixed = None
    if pair is not None and pair.ok and pair.seconds > 0:
        count = min(len(sample), room(pair.seconds, bench.slots, job.budget))
        wanted = time_for_few(pair.seconds, bench.slots) if count < min(FEW, len(sample)) else None
        if program is not None:
            noise = _noise(job, bench, wish, pair.seconds)
            alone, worked = _alone(job, bench, wish)
            broken = [level for level, _ in alone.failed] if alone else []
            mixed = _mixed(job, bench, wish, _without(broken, sample, job.subject.space), worked)
    built = job.workshop.notes() if job.workshop else ()
    if job.unmentioned is not None and pair is not None and pair.ok:
        built = (*built, *unknown_flags(job.subject, job.unmentioned))
    return Checked(
        sample,
        builds,
        pair,
        command,
        count,
        (*job.notes, *built, *bench.notes()),
        wanted,
        noise,
        alone,
        mixed,
    )


def _noise(job: Job, bench: Bench, wish: Wish, seconds: float) -> Noise | None:
    """How far the runs of one configuration differ, of both sides together."""
    times = min(AGAIN, int(AGAIN_SECONDS * bench.slots / seconds))
    if times < LEAST_FOR_SCALE:
        return None
    job.progress.stage("running it again: how far do its runs differ")
    metric = "wall" if wish.track == "wall" else "cpu"
    pairs = bench.measure(iter([wish] * times))
    return Noise.of_pairs(metric, [pair.log_ratio(metric) for pair in pairs if pair.ok])


def _alone(job: Job, bench: Bench, wish: Wish) -> tuple[TriedLevels | None, list[Configuration]]:
    """Tries each level that the default configuration has not, with as little else as constraints allow.

    A flag that the program does not know would fail half of a pull request's trials. Also: what worked.
    """
    space, default = job.subject.space, wish.configuration
    wanted: dict[Configuration, Level] = {}
    for level in space.levels:
        if not space.holds(level, default) and (found := job.solver.complete([level], near=default)):
            wanted.setdefault(found, level)
    if not wanted:
        return None, [default]
    job.progress.stage("trying each option by itself")
    pairs = _tried(bench, wish, wanted)
    failed = [(wanted[pair.wish.configuration], pair.reason) for pair in pairs if not pair.ok]
    worked = [default, *(pair.wish.configuration for pair in pairs if pair.ok)]
    return TriedLevels(len(pairs), len(wanted), tuple(failed)), worked


def _mixed(
    job: Job, bench: Bench, wish: Wish, sample: Sequence[Configuration], worked: Sequence[Configuration]
) -> TriedSample | None:
    """Tries the beginning of the sample: options that work by themselves may exclude each other."""
    wanted = [c for c in map(bench.served, sample) if c not in worked][:MIXED]
    if not wanted:
        return None
    job.progress.stage("trying some of the sample")
    pairs = _tried(bench, wish, wanted)
    failed = [(pair.wish.configuration, pair.reason) for pair in pairs if not pair.ok]
    return TriedSample(
        len(pairs), tuple(failed), (*worked, *(pair.wish.configuration for pair in pairs if pair.ok))
    )


def _without(broken: Sequence[Level], sample: Iterable[Configuration], space: Space) -> list[Configuration]:
    """Configurations without a level that fails by itself: of others it would hide the failures."""
    return [c for c in sample if not any(space.holds(level, c) for level in broken)]


def _tried(bench: Bench, wish: Wish, wanted: Iterable[Configuration]) -> list[Pair]:
    """One pair of each, as far as patience goes."""
    end = bench.elapsed() + LEVELS_SECONDS
    wishes = (replace(wish, configuration=configuration) for configuration in wanted)
    pairs = bench.measure(takewhile(lambda _: bench.elapsed() < end, wishes))
    return [pair for pair in pairs if pair.ok or not pair.cut]
