import os
import socket
from collections.abc import Iterator

import numpy as np
import pytest
from distributed import LocalCluster
from joblib import Parallel, delayed

from bot.adapters.workers import workers
from bot.analysis.influences.learning import InfluenceModels
from bot.model.errors import UsageError
from tests.unit.analysis.influences.programs import Program, drawn, measured

PROGRAM: Program = {
    "compressor": {
        "calls": lambda c: 10.0 * c["blocks"],
        "seconds": lambda c: c["blocks"] * (0.8 if c["compress"] else 0.1),
    },
    "cipher": {"seconds": lambda c: 0.2 * c["blocks"] if c["encrypt"] else 0.0},
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, memory_limit=None
    ) as found:
        yield found


def _learnt() -> InfluenceModels:
    rng = np.random.default_rng(1)
    return InfluenceModels(rng=rng).fit(
        measured(drawn(60, rng), PROGRAM, noise=0.02, rng=rng),
        measured(drawn(20, rng), PROGRAM, noise=0.02, rng=rng),
    )


def test_a_dask_cluster_learns_the_same_models_in_its_own_processes(cluster: LocalCluster) -> None:
    address = cluster.scheduler_address.removeprefix("tcp://")
    with workers("local", jobs=1):
        alone = _learnt()
    with workers(f"dask://{address}", jobs=1):
        together = _learnt()
        places = set(Parallel()(delayed(os.getpid)() for _ in range(8)))
    assert os.getpid() not in places
    configurations = alone.probe_.configurations
    assert np.array_equal(
        alone.predict(configurations, "seconds"), together.predict(configurations, "seconds")
    )


def test_local_workers_are_other_processes_and_none_is_left() -> None:
    with workers("local", jobs=2):
        places = set(Parallel()(delayed(os.getpid)() for _ in range(4)))
    assert os.getpid() not in places
    for process in places:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_one_job_stays_in_this_process() -> None:
    with workers("local", jobs=1):
        assert set(Parallel()(delayed(os.getpid)() for _ in range(4))) == {os.getpid()}


def test_an_address_without_a_scheduler_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.adapters.workers.CONNECT_SECONDS", 1)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with (
            pytest.raises(UsageError, match="no Dask scheduler answers"),
            workers(f"dask://127.0.0.1:{port}", jobs=1),
        ):
            pass
