"""The night of `--estimator published`: its methods and influences are those of the published pipeline."""

from __future__ import annotations

import zlib
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from bot.compose.estimators import estimator
from bot.compose.nights import AskedNight, Remembered
from bot.flows.influences.known_costs import durations_of
from bot.flows.influences.profiles import PAIRED
from bot.flows.nights.job import NightJob
from bot.flows.published.teaching import REPETITIONS, PublishedTeaching, remaining
from bot.model.space import Configuration
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.published.influences import influence_sample


def with_estimator(
    asked: AskedNight,
    remembered: Remembered,
    job: NightJob,
    *,
    candidates: Collection[Configuration] | None = None,
) -> NightJob:
    """The same job, which learns by the estimator that is asked for.

    The sample is the tip's: a later night at the same tip goes on with them.
    Without methods the sample's trials are repeated instead. candidates: all that can be measured; None:
    anything valid.

    Raises:
        UsageError: there is no such estimator.
    """
    if estimator(asked.estimator) == "ours" or job.teaching is None:
        return job
    ours, space, tip = job.teaching, job.subject.space, job.revisions[-1].id
    sampling = np.random.default_rng([asked.seed, zlib.crc32(tip.encode())])
    # Pairs of more options take too long to cover, as in our own nights.
    many = len(space.options) >= PAIRED.stop
    design = influence_sample(
        space, ConstraintSolver(space), "feature-wise" if many else "both", rng=sampling
    )
    measurable = [c for c in design if candidates is None or c in candidates]
    teaching = PublishedTeaching(
        replace(ours.known, durations=durations_of(remembered.store, job.subject)),
        ours.rng,
        profiler=ours.profiler,
        watcher=ours.watcher,
        wanted=lambda _: remaining(design, space, ours.known.profiles, tip),
        seconds=ours.seconds,
        begins=ours.begins,
        ends=ours.ends,
        sample=[c for c in measurable for _ in range(REPETITIONS)] if ours.profiler is None else (),
        workers=ours.workers,
        design=design,
        tip=tip,
    )
    return replace(job, teaching=teaching)
