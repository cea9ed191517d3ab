"""What is told of a program whose equal runs differ, and where."""

from __future__ import annotations

import pytest

from bot.model.noise import Noise
from bot.report.headline import headline
from bot.report.media import markdown
from bot.report.parts import Headline
from bot.report.ranges.headline import range_headline
from bot.report.render import comment
from bot.report.unsteady import differ
from tests.unit.report.builders import ENVIRONMENT, report
from tests.unit.report.ranges.builders import bisection


def noise(spread: float | None, pairs: int = 60, metric: str = "cpu") -> Noise:
    return Noise(metric=metric, pairs=pairs, sd_percent=spread, bias_percent=None)


def told(found: Headline) -> list[str]:
    return [said for c in found.caveats if "Runs of the same code differ" in (said := markdown(c))]


def environment(*found: Noise) -> dict[str, object]:
    return {"environment": ENVIRONMENT.model_copy(update={"noise": found})}


@pytest.mark.parametrize("verdict", ["none", "inconclusive"])
def test_where_nothing_was_found_an_unsteady_program_is_named_with_its_remedy(verdict: str) -> None:
    (said,) = told(headline(report(verdict=verdict, **environment(noise(43.47)))))
    assert said.startswith("Runs of the same code differ by **43 %** CPU time (standard deviation;")
    assert "fixed seeds" in said
    assert not told(headline(report(verdict=verdict, **environment(noise(4.0)))))


def test_what_was_found_is_not_hidden_behind_it() -> None:
    for verdict in ("regression", "improvement", "mixed"):
        assert not told(headline(report(verdict=verdict, **environment(noise(43.47)))))


def test_only_the_metric_that_decides_counts() -> None:
    memory = noise(60.0, metric="max_rss")
    assert not told(headline(report(**environment(noise(2.0), memory))))
    assert told(headline(report(**environment(noise(20.0), memory))))


def test_a_range_tells_it_too_and_its_table_has_the_noise_of_a_trial() -> None:
    unsteady, usual, unknown = (
        bisection(verdict="inconclusive", interrupted="budget", **environment(noise(spread)))
        for spread in (44.6, 1.5, None)
    )
    assert told(range_headline(unsteady)) and not told(range_headline(usual))
    row = "| Noise of a trial | CPU time of equal trials spreads by 44.60 %, 60 repetitions |"
    assert row in comment(unsteady)
    assert "spreads by 1.50 %" in comment(usual) and "Noise of a trial" not in comment(unknown)


def test_check_tells_how_far_runs_differ_and_what_to_do_only_where_that_is_much() -> None:
    assert differ(noise(0.834, 12)) == "Its runs differ by 0.83 % CPU time (standard deviation of 12 pairs)."
    assert "That is much. Make them do the same work" in differ(noise(36.2, 12))
    assert differ(noise(None, 2)) == ""


def test_of_the_time_on_the_clock_it_is_said_that_the_machine_may_be_why() -> None:
    wall, cpu = (
        report(primary_metric=name, **environment(noise(20.0, metric=name))) for name in ("wall", "cpu")
    )
    assert "what else the machine does" in told(headline(wall))[0] and "what else the machine does" in differ(
        noise(20.0, metric="wall")
    )
    assert "what else the machine does" not in told(headline(cpu))[0]
