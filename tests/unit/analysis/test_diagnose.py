"""The estimator as the flow uses it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.analysis.diagnose import Judgement, PairedEstimator, Rule
from bot.model.space import Option, Space, Term
from tests.unit.analysis.worlds import estimator, feed, flags, mixed, planted, same_everywhere, sample

SPACE = mixed()
SAMPLE = sample(SPACE, 32, np.random.default_rng(11))


def judged(effects: dict[Term, float], *, seed: int = 0, rounds: int = 8, noise: float = 0.012) -> Judgement:
    rng = np.random.default_rng(seed)
    truth = planted(SPACE, effects, SAMPLE)
    return feed(estimator(SPACE, SAMPLE), {"cpu": truth}, rounds=rounds, rng=rng, noise=noise).judge()


@pytest.mark.parametrize("term", [(), ("a",), ("!b",), ("mode=safe",), ("level>=6",), ("c", "mode=fast")])
def test_a_planted_slow_down_is_a_regression_that_names_its_term(term: Term) -> None:
    found = judged({term: 0.06})
    assert found.verdict == "regression"
    assert [e.term for e in found.options] == [term]
    effect = found.options[0]
    assert effect.interval[0] < math.exp(0.06) < effect.interval[1]
    assert effect.significant
    assert effect.relevant


def test_a_space_of_one_flag_gets_a_sure_name_and_a_narrow_interval() -> None:
    space = flags(1)
    rng = np.random.default_rng(3)
    found = feed(
        estimator(space, [(False,), (True,)]), {"cpu": np.array([0.0, 0.3])}, rounds=12, rng=rng, noise=0.012
    ).judge()
    (effect,) = found.options
    assert effect.term == ("a",)
    assert effect.probability > 0.99
    assert effect.interval[0] < math.exp(0.3) < effect.interval[1] < 1.1 * effect.interval[0]


def test_nothing_is_named_where_nothing_changed() -> None:
    for seed in range(30):
        found = judged({}, seed=seed)
        assert found.verdict == "none"
        assert found.options == ()
        assert all(c.state in ("same", "unclear") for c in found.configurations)


@pytest.mark.parametrize("size", [0.004, -0.004])
def test_a_shift_of_code_layout_is_nothing(size: float) -> None:
    assert {judged({(): size}, seed=seed).verdict for seed in range(15)} == {"none"}


def test_of_what_is_as_sure_the_larger_change_comes_first() -> None:
    larger, smaller = judged({("d",): 0.1, ("mode=safe",): 0.13}).options
    assert (larger.term, smaller.term) == (("mode=safe",), ("d",))
    assert 0.999 < larger.probability < smaller.probability


def test_a_slow_down_here_and_a_speed_up_there_are_mixed() -> None:
    found = judged({("a",): 0.08, ("!a",): -0.08})
    assert found.verdict == "mixed"


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([{("a",): 0.06}, {("b",): -0.06}, {}]))
def test_swapping_base_and_head_turns_the_verdict_round(seed: int, effects: dict[Term, float]) -> None:
    rng = np.random.default_rng(seed)
    truth = planted(SPACE, effects, SAMPLE)
    pairs = [(c, truth[c] + 0.012 * rng.standard_t(5)) for _ in range(6) for c in range(len(SAMPLE))]
    there, back = estimator(SPACE, SAMPLE), estimator(SPACE, SAMPLE)
    for c, value in pairs:
        there.partial_fit(c, {"cpu": value})
        back.partial_fit(c, {"cpu": -value})
    turned = {"regression": "improvement", "improvement": "regression"}
    one, other = there.judge(), back.judge()
    assert turned.get(one.verdict, one.verdict) == other.verdict or "inconclusive" in (
        one.verdict,
        other.verdict,
    )
    assert [e.term for e in one.options] == [e.term for e in other.options]
    for first, second in zip(one.options, other.options, strict=True):
        assert first.ratio == pytest.approx(1 / second.ratio, rel=1e-3)


def test_the_order_of_configurations_does_not_matter() -> None:
    rng = np.random.default_rng(4)
    truth = planted(SPACE, {("a",): 0.06}, SAMPLE)
    rounds = [truth + 0.012 * rng.standard_t(5, len(SAMPLE)) for _ in range(6)]
    order = rng.permutation(len(SAMPLE))
    plain, shuffled = estimator(SPACE, SAMPLE), estimator(SPACE, [SAMPLE[i] for i in order])
    for values in rounds:
        for c in range(len(SAMPLE)):
            plain.partial_fit(c, {"cpu": values[c]})
            shuffled.partial_fit(c, {"cpu": values[order[c]]})
    one, other = plain.judge(), shuffled.judge()
    assert [e.term for e in one.options] == [e.term for e in other.options]
    assert one.options[0].ratio == pytest.approx(other.options[0].ratio, rel=1e-6)
    assert one.configurations[order[0]].ratio == pytest.approx(other.configurations[0].ratio or 0)


def test_a_drop_of_throughput_is_a_regression() -> None:
    rules = (Rule("throughput", "higher", 0.01),)
    truth = {"throughput": planted(SPACE, {("a",): -0.06}, SAMPLE)}
    rng = np.random.default_rng(0)
    found = feed(estimator(SPACE, SAMPLE, rules=rules), truth, rounds=8, rng=rng, noise=0.012)
    result = found.judge()
    assert result.verdict == "regression"
    assert result.options[0].ratio == pytest.approx(math.exp(-0.06), abs=0.01)
    assert found.leader_ == "throughput lower with a"
    assert {c.state for c, s in zip(result.configurations, SAMPLE, strict=True) if s[0]} >= {"slower"}


def test_metrics_are_judged_side_by_side() -> None:
    rules = (Rule("cpu", "lower", 0.01), Rule("max_rss", "lower", 0.01), Rule("absent", "lower", 0.01))
    truth = {"cpu": np.zeros(32), "max_rss": planted(SPACE, {("b",): 0.06}, SAMPLE)}
    found = estimator(SPACE, SAMPLE, rules=rules)
    rng = np.random.default_rng(1)
    for _ in range(8):
        for c in range(32):
            ratios = {"cpu": 0.012 * rng.standard_t(5), "max_rss": truth["max_rss"][c], "absent": math.nan}
            found.partial_fit(c, ratios)
    result = found.judge()
    assert result.verdict == "regression"
    assert [(e.metric, e.term) for e in result.options] == [("max_rss", ("b",))]
    assert {e.metric for e in result.effects if e.term == ()} == {"cpu", "max_rss"}
    assert any("absent" in note for note in result.notes)


@pytest.mark.parametrize(("size", "verdict"), [(0.0, "none"), (0.009, "none"), (0.03, "regression")])
def test_a_metric_that_never_varies_alarms_beyond_the_margin_only(size: float, verdict: str) -> None:
    rng = np.random.default_rng(0)
    found = feed(estimator(SPACE, SAMPLE), {"cpu": np.full(32, size)}, rounds=12, rng=rng, noise=0.0)
    assert found.judge().verdict == verdict


def test_equivalent_terms_are_aliases_and_the_shortest_is_reported() -> None:
    space = flags(4)
    equivalent = same_everywhere(space, lambda c: bool(c[1] or not c[0]))  # a implies b
    configurations = [c for c in sample(space, 16, np.random.default_rng(0)) if c[1] or not c[0]]
    truth = planted(space, {("a", "b"): 0.06}, configurations)
    rng = np.random.default_rng(0)
    found = feed(estimator(space, configurations, equivalent=equivalent), {"cpu": truth}, rounds=16, rng=rng)
    effect = found.judge().options[0]
    assert effect.term == ("a",)
    assert effect.aliases[0] == ("a", "b")


def test_terms_that_the_sample_confounds_are_aliases_with_a_divided_probability() -> None:
    space = flags(3)
    configurations = [c for c in sample(space, 8, np.random.default_rng(0)) if c[0] == c[1]] * 4
    truth = planted(space, {("a",): 0.06}, configurations)
    rng = np.random.default_rng(0)
    effect = feed(estimator(space, configurations), {"cpu": truth}, rounds=16, rng=rng).judge().options[0]
    assert effect.term == ("a",)
    assert ("b",) in effect.aliases
    assert effect.probability < 0.6


def test_one_pair_that_is_ten_times_off_is_no_alarm() -> None:
    rng = np.random.default_rng(0)
    found = feed(estimator(SPACE, SAMPLE), {"cpu": np.zeros(32)}, rounds=8, rng=rng, noise=0.012)
    found.partial_fit(3, {"cpu": math.log(10.0)})
    result = found.judge()
    assert result.verdict == "none"
    assert result.configurations[3].ratio == pytest.approx(1.0, abs=0.03)


def test_an_unchanged_program_is_decided_before_long_and_everything_is_retired() -> None:
    rng = np.random.default_rng(0)
    found = feed(estimator(SPACE, SAMPLE), {"cpu": np.zeros(32)}, rounds=40, rng=rng, noise=0.01)
    assert found.decided_
    assert found.active_ == ()
    assert not found.alarmed_
    assert found.leader_ == ""


def test_a_clear_regression_is_decided_early_and_leads() -> None:
    rng = np.random.default_rng(0)
    truth = {"cpu": planted(SPACE, {("a",): 0.1}, SAMPLE)}
    found = feed(estimator(SPACE, SAMPLE), truth, rounds=12, rng=rng, noise=0.005)
    assert found.alarmed_
    assert found.decided_
    assert found.leader_ == "slower with a"


@pytest.mark.parametrize("count", [2, 4, 6])
@pytest.mark.parametrize("size", [0.3, 1.1])
def test_a_large_change_ends_the_run_however_much_configurations_differ_in_it(
    count: int, size: float
) -> None:
    space = flags(count)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        chosen = sample(space, 32, rng)
        truth = planted(space, {("a",): size}, chosen) * (1.0 + 0.1 * rng.standard_normal(len(chosen)))
        found = estimator(space, chosen)
        rounds = 0
        while not found.decided_ and (rounds := rounds + 1) < 16:
            feed(found, {"cpu": truth}, rounds=1, rng=rng, noise=0.005)
        assert found.decided_, seed
        assert [e.term for e in found.judge().options] == [("a",)]


def test_few_pairs_are_inconclusive_and_say_what_would_settle_it() -> None:
    found = judged({}, rounds=1, noise=0.06)
    assert found.verdict == "inconclusive"
    assert any("more pairs" in note for note in found.notes)


def test_too_few_pairs_for_an_alarm_point_at_what_they_fit_and_name_nobody() -> None:
    found = judged({("c", "mode=fast"): 0.15}, rounds=2, seed=2)
    assert found.verdict == "inconclusive" and found.options == ()
    (pointed,) = found.suspected
    assert pointed.term == ("c", "mode=fast")
    assert pointed.interval[0] < math.exp(0.15) < pointed.interval[1]
    assert not pointed.significant


def test_where_nothing_changed_too_few_pairs_seldom_point_at_anything() -> None:
    runs = [judged({}, seed=seed, rounds=2, noise=0.05) for seed in range(40)]
    assert sum(found.verdict == "inconclusive" for found in runs) > 20
    assert sum(bool(found.suspected) for found in runs) <= 2


def test_a_noisy_run_is_inconclusive_and_not_none() -> None:
    assert judged({}, rounds=4, noise=0.15).verdict == "inconclusive"


@pytest.mark.parametrize("count", [0, 1, 2])
def test_hardly_any_configurations_or_pairs_are_no_accident(count: int) -> None:
    found = estimator(SPACE, SAMPLE[:count])
    assert found.judge().verdict == "inconclusive"
    for c in range(count):
        found.partial_fit(c, {"cpu": 0.001})
    result = found.judge()
    assert result.verdict == "inconclusive"
    assert len(result.configurations) == count


def test_one_configuration_can_be_slower() -> None:
    rng = np.random.default_rng(0)
    found = feed(estimator(SPACE, SAMPLE[:1]), {"cpu": np.array([0.08])}, rounds=60, rng=rng)
    result = found.judge()
    assert result.verdict == "regression"
    assert result.configurations[0].state == "slower"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_values_that_are_no_numbers_are_not_pairs(value: float) -> None:
    found = estimator(SPACE, SAMPLE)
    for c in range(32):
        found.partial_fit(c, {"cpu": value})
    result = found.judge()
    assert result.verdict == "inconclusive"
    assert not found.decided_
    assert {c.pairs for c in result.configurations} == {0}


def test_a_configuration_that_never_succeeds_does_not_keep_the_others_waiting() -> None:
    rng = np.random.default_rng(0)
    found = estimator(SPACE, SAMPLE)
    for _ in range(40):
        for c in range(1, 32):
            found.partial_fit(c, {"cpu": 0.01 * rng.standard_normal()})
    assert found.decided_
    assert found.judge().configurations[0].ratio is None


def test_unequal_numbers_of_pairs_are_fine() -> None:
    rng = np.random.default_rng(0)
    found = estimator(SPACE, SAMPLE)
    truth = planted(SPACE, {("a",): 0.06}, SAMPLE)
    for c in range(32):
        for _ in range(2 + 3 * (c % 5)):
            found.partial_fit(c, {"cpu": float(truth[c] + 0.012 * rng.standard_t(5))})
    assert [e.term for e in found.judge().options] == [("a",)]


def test_judging_twice_changes_nothing() -> None:
    rng = np.random.default_rng(2)
    found = feed(estimator(SPACE, SAMPLE), {"cpu": planted(SPACE, {("a",): 0.06}, SAMPLE)}, rounds=6, rng=rng)
    assert found.judge() == found.judge()


def test_a_pair_is_found_among_a_thousand_options() -> None:
    space = Space(tuple(Option(f"o{i}", "flag", (False, True), False) for i in range(1000)))
    rng = np.random.default_rng(0)
    configurations = [tuple(bool(v) for v in rng.random(1000) < 0.5) for _ in range(60)]
    truth = {"cpu": planted(space, {("o5", "o7"): 0.08}, configurations)}
    found: PairedEstimator = feed(estimator(space, configurations), truth, rounds=10, rng=rng, noise=0.012)
    assert [e.term for e in found.judge().options] == [("o5", "o7")]


def test_whom_a_configuration_that_holds_it_surely_speaks_against_is_not_suspected() -> None:
    """Two options together are slower, which two measured configurations have: too few for a candidate."""
    space = flags(8)
    held = ("", "abcdefgh", "abfh", "cdeg", "abcg", "defh", "begh")
    configurations = [tuple(chr(97 + i) in one for i in range(8)) for one in held]
    found = estimator(space, configurations)
    for values in (
        (0.0, 0.587, -0.019, -0.02, 0.01, 0.017, 0.72),
        (0.01, None, None, -0.024, 0.015, 0.019, None),
    ):
        for c, value in enumerate(values):
            if value is not None:
                found.partial_fit(c, {"cpu": value})
    judged = found.judge()
    assert judged.verdict == "inconclusive"
    wrong = {("e", "h"), ("b", "h"), ("b", "g"), ("e", "g")}  # each held by one that did not move at all
    assert not wrong & {effect.term for effect in judged.suspected}


def test_a_single_pair_is_told_to_be_as_unsure_as_the_wildest_pairs_of_others_are() -> None:
    rng = np.random.default_rng(5)
    space = flags(4)
    found = estimator(space, sample(space, 16, rng))
    for turn in range(8):
        for c in range(15):
            disturbed = rng.choice([-0.4, 0.4]) if (turn, c % 4) == (3, 1) else 0.0
            found.partial_fit(c, {"cpu": 0.005 * rng.standard_normal() + disturbed})
    found.partial_fit(15, {"cpu": -0.36})
    *others, alone = found.judge().configurations
    assert (alone.pairs, alone.state) == (1, "unclear")
    assert alone.interval is not None
    assert alone.interval[0] < math.exp(-0.36) < 1.0 < alone.interval[1]
    assert all(one.interval is not None and one.interval[1] < 1.03 for one in others)


def test_single_pairs_among_quiet_ones_keep_an_interval_of_their_noise() -> None:
    rng = np.random.default_rng(6)
    space = flags(4)
    found = estimator(space, sample(space, 16, rng))
    for _ in range(8):
        for c in range(15):
            found.partial_fit(c, {"cpu": 0.005 * rng.standard_normal()})
    found.partial_fit(15, {"cpu": -0.36})
    alone = found.judge().configurations[-1]
    assert alone.interval is not None and alone.interval[1] < math.exp(-0.3)
