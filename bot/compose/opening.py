"""Opens what runs a comparison's trials: benches, profiles, a build of head without a change."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from bot.adapters.builds.mentions import unmentioned
from bot.adapters.builds.workshop import Workshop
from bot.adapters.profilers.sources import extent_at
from bot.adapters.repositories.git import Repository
from bot.adapters.repositories.partial_revert import without
from bot.adapters.resources.counting import SiteCounter
from bot.adapters.trials.bench import PairBench
from bot.adapters.trials.config_files import ConfigFiles
from bot.adapters.trials.site_targets import SiteTargets
from bot.adapters.trials.starting import Place
from bot.compose.runs import Run
from bot.flows.ports import Bench, ProfileBench, ResourceBench
from bot.model.profiles import Method
from bot.model.revisions import Comparison
from bot.model.sites import Account
from bot.model.subject import Subject
from bot.model.trials import Side

BUILDING_SHARE = 0.7
"""Of the seconds that proving may take, building may take this much."""


@dataclass(frozen=True)
class Opener:
    """A comparison's workshops; what is opened is closed with the run."""

    repository: Repository
    subject: Subject
    comparison: Comparison
    run: Run
    accounts: Mapping[Side, Account | None]
    cache: Path
    passed: Mapping[str, str]
    own_path: str
    """The PATH of who started us."""

    @cached_property
    def workshop(self) -> Workshop:
        """Builds base and head."""
        return self._workshop(self.run.stop.is_set)

    @cached_property
    def place(self) -> Place | None:
        """Lays out configuration files; None: the subject has none."""
        workshop = self.workshop
        if not self.subject.files:
            return None
        return ConfigFiles(self.subject.files, workshop.sites(), workshop.scratch).place

    def bench(self, seconds: float, rng: np.random.Generator) -> PairBench:
        """Pairs of base and head."""
        return self._bench(self.workshop, seconds, rng=rng, place=self.place)

    def profiles(self) -> ProfileBench:
        """Profiles of base and head."""
        # Many parsers, for those whose methods are asked for.
        from bot.adapters.profilers.profiling import SiteProfiler

        return SiteProfiler(self._targets())

    def resources(self) -> ResourceBench:
        """Counts of what base and head ask of the machine."""
        return SiteCounter(self._targets())

    def unmentioned(self, words: Collection[str]) -> Collection[str]:
        """Those of some words that no file of head has."""
        try:
            return unmentioned(self.workshop.sites()["head"].root, words)
        except OSError:  # what cannot be read may have them
            return ()

    def _targets(self) -> SiteTargets:
        """Single trials of base and head."""
        return SiteTargets(
            self.subject,
            self.workshop.sites(),
            scratch=self.workshop.scratch,
            stop=self.run.stop.is_set,
            pass_env=self.passed,
            place=self.place,
        )

    def reverted(
        self, method: Method, seconds: float, *, rng: np.random.Generator
    ) -> tuple[Bench | None, str]:
        """Pairs of head without the change of a method (as base) and head; None, and why: there are none."""
        lines = extent_at(self.workshop.sites()["head"], method)
        try:
            revision = without(self.repository, self.comparison, method.file or "", lines)
        except OSError as error:
            return None, f"The change of `{method.name}` could not be reverted alone: {error}."
        if revision is None:
            return None, f"No change inside of `{method.name}` alone can be reverted: its part is not proven."
        began = time.monotonic()

        def late() -> bool:
            return self.run.stop.is_set() or time.monotonic() > began + BUILDING_SHARE * seconds

        workshop = self._workshop(late)
        builds = workshop.build(Comparison(revision, self.comparison.head), trusted=False)
        if not all(build.ok for build in builds.values()):
            if late():
                return None, f"There was no time to build head without the change of `{method.name}`."
            return None, f"Head without the change of `{method.name}` does not build, so it proves nothing."
        left = seconds - (time.monotonic() - began)
        files = self.subject.files
        place = ConfigFiles(files, workshop.sites(), workshop.scratch).place if files else None
        return self._bench(workshop, left, rng=rng, place=place), ""

    def _workshop(self, stop: Callable[[], bool]) -> Workshop:
        return self.run.stack.enter_context(
            Workshop(
                self.repository,
                self.subject,
                accounts=self.accounts,
                cache=self.cache,
                passed=self.passed,
                own_path=self.own_path,
                stop=stop,
                within=self.run.folder,
            )
        )

    def _bench(
        self, workshop: Workshop, seconds: float, *, rng: np.random.Generator, place: Place | None
    ) -> PairBench:
        return self.run.stack.enter_context(
            PairBench(
                subject=self.subject,
                sites=workshop.sites(),
                rng=rng,
                budget=seconds,
                scratch=workshop.scratch,
                stop=self.run.stop,
                pass_env=self.passed,
                place=place,
            )
        )
