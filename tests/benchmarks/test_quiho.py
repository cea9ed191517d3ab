"""The published measurements are read as they are meant, and its claims that hold are reproduced."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.resources.known_truth import MIXES, World, below, naming
from benchmarks.resources.quiho import first, importances, ours
from benchmarks.resources.quiho_data import MARIADB, PATH, PROXIES, STREAM, campaign, campaigns, results
from bot.analysis.machines.hardware import types_of
from bot.model.machines import PUBLISHED

pytestmark = [
    pytest.mark.skipif(not PATH.exists(), reason="the published measurements are not here"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # medians of what was never measured
]
MEAN = "every machine's mean"


def test_every_stressor_of_the_paper_is_there_also_the_one_without_a_name() -> None:
    assert len(campaigns()) == 6
    for found in campaigns():
        assert set(found.stressors) <= set(PUBLISHED) and "null" in found.stressors
        assert not {"oom-pipe", "stack"} & set(found.steady().stressors)


def test_labels_are_more_than_types_of_hardware() -> None:
    found = [types_of(np.nanmedian(c.steady().rates, axis=2)) for c in campaigns()]
    types = [len(one.members) for one in found]
    labels = [len(c.machines) for c in campaigns()]
    assert min(types) == 7 and max(types) == 11 and (min(labels), max(labels)) == (8, 22)


def test_an_application_has_values_on_the_machines_it_ran_on() -> None:
    values = results(PROXIES, "hpccg", "hpccg")
    assert np.isfinite(values).any(axis=1).sum() == 20 and np.isfinite(values).sum() == 60


def test_innodb_goes_with_msync_and_hpccg_with_the_cache_in_the_published_form() -> None:
    seeds = range(3)
    innodb = importances(MARIADB, "mysqlslap-mariadb-10.3.2", "innodb_load", reading=MEAN, seeds=seeds)
    assert first(innodb) == ["msync"] * 4
    hpccg = importances(PROXIES, "hpccg", "hpccg", reading="every repetition", seeds=seeds)
    assert first(hpccg) == ["cache"] * 4


def test_additions_move_stream_from_memory_to_the_cpu_in_our_form() -> None:
    rng = np.random.default_rng(1)
    before, after = (ours(STREAM, "stream", f"add-{n}", rng)[1] for n in (1, 30))
    assert before.startswith("memcpy 9") and after.startswith("nop 7") and "refused" not in after


def test_known_applications_are_named_and_eight_types_are_refused() -> None:
    here = World(campaign(STREAM).steady(), np.random.default_rng(3))
    stressor, cluster, refused = naming(here, MIXES["one stressor"], 12)
    assert np.mean(cluster) >= 0.9 and np.mean(stressor) >= 0.5 and refused <= 3
    assert below(here, 5) == 0
