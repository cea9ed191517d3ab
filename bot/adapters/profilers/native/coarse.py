"""The coarse profile of a native program: callgrind's counts, and shares of time from a second trial."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from bot.adapters.profilers.native.callgrind import Callgrind
from bot.adapters.profilers.native.sampling import FEW_SAMPLES, Gperftools, Perf, too_few
from bot.model.profiles import Method, MethodCost, Profile, Target, Tool

ENOUGH_SAMPLES, ENOUGH_SECONDS, MOST_ROUNDS = 1000, 1.0, 20
"""A trial is sampled again until there are so many samples (a share of 10 % is right to 1 %) of so many CPU
seconds (what a trial does else than the next one shows between trials only), or so often."""
SAMPLING_SHARE = 0.3
"""Of a profile's seconds; then no sampled trial is begun."""
CALLGRIND_STARTS, CALLGRIND_SLOWDOWN = 2.0, 30.0
"""Seconds, and a factor on the trial's CPU seconds, that callgrind seldom needs more of."""
COUNTING_SHARE = 0.9
"""Of the seconds that are left: then callgrind is stopped, so that what was sampled is not lost with it."""


class Coarse:
    """Fits the port `Profiler`: callgrind, and the first of perf and gperftools that can run."""

    def __init__(self) -> None:
        self._counting = Callgrind()
        self._sampling = (Perf(), Gperftools())
        self._counted_before: dict[tuple[str, ...], bool] = {}

    @property
    def tool(self) -> Tool:
        """Callgrind with perf; a profile's own says which sampler it was."""
        return _both(self._counting.tool, self._sampling[0].tool)

    def missing(self, target: Target) -> Sequence[str]:
        """Nothing, unless neither instructions nor time can be had."""
        if not (uncounted := self._counting.missing(target)):
            return ()
        lacking = [sampler.missing(target) for sampler in self._sampling]
        return [note for notes in (*lacking, uncounted) for note in notes] if all(lacking) else ()

    def profile(self, target: Target, methods: Sequence[Method] = ()) -> Profile:
        """A few trials under a sampler, then one under callgrind; what one cannot do is left to the other.

        Callgrind is left out when it would take longer than is left of the target's seconds.
        """
        del methods
        began = time.monotonic()
        notes: list[str] = []
        sampled: Sequence[Profile] = ()
        for sampler in self._sampling:
            if not (lacking := sampler.missing(target)):
                sampled = _sampled(sampler, target)
                break
            notes += lacking
        left = target.seconds - (time.monotonic() - began)
        counts = self._counted(target, min(map(_of_the_program, sampled), default=0.0), left, notes)
        times = _joined(sampled) if sampled else None
        if counts is None and times is None:
            return Profile(self.tool, "not-started", 0.0, notes=tuple(notes))
        profile = merge(counts, times) if counts and times else counts or times
        assert profile is not None
        return replace(profile, notes=tuple(dict.fromkeys((*notes, *profile.notes))))

    def _counted(self, target: Target, trial: float, left: float, notes: list[str]) -> Profile | None:
        """A trial, which takes `trial` seconds, under callgrind, if that can run and be finished in time.

        Once a command was not counted it is not any more: those with and without counts cannot be compared.
        """
        if lacking := self._counting.missing(target):
            notes += lacking
            return None
        wanted = CALLGRIND_STARTS + CALLGRIND_SLOWDOWN * trial
        command = tuple(word.replace(str(target.fresh or target.scratch), "") for word in target.words)
        first = command not in self._counted_before
        if not self._counted_before.setdefault(command, not trial or wanted <= left):
            if first or wanted > left:  # else an earlier profile said why
                notes.append(
                    f"Calls and instructions are not counted: callgrind may take {wanted:.0f} s, and "
                    f"{max(left, 0.0):.0f} s of the budget are left for it."
                )
            return None
        until = time.monotonic() + COUNTING_SHARE * left
        late = replace(target, stop=lambda: target.over or time.monotonic() > until)
        counts = self._counting.profile(late)
        stopped = target.over or time.monotonic() > until
        if counts.outcome == "ok" or not trial or not stopped:
            return counts
        self._counted_before[command] = False
        notes.append(
            "Calls and instructions are not counted: callgrind did not end within the "
            f"{COUNTING_SHARE * left:.0f} s of the budget that were left for it."
        )
        return None


