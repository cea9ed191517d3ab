"""Where learning runs: on the cores of this machine, or on the workers of a Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import joblib
from joblib.externals.loky import get_reusable_executor

from bot.model.errors import UsageError

DASK = "dask://"
CONNECT_SECONDS = 15


@contextmanager
def workers(backend: str, *, jobs: int | None = None) -> Iterator[None]:
    """Everything that `joblib.Parallel` does inside runs there; leaves no process behind.

    backend: dask://host:port, or "local": then on `jobs` processes, by default one for each core. What a
    cluster is given are arrays of costs and encoded configurations; what it gives back is trusted as much as
    this process is.

    Raises:
        UsageError: there is no scheduler at the address, or the package for it is not installed.
    """
    if not backend.startswith(DASK):
        with _local(jobs or len(os.sched_getaffinity(0))):
            yield
        return
    try:
        from distributed import Client
    except ImportError as error:
        missing = UsageError(f"analysis.backend {backend} needs the package `distributed`")
        missing.add_note("Install suspects with its extra: pip install suspects[dask]")
        raise missing from error
    try:
        client = Client(f"tcp://{backend.removeprefix(DASK)}", timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        absent = UsageError(f"no Dask scheduler answers at {backend}")
        absent.add_note("Start one with `dask scheduler`, or set analysis.backend to local.")
        raise absent from error
    with client, joblib.parallel_config(backend="dask", client=client):
        yield


@contextmanager
def _local(jobs: int) -> Iterator[None]:
    if jobs <= 1:
        with joblib.parallel_config(backend="sequential"):
            yield
        return
    try:
        with joblib.parallel_config(backend="loky", n_jobs=jobs, inner_max_num_threads=1):
            yield
    finally:
        get_reusable_executor().shutdown(wait=True)
