import numpy as np
import pytest

from bot.analysis.influences import tabulating
from bot.analysis.influences.tabulating import tabulate
from bot.model.profiles import Method, MethodCost, Profile, Tool
from bot.model.trials import Outcome
from tests.unit.analysis.influences.programs import SPACE, drawn

SAMPLER = Tool("sampler", "1", "coarse", frozenset({"seconds", "calls"}))
COUNTER = Tool("counter", "1", "coarse", frozenset({"instructions", "calls"}))


def _profile(tool: Tool, costs: dict[str, MethodCost], *, outcome: Outcome = "ok") -> Profile:
    return Profile(tool, outcome, 10.0, {Method(name, "a.c"): cost for name, cost in costs.items()})


def test_profiles_become_a_table_with_missing_methods_and_failed_runs() -> None:
    one = _profile(SAMPLER, {"a": MethodCost(0.6, self_seconds=5.0, calls=3), "b": MethodCost(0.4)})
    two = _profile(SAMPLER, {"a": MethodCost(1.0, self_seconds=7.0, calls=4)})
    crashed = _profile(SAMPLER, {"a": MethodCost(1.0, self_seconds=99.0)}, outcome="signal")
    configurations = drawn(2, np.random.default_rng(1))
    found = tabulate(SPACE, [(configurations[0], [one, two]), (configurations[1], [crashed, None])])
    assert found.methods == ("a", "b")
    assert found.runs("seconds", 0)[0].tolist() == [5.0, 7.0]
    assert found.runs("seconds", 1)[0].tolist() == [4.0, 0.0]
    assert found.means("calls")[0, 0] == pytest.approx(3.5)
    assert np.isnan(found.means("seconds")[1]).all()
    assert "instructions" not in found.quantities


def test_clones_in_several_files_count_together_and_instructions_are_not_called_seconds() -> None:
    methods = {
        Method("f", "a.c"): MethodCost(0.5, calls=1, instructions=100),
        Method("f", "b.c"): MethodCost(0.5, calls=2, instructions=50),
    }
    found = tabulate(SPACE, [(SPACE.default, [Profile(COUNTER, "ok", 1.0, methods)])])
    assert found.means("instructions").tolist() == [[150.0]]
    assert found.means("calls").tolist() == [[3.0]]
    assert "seconds" not in found.quantities


def test_of_too_many_methods_the_costliest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabulating, "MOST_METHODS", 2)
    costs = {f"m{k}": MethodCost(k / 10, calls=k) for k in range(1, 5)}
    found = tabulate(SPACE, [(SPACE.default, [_profile(SAMPLER, costs)])])
    assert found.methods == ("m4", "m3")
    assert found.means("calls").tolist() == [[4.0, 3.0]]


def test_a_tool_that_measures_no_seconds_does_not_make_them_zero() -> None:
    timed = _profile(SAMPLER, {"a": MethodCost(1.0, self_seconds=5.0)})
    counted = _profile(COUNTER, {"a": MethodCost(1.0, calls=2, instructions=70)})
    found = tabulate(SPACE, [(SPACE.default, [timed, counted])])
    assert found.means("seconds").tolist() == [[5.0]]
    assert found.means("instructions").tolist() == [[70.0]]
