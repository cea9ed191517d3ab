from __future__ import annotations

from bot.sampling.published.budget import Split


def test_at_first_half_goes_to_new_configurations_and_a_quarter_each_to_commits() -> None:
    assert Split().of(1000) == (250, 250, 500)


def test_later_iterations_prefer_configurations_and_exploitation() -> None:
    later = Split()
    for _ in range(10):
        later = later.shifted()
    exploring, exploiting, configurations = later.of(1000)
    assert configurations > 600
    assert exploring < exploiting / 3
    assert exploring + exploiting + configurations == 1000


def test_every_trial_is_given_away() -> None:
    split = Split()
    for total in range(1, 60):
        assert sum(split.of(total)) == total
        split = split.shifted()
