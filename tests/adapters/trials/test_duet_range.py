"""A revision's trials run beside the anchor's; what cannot be built or fails is an observation, too."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import numpy as np
import pytest

from bot.adapters.trials.bench import PairBench
from bot.adapters.trials.duet_range import DuetRange
from bot.model.change_points import Observation, Probe
from bot.model.subject import Metric, Program
from tests.adapters.shop import Shop

WORK = Metric(name="work", regex=r"work=(\d+)")
"""A number that the program says itself: its ratios are exact."""
SLOW, FAST = (False,), (True,)
Open = Callable[..., DuetRange]


def printing(number: int, *lines: str) -> str:
    """A build of a program that says a number, five times less with --fast."""
    program = [
        "#!/bin/sh",
        *lines,
        f'if [ "$1" = --fast ]; then echo work={number // 5}; else echo work={number}; fi',
    ]
    text = "\n".join(program)
    return f"cat > product <<'END'\n{text}\nEND\nchmod +x product\n"


@pytest.fixture
def opened(shop: Shop) -> Iterator[Open]:
    """Opens a bench over the shop's line: what of a pair is compared, and for how many seconds."""
    with ExitStack() as stack:

        def open_(
            metric: str = "work", *, budget: float = 60.0, alone: bool = False, **keys: object
        ) -> DuetRange:
            program = {"run": "./product {options}", "build": "sh ./build.sh", **keys}
            metrics = (WORK,) if metric == "work" else (Metric(name=metric),)
            subject = shop.subject(program=Program.model_validate(program), metrics=metrics)
            workshop = shop.opened(subject)
            anchor = workshop.anchor()
            assert anchor is not None
            rng = np.random.default_rng(0)
            pairs = PairBench(
                subject=subject,
                sites={"base": workshop.site(anchor, "base"), "head": workshop.site(anchor)},
                rng=rng,
                budget=budget,
                scratch=workshop.scratch,
                stop=Stopped(shop),
                slots=2,
                heads=workshop.site,
            )
            bench = DuetRange(
                stack.enter_context(pairs), workshop, shop.line, anchor=anchor, rng=rng, budget=budget
            )
            bench.compare(metric, alone=alone)
            return bench

        yield open_


