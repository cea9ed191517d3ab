"""Results of other tools, as those tools write them (shortened)."""

from __future__ import annotations

import json
from typing import Any

COMMIT = "45d78258e495044a551046f50604da3c893052ce"


def data_js(**changes: Any) -> str:
    entry = {
        "commit": {
            "author": {"email": "ann@example.org", "name": "Ann", "username": "ann"},
            "distinct": True,
            "id": COMMIT,
            "message": "faster",
            "timestamp": "2019-11-10T00:06:58+09:00",
            "tree_id": "59cf1e78101c09beef06aa1832e1caa09ec52246",
            "url": f"https://example.org/commit/{COMMIT}",
        },
        "date": 1573312140323,
        "tool": "cargo",
        "benches": [
            {"name": "fib_10", "value": 254, "range": "+/- 35", "unit": "ns/iter"},
            {"name": "fib_20", "value": 34001.5, "range": 3820, "unit": "ns/iter", "extra": "4 procs"},
            {"name": "rate", "value": 12.5, "unit": "iter/sec"},
        ],
    }
    later = {**entry, "date": 1573400000000, "commit": {"id": "b" * 40}}
    data = {
        "lastUpdate": 1574248406871,
        "repoUrl": "https://example.org",
        "entries": {"Rust": [entry | changes, later]},
    }
    return "window.BENCHMARK_DATA = " + json.dumps(data, indent=2)


def asv(**changes: Any) -> str:
    columns = ["result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b"]
    columns += ["stats_q_25", "stats_q_75", "stats_number", "stats_repeat", "samples", "profile"]
    results = {
        "sorting.Suite.time_sort": [
            [0.5, None, 0.25, float("nan")],
            [["10", "20"], ["'fast'", "'slow'"]],
            "d1f0",
            1700000000000,
            3.2,
            *[[None] * 4] * 4,
            [2, None, 3, None],
            [5, None, 1, None],
            [[0.4, 0.5, 0.6], None, None, None],
        ],
        "sorting.peakmem_sort": [[1048576.0], [], "d1f1", 1700000009000, 0.1],
        "broken.time_never": [None, [], "d1f2"],
    }
    data = {
        "version": 2,
        "commit_hash": COMMIT,
        "env_name": "virtualenv-py3.11",
        "date": 1699999999000,
        "params": {
            "arch": "x86_64",
            "cpu": "a processor",
            "machine": "m",
            "num_cpu": "8",
            "os": "Linux 6.1",
            "ram": "1",
        },
        "python": "3.11",
        "requirements": {},
        "env_vars": {},
        "result_columns": columns,
        "results": results,
        "durations": {},
    }
    return json.dumps(data | changes)


BENCHMARKS = json.dumps(
    {"version": 2, "sorting.Suite.time_sort": {"param_names": ["size", "how"], "params": [], "type": "time"}}
)


def pytest_benchmark(*, rounds: bool = True, **changes: Any) -> str:
    stats = {
        "min": 0.1,
        "max": 0.3,
        "mean": 0.2,
        "stddev": 0.1,
        "rounds": 3,
        "median": 0.2,
        "iqr": 0.1,
        "iterations": 24,
    }
    data = {
        "machine_info": {
            "node": "m",
            "machine": "x86_64",
            "python_version": "3.11.7",
            "release": "6.1",
            "system": "Linux",
            "cpu": {"brand_raw": "a processor", "count": 4, "hz_actual": [2596146000, 0]},
        },
        "commit_info": {"id": COMMIT, "time": "2024-01-02T03:04:05+00:00", "dirty": False, "branch": "main"},
        "benchmarks": [
            {
                "group": None,
                "name": "test_a[10-fast]",
                "fullname": "test_x.py::test_a[10-fast]",
                "params": {"n": 10, "mode": "fast"},
                "param": "10-fast",
                "extra_info": {},
                "options": {"disable_gc": False, "timer": "perf_counter"},
                "stats": stats | ({"data": [0.1, 0.2, 0.3]} if rounds else {}),
            }
        ],
        "datetime": "2024-01-02T03:04:05.009810",
        "version": "5.1.0",
    }
    return json.dumps(data | changes)


def hyperfine(**changes: Any) -> str:
    one = {
        "command": "xz -6 file",
        "mean": 0.2,
        "stddev": 0.1,
        "median": 0.2,
        "user": 0.1,
        "system": 0.05,
        "min": 0.1,
        "max": 0.3,
        "times": [0.1, 0.2, 0.3],
        "memory_usage_byte": [1000, 1001, 1002],
        "exit_codes": [0, 0, 1],
        "parameters": {"level": "6"},
    }
    two = {
        "command": "xz -9 file",
        "mean": 0.5,
        "stddev": None,
        "median": 0.5,
        "exit_codes": [0],
        "min": 0.5,
        "max": 0.5,
    }
    return json.dumps({"results": [one, two | {"user": 0.1, "system": 0.1}]} | changes)


def hyperfine_2() -> str:
    def quantity(value: float, unit: str) -> dict[str, Any]:
        return {"value": value, "unit": unit}

    measurement = {
        "time_wall_clock": quantity(1.5, "second"),
        "time_cpu": quantity(1.25, "second"),
        "time_user": quantity(1.0, "second"),
        "memory_peak_resident": quantity(4096, "byte"),
        "exit_code": 0,
    }
    data = {
        "schema_version": 2,
        "metadata": {
            "hyperfine_version": "2.0.0",
            "start_time": "2024-01-02T03:04:05Z",
            "platform": {"os": "linux"},
        },
        "primary_metric": "time_wall_clock",
        "results": [{"command": "sleep 1", "name": "one", "measurements": [measurement, {"exit_code": 3}]}],
    }
    return json.dumps(data)
