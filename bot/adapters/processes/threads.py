"""One thread for our own linear algebra: the cores belong to the measured program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread() -> Iterator[None]:
    """Keeps the libraries behind numpy to one thread; small matrices are faster so, too."""
    import numpy as np
    from threadpoolctl import threadpool_limits

    assert np  # only a library that is loaded can be limited
    with threadpool_limits(limits=1):
        yield
