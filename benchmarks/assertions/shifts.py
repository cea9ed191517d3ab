"""By how much fine profilers shift what they time, once their own part is taken off: results/shifts.md.

python -m benchmarks.assertions.shifts [--rounds 5]

A program calls functions of several lengths, one after the other (warm) or with other work in between (cold
caches). Every other call is of a twin of the function, which the profiler does not watch and the program
times by clock reads of its own, less those around nothing (the reference of seeds/002, section 4.5).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from bot.adapters.builds.compilers import ROOM
from bot.adapters.processes.process import PLAIN_ENVIRONMENT
from bot.adapters.profilers.call_series import median
from bot.adapters.profilers.native import series
from bot.adapters.profilers.native.frida_watcher import FridaWatcher
from bot.adapters.profilers.native.uftrace import Uftrace
from bot.adapters.profilers.python.fine import PythonFine
from bot.model.profiles import Method, Profile, Target

RESULTS = Path(__file__).with_name("results") / "shifts.md"
CALLS = 4000
LENGTHS = {"python": (0, 3, 6, 12, 25, 50, 100, 250, 1000), "native": (0, 15, 30, 60, 120, 250, 500, 1000)}
"""Rounds of a loop in each function."""
TOOLS = {"agent": "python", "uftrace": "native", "frida": "native"}
"""And the runtimes of their programs."""
KINDS = ("warm", "cold")

_PYTHON_FUNCTION = """
def {name}{n}(a, b=1):
    for i in range({n}):
        a = a + b
    return a
"""
_PYTHON_MAIN = """
import json, sys, time
import functions, same
clock = time.perf_counter_ns
rest = [str(i) for i in range(3000)]
def churn():
    return len(set(rest[::3]))
