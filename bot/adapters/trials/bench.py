"""Runs pairs of trials on this machine: duets on one core each, all cores busy, until wishes or time end."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

import numpy as np

from bot.adapters.trials import fingerprint
from bot.adapters.trials.floor import Course, Floor
from bot.adapters.trials.isolation import notes, reach
from bot.adapters.trials.request import DUET_FACTOR, RequestMaker
from bot.adapters.trials.seats import Answer, Network, Request, Slot, sweep
from bot.adapters.trials.starting import Place
from bot.adapters.trials.unread import SURE, Unread
from bot.model.errors import UsageError
from bot.model.invocation import Invocation, invocation
from bot.model.report import Environment
from bot.model.sites import Site
from bot.model.space import Configuration
from bot.model.subject import Program, Subject
from bot.model.trials import Pair, Side, Track, Trial, Wish

WORTH_MEASURING_SECONDS = 0.02
"""CPU seconds one trial should last (several time slices): shorter programs are repeated inside it."""
MAX_ROUNDS = 50
LONG_ENOUGH_SECONDS = 0.2
"""Wall seconds that repetitions may take together: a program that waits is not repeated for its CPU time."""
RSS_FLOOR_FACTOR = 1.25
"""A trial's peak memory starts at its worker's, which grows a little: up to here all values are one."""
_REACTION_SECONDS = 0.1  # between looks at the stop flag
_T = TypeVar("_T")
Steps: TypeAlias = Generator[Mapping[int, Request], Mapping[int, Answer], _T]
"""A part of a course."""


class Stop(Protocol):
    """What tells that the run must end (threading.Event)."""

    def is_set(self) -> bool:
        """Whether it must."""
        ...


class PairBench:
    """The port `Bench` on a real machine; a context manager, because its workers must be let go."""

    def __init__(  # noqa: PLR0913  (all by keyword, written once, in compose)
        self,
        *,
        subject: Subject,
        sites: Mapping[Side, Site],
        rng: np.random.Generator,
        budget: float,
        scratch: Path,
        stop: Stop,
        pass_env: Mapping[str, str] | None = None,
        place: Place | None = None,
        slots: int | None = None,
        heads: Callable[[int], Site] | None = None,
    ) -> None:
        """`budget`: wall seconds from the first trial; `place`: (site, slot, command) -> its folder.

        `heads`: in a range, where the trials of `Wish.revision` run.
        """
        assert isinstance(subject.program, Program)
        self._subject, self._program = subject, subject.program
        self._sites, self._rng, self._budget, self._stop = sites, rng, budget, stop
        self._heads = heads
        self._requests = RequestMaker(subject=subject, pass_env=pass_env or {}, place=place)
        self._slots = _slots(self._requests.cores, slots, scratch, network=reach(subject))
        hellos = [seat.hello() for slot in self._slots for seat in slot.seats]
        self._floor = RSS_FLOOR_FACTOR * max(hello["floor"] for hello in hellos)
        self._notes = notes(hellos, self._floor, subject)
        self._unread = Unread(subject, {n: f for site in sites.values() for n, f in site.workloads.items()})
        self._warm: dict[tuple[Path, Configuration, Track], Trial] = {}
        self._counted: dict[tuple[Path, Configuration], Trial] = {}
        self._numbers = itertools.count(1)
        self._began: float | None = None
        self._load: float | None = None

    def __enter__(self) -> PairBench:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def slots(self) -> int:
        """Pairs that run at the same time."""
        return len(self._slots)

    def served(self, configuration: Configuration) -> Configuration:
        """Every configuration can be measured as it is."""
        return configuration

    def elapsed(self) -> float:
        """Wall seconds since the first trial began; 0 before it."""
        return 0.0 if self._began is None else time.monotonic() - self._began

    def stopped(self) -> bool:
        """Whether a signal asked the run to end."""
        return self._stop.is_set()

    def notes(self) -> Sequence[str]:
        """What this machine could not give, and which inputs no trial opened."""
        return [*self._notes, *self._unread.notes()]

    def environment(self) -> Environment:
        """The machine, its tools and its load before and now."""
        return fingerprint.environment(fingerprint.TOOLS[self._program.runtime], load_before=self._load)

    def close(self) -> None:
        """Ends the workers, and all they started."""
        seats = [seat for slot in self._slots for seat in slot.seats]
        for seat in seats:
            seat.leave()
        for seat in seats:
            seat.bury()
        self._slots = []
        self._unread.close()
        sweep([site.account.uid for site in self._sites.values() if site.account is not None])

    def measure(self, wishes: Iterator[Wish | None]) -> Iterator[Pair]:
        """Pairs in order of completion; see the port."""
        floor = Floor(self._slots)
        held: Wish | None = None
        more = True
        try:
            while True:
                hungry = more
                while hungry and floor.free is not None and not self._over():
                    wish = held
                    if wish is None:
                        try:
                            wish = next(wishes)
                        except StopIteration:
                            more = False
                    # A wish that must be alone waits until the others are through; nothing overtakes it.
                    held = wish if wish is not None and wish.track == "wall" and floor.busy else None
                    hungry = wish is not None and held is None
                    if hungry and wish is not None:
                        slot = floor.free
                        floor.start(slot, self._course(slot, wish), exclusive=wish.track == "wall")
                        yield from floor.ended()
                if not floor.busy:
                    return
                if self._over():
                    floor.cut()
                floor.wait(_REACTION_SECONDS)
                yield from floor.ended()
        finally:
            floor.clear()

    def _over(self) -> bool:
        return self._stop.is_set() or self.elapsed() >= self._budget

    def _course(self, slot: Slot, wish: Wish) -> Course:
        """One pair from its warm-ups to its end."""
        if wish.track == "instructions" and self._requests.valgrind is None:
            missing = Trial("not-started", detail="valgrind is not installed: instructions cannot be counted")
            return Pair(wish, missing, missing, 0.0)
        if self._began is None:
            self._began, self._load = time.monotonic(), fingerprint.load()
        command = self._invocation(wish)
        began = time.monotonic()
        alone = None
        try:
            warm, new = yield from self._warm_ups(slot, wish, command)
            trials = {side: warm[side] for side in wish.sides}
            if all(trial.ok for trial in trials.values()):
                if new:
                    alone = {side: _busy_and_wall(trial) for side, trial in trials.items()}
                rounds = max(_rounds(trial) for trial in trials.values()) if wish.track == "duet" else 1
                began = time.monotonic()
                first, second = yield from self._pair(slot, wish, command, rounds)
            else:
                first, second = (trials[side] for side in wish.sides)
        except OSError as error:  # its configuration files could not be written
            first = second = Trial("not-started", detail=f"{error.filename or wish}: {error.strerror}")
        except UsageError as error:  # a template fails, or its target leaves the checkout
            if wish.revision is None:
                raise
            first = second = Trial("not-started", detail=str(error))  # one of many revisions
        return Pair(wish, first, second, time.monotonic() - began, alone)

    def _site(self, wish: Wish, side: Side) -> Site:
        if side == "head" and wish.revision is not None and self._heads is not None:
            return self._heads(wish.revision)
        return self._sites[side]

    def _invocation(self, wish: Wish) -> Invocation:
        command = invocation(self._subject, wish.configuration)
        if self._program.runtime != "python" or wish.track == "instructions":
            return command
        # The same random order of hashes on both sides: it cancels in the pair and averages over pairs.
        seed = {"PYTHONHASHSEED": str(self._rng.integers(1, 2**32))}
        return replace(command, env={**seed, **command.env})

    def _warm_ups(self, slot: Slot, wish: Wish, command: Invocation) -> Steps[tuple[dict[Side, Trial], bool]]:
        """Each side once, alone, not counted, before its first pair; and whether any was needed now."""
        if wish.track == "instructions":
            return dict.fromkeys(wish.sides, Trial("ok")), False
        warm: dict[Side, Trial] = {}
        new = False
        for side in dict.fromkeys(wish.sides):
            site = self._site(wish, side)
            key = (site.root, wish.configuration, wish.track)
            if key not in self._warm:
                new, ranged = True, wish.revision is not None
                # Its output is read even when no metric needs it: a failure is explained by it.
                made = self._requests.make(slot, site, command, seat=0, track=wish.track)
                for _ in range(SURE if ranged and side == "head" and len(self._slots) > 1 else 1):
                    before = self._unread.watch(command.workload)
                    answers = yield {0: self._numbered({**made, "capture": True})}
                    trial = self._trial(answers[0], wish.track)
                    warm[side] = self._unread.judged(trial, command.workload, before, side, ranged=ranged)
                    if not self._unread.doubts(warm[side], warm.get("base")):
                        break
                if warm[side].ok:
                    self._warm[key] = warm[side]
            else:
                warm[side] = self._warm[key]
        return warm, new

    def _pair(self, slot: Slot, wish: Wish, command: Invocation, rounds: int) -> Steps[tuple[Trial, Trial]]:
        """The two trials; which seat a side takes, and who starts, is drawn, so that neither is a bias.

        A control runs base's checkout under base's account twice. What was counted exactly is not run again.
        """
        seats = [int(seat) for seat in self._rng.permutation(2)]
        starts = int(self._rng.integers(2))
        together = wish.track == "duet"
        requests: dict[int, dict[str, object]] = {}
        roots = {seat: self._site(wish, side).root for seat, side in zip(seats, wish.sides, strict=True)}
        counted = ((s, self._counted.get((root, wish.configuration))) for s, root in roots.items())
        exact = wish.track == "instructions"
        known = {s: replace(trial, repetitions=0) for s, trial in counted if exact and trial}
        for index, (seat, side) in enumerate(zip(seats, wish.sides, strict=True)):
            if seat in known or (wish.single and requests):
                continue
            request = self._requests.make(slot, self._site(wish, side), command, seat=seat, track=wish.track)
            if together:
                company = {"partner": True, "first": index == starts, "rounds": rounds}
                request |= {**company, "timeout": self._program.timeout * DUET_FACTOR}
            requests[seat] = request
        answers: dict[int, Answer] = {}
        if wish.track == "wall":
            for seat in (seats[starts], seats[1 - starts]):
                answers |= yield {seat: self._numbered(requests[seat])}
        elif requests:
            number = next(self._numbers)
            answers |= yield {seat: self._numbered(r, number) for seat, r in requests.items()}
        if together:
            for answer in answers.values():
                answer["metrics"].pop("wall", None)  # the partner's time is in it
        trials = known | {seat: self._trial(answer, wish.track) for seat, answer in answers.items()}
        trials |= {seat: replace(trials[seats[0]], repetitions=0) for seat in seats if seat not in trials}
        if exact:
            self._counted |= {(roots[s], wish.configuration): t for s, t in trials.items() if t.ok}
        return trials[seats[0]], trials[seats[1]]

    def _numbered(self, request: Mapping[str, object], number: int | None = None) -> Request:
        assert self._began is not None
        trial = next(self._numbers) if number is None else number
        return {**request, "trial": trial, "deadline": self._began + self._budget}

    def _trial(self, answer: Answer, track: Track) -> Trial:
        metrics = dict(answer["metrics"])
        if track == "instructions":  # under callgrind nothing else is the program's own
            metrics = {key: value for key, value in metrics.items() if key == "instructions"}
        if "max_rss" in metrics:
            metrics["max_rss"] = max(metrics["max_rss"], self._floor)
        return Trial(answer["outcome"], metrics, answer["exit_code"], answer["rounds"], answer["detail"])


def _busy_and_wall(warm: Trial) -> tuple[float, float]:
    """Seconds it ran or would have run had it had a core, and wall seconds: what is missing, it waited."""
    return warm.metrics["cpu"] + warm.metrics["queued"], warm.metrics["wall"]


def _rounds(warm: Trial) -> int:
    cpu = max(warm.metrics["cpu"], WORTH_MEASURING_SECONDS / MAX_ROUNDS)
    affordable = max(1, int(LONG_ENOUGH_SECONDS / max(warm.metrics["wall"], cpu)))
    return min(math.ceil(WORTH_MEASURING_SECONDS / cpu), affordable)


def _slots(cores: Sequence[int], count: int | None, scratch: Path, *, network: Network) -> list[Slot]:
    scratch.mkdir(parents=True, exist_ok=True)
    scratch.chmod(0o755)  # each trial's own folder in it is closed to the others
    numbers = range(count or len(cores))
    return [Slot(n, core=cores[n % len(cores)], network=network, scratch=scratch) for n in numbers]
