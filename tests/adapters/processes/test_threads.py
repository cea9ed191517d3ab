"""Threads of linear algebra."""

from __future__ import annotations

from threadpoolctl import threadpool_info

from bot.adapters.processes.threads import one_thread


def test_linear_algebra_keeps_to_one_thread() -> None:
    with one_thread():
        assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} == {1}