def run(cold, watched, itself):
    own = []
    for _ in range({calls}):
        if cold:
            churn()
        watched(1)
        if cold:
            churn()
        start = clock(); itself(1); own.append(clock() - start)
    return sorted(own)[{calls} // 2]
def nothing():
    own = []
    for _ in range({calls}):
        start = clock(); own.append(clock() - start)
    return sorted(own)[{calls} // 2]
pairs = [(getattr(functions, "f%d" % n), getattr(same, "g%d" % n)) for n in {lengths}]
told = [nothing()] + [run("cold" in sys.argv, *pair) for pair in pairs]
open(sys.argv[2], "w").write(json.dumps(told))
"""
_NATIVE_FUNCTION = """
__attribute__((noinline)) long {name}{n}(long a, long b) {{
    for (volatile int i = 0; i < {n}; i++) a += b;
    return a;
}}
"""
_NATIVE_MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static long now(void) {{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}}
static int before(const void *a, const void *b) {{
    long x = *(long *)a, y = *(long *)b;
    return (x > y) - (x < y);
}}
static char rest[1 << 16];
static volatile long sink;
static void churn(void) {{ for (int i = 0; i < (1 << 16); i += 64) rest[i]++; }}
static long own[{calls}];
int main(int n, char **words) {{
    int cold = !strcmp(words[1], "cold");
    long (*watched[])(long, long) = {{ {watched} }}, (*itself[])(long, long) = {{ {itself} }};
    FILE *told = fopen(words[2], "w");
    for (int i = 0; i < {calls}; i++) {{ long start = now(); own[i] = now() - start; }}
    qsort(own, {calls}, sizeof *own, before);
    fprintf(told, "[%ld", own[{calls} / 2]);
    for (int k = 0; k < {many}; k++) {{
        for (int i = 0; i < {calls}; i++) {{
            if (cold) churn();
            sink += watched[k](1, i);
            if (cold) churn();
            long start = now();
            sink += itself[k](1, i);
            own[i] = now() - start;
        }}
        qsort(own, {calls}, sizeof *own, before);
        fprintf(told, ",%ld", own[{calls} / 2]);
    }}
    fprintf(told, "]\\n");
    return fclose(told);
}}
"""


def make(runtime: str, folder: Path) -> list[str]:
    """The program's words."""
    lengths = LENGTHS[runtime]
    if runtime == "python":
        for file, name in (("functions.py", "f"), ("same.py", "g")):
            (folder / file).write_text("".join(_PYTHON_FUNCTION.format(name=name, n=n) for n in lengths))
        (folder / "main.py").write_text(_PYTHON_MAIN.format(lengths=lengths, calls=CALLS))
        return ["python3", "-S", "main.py"]
    text = "".join(_NATIVE_FUNCTION.format(name=name, n=n) for n in lengths for name in "fg")
    watched, itself = (", ".join(f"{name}{n}" for n in lengths) for name in "fg")
    text += _NATIVE_MAIN.format(watched=watched, itself=itself, many=len(lengths), calls=CALLS)
    (folder / "main.c").write_text(text)
    subprocess.run(["cc", "-g", "-O1", ROOM, "-o", "main", "main.c"], cwd=folder, check=True)
    return ["./main"]


def profiled(tool: str, target: Target) -> Profile:
    """A trial under the profiler."""
    setattr(series, "MOST_BIAS", 9.0)  # noqa: B010  (what is too short is told, too)
    runtime = TOOLS[tool]
    tools: dict[str, PythonFine | Uftrace | FridaWatcher] = {
        "agent": PythonFine(arguments=False),
        "uftrace": Uftrace(),
        "frida": FridaWatcher(),
    }
    file, module = ("functions.py", "functions:") if runtime == "python" else ("main.c", "")
    return tools[tool].profile(target, [Method(f"{module}f{n}", file) for n in LENGTHS[runtime]])


def shifts(tool: str, kind: str, folder: Path) -> list[tuple[int, float, float, float]]:
    """Of each function that the profiler told: its length; ns as it is, as told, and that were taken off."""
    runtime, told_to = TOOLS[tool], folder / "told.json"
    words = [*make(runtime, folder), kind, str(told_to)]
    env = {**PLAIN_ENVIRONMENT, "PATH": os.environ["PATH"]}
    profile = profiled(tool, Target(tuple(words), env, folder, folder, folder))
    assert profile.outcome == "ok", profile.notes
    itself = np.array(json.loads(told_to.read_text()), dtype=float)
    told = {one.method.name.rpartition("f")[2]: 1e9 * median(one) for one in profile.series}
    return [
        (n, float(t), told[str(n)], 1e9 * profile.tool.bias)
        for n, t in zip(LENGTHS[runtime], itself[1:] - itself[0], strict=True)
        if str(n) in told
    ]


def rows(tool: str, kind: str, rounds: int) -> list[str]:
    """Of the table: one for each function."""
    found: dict[int, list[list[float]]] = defaultdict(list)
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            for n, *rest in shifts(tool, kind, Path(folder)):
                found[n].append(rest)
    lines = []
    for several in found.values():
        true, told, off = np.array(several).T
        left = told - true
        share = left / np.maximum(off, 1.0)
        cells = [tool, kind, f"{np.median(true):,.0f}", f"{np.median(off):.0f}", f"{np.median(left):+.0f}"]
        cells += [f"{np.median(share):+.0%}", f"{np.abs(share).max():.0%}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Writes the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    lines = [
        "# What the profilers shift\n",
        f"`python -m benchmarks.assertions.shifts`: medians of {CALLS:,} calls, {asked.rounds} trials, on a",
        "busy machine. Taken off: what the profiler calibrated as its own part. Left: what the told median",
        "has more than the true one; in the last column, in the trial in which that was most. Of long calls",
        "it is mostly the machine's noise between the calls of a function and those of its twin.\n",
        "| tool | caches | true: ns | taken off: ns | left: ns, median | of what was taken off | most |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for tool in TOOLS:
        for kind in KINDS:
            lines += rows(tool, kind, asked.rounds)
            RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
