"""What seems worse without being proven is not below a green headline."""

import pytest

from bot.model.report import Acceptance, ConfigurationChange, Suspects, Visible, VisibleOption
from bot.model.trials import RECORDED
from bot.report.doubts import odd
from bot.report.headline import headline
from bot.report.media import markdown
from bot.report.sections import changed as configurations
from tests.unit.report.builders import changed, effect, report, unchanged

FAR = changed(1.21, "unclear", passes=3, unsafe=True).model_copy(update={"pairs": 2})


def _like(ratio: float, half: float, **fields: object) -> ConfigurationChange:
    return FAR.model_copy(update={"ratio": ratio, "interval": (ratio - half, ratio + half), **fields})


def test_a_configuration_that_seems_far_worse_leaves_no_green_report_and_is_told() -> None:
    found = headline(report(configurations=(*unchanged(), FAR)))
    assert (found.icon, markdown(found.title)) == (
        "🟡",
        "Not clear: 1 configuration seems worse, which is not proven",
    )
    assert markdown(found.lead[1]).startswith("With `unsafe` on, `passes=3`: **+21 %** CPU time")
    assert found.action is not None and "/suspects rerun 10m" in markdown(found.action)
    table = configurations(report(configurations=(*unchanged(), FAR)), 20)
    assert table is not None and "passes=3" in str(table)


@pytest.mark.parametrize(
    "usual",
    [
        _like(1.06, 0.015),  # of dozens of configurations, some lie as far off
        _like(1.025, 0.001),
        _like(0.8, 0.02),
        _like(1.3, 0.02, pairs=1),
        _like(1.3, 0.02, metric="max_rss"),
        _like(1.3, 0.02, interval=None),
    ],
)
def test_what_chance_explains_and_what_is_better_leaves_a_report_green(usual: ConfigurationChange) -> None:
    assert headline(report(configurations=(*unchanged(), usual))).icon == "🟢"


def test_one_value_of_a_noisy_table_that_is_far_worse_is_told_and_wants_more_values_not_more_time() -> None:
    alone = _like(1.3, 0.02, pairs=1)
    noted = (f"{RECORDED} one value of each configuration and revision, each of which counts once.",)
    found = headline(report(configurations=(*unchanged(), alone), notes=noted))
    assert markdown(found.title) == "Not clear: 1 configuration seems worse, which is not proven"
    assert found.action is not None
    assert "put more values of each configuration and revision into the table" in markdown(found.action)
    assert "rerun" not in markdown(found.action)


def test_configurations_that_seem_far_better_are_told_where_no_option_could_be_seen() -> None:
    blind = Visible(options=(VisibleOption(option="passes", slow_down=None),))
    seen = report(configurations=(*unchanged(), _like(0.3, 0.01), _like(0.85, 0.01)), visible=blind)
    said = [markdown(line) for line in headline(seen).lead]
    assert "2 configurations seem better, which is not proven: by up to -70 % CPU time (-71 to -69)." in said
    table = configurations(seen, 20)
    assert table is not None and "(-71 to -69)" in str(table)


def test_a_configuration_of_an_accepted_change_is_no_doubt() -> None:
    accepted = effect("unsafe", ratio=1.2, accepted=Acceptance(source="label"))
    known = report(configurations=(*unchanged(), FAR), suspects=Suspects(options=(accepted,)))
    assert odd(known) == [] and odd(report(configurations=(*unchanged(), FAR))) == [FAR]


def test_an_unclear_run_that_suspects_no_option_tells_of_such_a_configuration_too() -> None:
    found = headline(report(verdict="inconclusive", configurations=(*unchanged(), FAR)))
    assert "**+21 %**" in markdown(found.lead[1])