def pool(profiles: Sequence[Profile]) -> Profile:
    """One profile from several of a sampler: each sample counts the same; seconds are those of one trial."""
    samples = sum(profile.samples or 0 for profile in profiles)
    seconds: dict[Method, float] = defaultdict(float)
    counts: dict[Method, float] = defaultdict(float)
    for profile in profiles:
        for method, cost in profile.methods.items():
            counts[method] += cost.self_share * (profile.samples or 0)
            seconds[method] += cost.self_seconds or 0.0
    return replace(
        profiles[-1],
        seconds=sum(profile.seconds for profile in profiles) / len(profiles),
        methods={
            m: MethodCost(n / samples, self_seconds=seconds[m] / len(profiles)) for m, n in counts.items()
        },
        samples=samples,
    )


def _sampled(sampler: Perf | Gperftools, target: Target) -> Sequence[Profile]:
    """Trials until there are enough samples, while they go well."""
    profiles: list[Profile] = []
    until = time.monotonic() + SAMPLING_SHARE * target.seconds
    while len(profiles) < MOST_ROUNDS and not _enough(profiles):
        if profiles and time.monotonic() > until:
            break
        profiles.append(sampler.profile(target))
        if profiles[-1].outcome != "ok" or not profiles[-1].samples:
            break
    return profiles


def _of_the_program(profile: Profile) -> float:
    """CPU seconds of a sampled trial without those that the sampler itself takes: perf's start is 0.1 s."""
    return min(profile.seconds, sum(cost.self_seconds or 0.0 for cost in profile.methods.values()))


def _enough(profiles: Sequence[Profile]) -> bool:
    samples = sum(profile.samples or 0 for profile in profiles)
    return samples >= ENOUGH_SAMPLES and sum(profile.seconds for profile in profiles) >= ENOUGH_SECONDS


def _joined(profiles: Sequence[Profile]) -> Profile:
    if len(profiles) == 1:
        return profiles[0]
    pooled = pool(profiles)
    few = too_few(pooled)
    notes = [note for profile in profiles for note in profile.notes if note not in too_few(profile)]
    return replace(pooled, notes=tuple(dict.fromkeys((*notes, *few))))


def merge(counts: Profile, times: Profile) -> Profile:
    """One profile: calls, instructions and edges of the first, shares and seconds of the second.

    `seconds` is that of a counted and a sampled trial together. With too few samples the shares stay those of
    instructions. Counts of a trial that failed under callgrind alone are left out: they end somewhere.
    """
    if counts.outcome != "ok" and times.outcome == "ok" and times.samples:
        counts = replace(counts, methods={}, edges={})
    timed = (times.samples or 0) >= FEW_SAMPLES
    outcome = times.outcome if counts.outcome == "ok" or not counts.methods else counts.outcome
    notes = [*counts.notes, *times.notes]
    if outcome == "ok" and counts.methods and not timed:
        notes.append("Shares of methods are shares of instructions, not of time.")
    costs = {}
    for method in counts.methods.keys() | times.methods.keys():
        counted = counts.methods.get(method, MethodCost(0.0))
        time = times.methods.get(method, MethodCost(0.0, self_seconds=0.0))
        share = time.self_share if timed or not counts.methods else counted.self_share
        seconds = time.self_seconds if times.samples else None
        costs[method] = replace(counted, self_share=share, self_seconds=seconds)
    return Profile(
        _both(counts.tool, times.tool),
        outcome,
        counts.seconds + times.seconds,
        costs,
        counts.edges,
        samples=times.samples,
        notes=tuple(dict.fromkeys(notes)),
    )


def _both(counts: Tool, times: Tool) -> Tool:
    return Tool(
        f"{counts.name} + {times.name}",
        f"{counts.version} + {times.version}",
        "coarse",
        counts.quantities | times.quantities,
        slowdown=counts.slowdown + times.slowdown,
        blind=(*counts.blind[:1], *times.blind),
    )