class Stopped:
    """The shop's own flag, as a bench asks for it."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop

    def is_set(self) -> bool:
        return self._shop.stop


def values(observations: list[Observation]) -> dict[Probe, float]:
    return {o.probe: o.value for o in observations}


def test_a_value_is_the_revision_s_over_the_anchor_s(shop: Shop, opened: Open) -> None:
    shop.revisions(printing(10), printing(20), printing(40))
    bench = opened()
    probes = [Probe(c, r) for c in (SLOW, FAST) for r in range(3)]
    found = list(bench.measure(probes))
    assert values(found) == {p: [0.25, 0.5, 1.0][p.revision] for p in probes}
    assert {(o.probe.configuration, o.anchor) for o in found} == {(SLOW, 40.0), (FAST, 8.0)}
    spent = bench.spent()
    assert (spent.trials, spent.pairs, spent.failed_trials, spent.builds) == (12, 6, 0, 3)
    assert bench.elapsed() > 0 and spent.build_seconds > 0 and not bench.stopped()
    assert "values are ratios to r2" in bench.notes()[0]


def test_repetitions_and_the_anchor_beside_itself_are_measured(shop: Shop, opened: Open) -> None:
    shop.revisions(printing(10), printing(20))
    bench = opened("cpu")
    found = list(bench.measure([Probe(SLOW, 1)] * 3))
    assert [o.probe for o in found] == [Probe(SLOW, 1)] * 3 and all(o.value > 0 for o in found)
    assert len({o.value for o in found}) > 1, "real trials are noisy"
    (noise,) = bench.environment().noise
    assert noise.pairs == 3 and noise.sd_percent is not None and noise.sd_percent > 0


def test_a_revision_that_does_not_build_and_one_that_fails_have_no_value(shop: Shop, opened: Open) -> None:
    shop.revisions("exit 1\n", printing(10, "[ $# = 1 ] && echo oh no >&2 && exit 3"), printing(20))
    bench = opened()
    found = list(bench.measure([Probe(c, r) for c in (SLOW, FAST) for r in range(3)]))
    assert len(found) == 6
    assert {(o.probe.revision, o.built) for o in found if not o.value > 0} == {(0, False), (1, True)}
    assert values(found)[Probe(SLOW, 1)] == 0.5 and math.isnan(values(found)[Probe(FAST, 1)])
    assert bench.spent().failed_trials == 1 and bench.spent().trials == 8
    assert any("failed trial, at r1" in note and "oh no" in note for note in bench.notes())


def test_of_a_failed_pair_it_is_known_whether_the_anchor_worked(shop: Shop, opened: Open) -> None:
    fails = "[ $# = 1 ] && exit 3"
    shop.revisions(printing(10, fails), printing(20))
    (found,) = opened().measure([Probe(FAST, 0)])
    assert math.isnan(found.value) and found.anchor == 4.0
    shop.revisions(printing(10), printing(20, fails))
    (found,) = opened().measure([Probe(FAST, 0)])
    assert math.isnan(found.value) and found.anchor == 0.0


def test_what_fails_at_the_anchor_has_an_example_of_its_own(shop: Shop, opened: Open) -> None:
    at_anchor = printing(20, "[ $# = 1 ] && echo no map >&2 && exit 3")
    shop.revisions(printing(10, "echo no module >&2; exit 3"), at_anchor)
    bench = opened()
    list(bench.measure([Probe(c, 0) for c in (SLOW, FAST) for _ in range(2)]))
    said = sorted(note for note in bench.notes() if "failed trial" in note)
    assert len(said) == 2 and "at r0" in said[0] and "at r1" in said[1]
    assert "no module" in said[0] and "no map" in said[1]


def test_all_that_cannot_be_built_is_still_answered(shop: Shop, opened: Open) -> None:
    shop.revisions("exit 1\n", printing(20))
    (found,) = opened().measure([Probe(SLOW, 0)])
    assert (found.probe, found.built) == (Probe(SLOW, 0), False)


def test_no_more_trials_are_run_than_allowed(shop: Shop, opened: Open) -> None:
    shop.revisions(printing(10), printing(20))
    bench = opened()
    bench.limit(5)
    assert len(list(bench.measure([Probe(SLOW, 0)] * 4))) == 2
    assert bench.spent().trials == 4 and list(bench.measure([Probe(FAST, 0)])) == []


def test_instructions_are_counted_alone_and_only_once(shop: Shop, opened: Open) -> None:
    longer = "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done"
    shop.revisions(printing(10), printing(20, longer), printing(30, "exit 3"))
    bench = opened("instructions", alone=True)
    bench.limit(4)
    found = values(list(bench.measure([Probe(SLOW, r) for r in range(3)])))
    assert 10_000 < found[Probe(SLOW, 0)] < found[Probe(SLOW, 1)] - 100_000
    assert math.isnan(found[Probe(SLOW, 2)])
    assert (bench.spent().trials, bench.spent().failed_trials) == (3, 1)
    assert values(list(bench.measure([Probe(SLOW, 0)])))[Probe(SLOW, 0)] == found[Probe(SLOW, 0)]
    assert bench.spent().trials == 3
    assert len(list(bench.measure([Probe(FAST, 0), Probe(FAST, 1)]))) == 1 and bench.spent().trials == 4
    assert "each trial ran alone" in bench.notes()[0]
    assert "but for some 1 % where threads or a garbage collector run" in bench.notes()[0]


def test_a_night_compares_instructions_with_the_anchor_s(shop: Shop, opened: Open) -> None:
    longer = "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done"
    shop.revisions(printing(10, longer), printing(20))
    bench = opened("instructions")
    (found,) = bench.measure([Probe(SLOW, 0)])
    assert found.value > 1.05 and found.anchor > 10_000
    assert bench.spent().trials == 2 and "values are ratios to r1" in bench.notes()[0]


def test_what_is_built_is_measured_while_others_are_building(shop: Shop, opened: Open) -> None:
    ran = shop.path / "ran"
    ran.touch()
    ran.chmod(0o666)
    waiting = f"while [ ! -s {ran} ]; do sleep 0.01; done\n"
    shop.revisions(f"{waiting}{printing(10)}", printing(20, f"echo > {ran}"), printing(40))
    found = list(opened("cpu").measure([Probe(SLOW, 0), Probe(SLOW, 1)]))
    assert {o.probe.revision for o in found} == {0, 1} and all(o.built for o in found)


def test_by_the_clock_nothing_is_measured_while_anything_builds(shop: Shop, opened: Open) -> None:
    ran = f"echo run >> {shop.built}"
    shop.revisions(*(f"sleep 0.2\n{printing(10 + place, ran)}" for place in range(4)))
    bench = opened()
    assert len(list(bench.measure([Probe(SLOW, r) for r in range(4)]))) == 4
    runs = shop.runs()
    assert "run" not in runs[:4] and set(runs[4:]) == {"run"}


def test_the_budget_ends_a_search_whatever_runs_or_builds(shop: Shop, opened: Open) -> None:
    shop.revisions("sleep 1000\n", printing(20), printing(40, "[ $# = 1 ] && sleep 1000"))
    bench = opened("cpu", budget=2.0)
    assert list(bench.measure([Probe(FAST, 1)] * 3 + [Probe(SLOW, 0)])) == []
    assert bench.spent().trials == 0 and bench.elapsed() >= 2.0


def test_a_stopped_run_measures_nothing_more(shop: Shop, opened: Open) -> None:
    shop.revisions("sleep 1000\n", printing(20))
    bench = opened()
    threading.Timer(0.2, lambda: setattr(shop, "stop", True)).start()
    assert list(bench.measure([Probe(SLOW, 0)])) == [] and bench.stopped()


def test_a_program_that_waits_is_known_by_its_first_pair(shop: Shop, opened: Open) -> None:
    shop.revisions(printing(10), printing(20, '[ "$1" = --fast ] && sleep 0.3'))
    bench = opened("cpu")
    assert bench.waits(FAST) and bench.spent().trials == 2
