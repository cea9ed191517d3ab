"""How unlike the counts of equal trials are: A/A spreads of every count on real programs.

python -m benchmarks.resources.noise [--seconds 3000]    goes on where it was stopped, then writes the table
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bot.adapters.resources.counting import COUNTERS
from bot.model.profiles import Target
from bot.model.resources import Count, Source

RESULTS = Path(__file__).with_name("results")
ROWS, TABLE = RESULTS / "noise.jsonl", RESULTS / "noise.md"
FEW = 50
"""Events, as many as must change before anything is named."""
RUNS: Mapping[Source, int] = {"usage": 10, "calls": 6, "simulation": 4}


@dataclass(frozen=True)
class Case:
    """A program: what makes its counts vary, and its words, run in the folder of inputs."""

    name: str
    nature: str
    words: tuple[str, ...]


_THREADS = """
import hashlib, concurrent.futures
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    print(sum(pool.map(lambda n: len(hashlib.sha256(bytes(n)).hexdigest()), range(2000))))
"""
_FORKS = """
import multiprocessing
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(sum(pool.map(abs, range(-2000, 0), chunksize=100)))
"""
_CYCLES = """
class Node: pass
for _ in range(20000):
    a, b = Node(), Node(); a.other, b.other = b, a
"""
_GARBAGE = "let s = 0; for (let i = 0; i < 2e5; i++) s += new Array(50).fill(i).length; console.log(s)"
PYTHON = (sys.executable, "-S")
CASES = (
    Case("xz", "C", ("xz", "-k", "-c", "-3", "text")),
    Case("sqlite3", "C", ("sqlite3", ":memory:", ".read query.sql")),
    Case("git grep", "C, threads", ("git", "grep", "--no-index", "-c", "self", "text", "code.py")),
    Case("xz -T2", "C, threads", ("xz", "-k", "-c", "-1", "-T2", "--block-size=65536", "text")),
    Case("sort", "C, threads", ("sort", "--parallel=2", "text")),
    Case("pipeline", "C, forks and pipes", ("sh", "-c", "cat text | tr a-z A-Z | sort | uniq -c")),
    Case("json.tool", "Python", (*PYTHON, "-m", "json.tool", "--sort-keys", "data.json")),
    Case("tokenize", "Python", (*PYTHON, "-m", "tokenize", "code.py")),
    Case("cycles", "Python, garbage collector", (*PYTHON, "-c", _CYCLES)),
    Case("thread pool", "Python, threads", (*PYTHON, "-c", _THREADS)),
    Case("process pool", "Python, forks", (*PYTHON, "-c", _FORKS)),
    Case("npm", "Node, JIT", ("node", "/usr/lib/node_modules/npm/bin/npm-cli.js", "help")),
    Case("arrays", "Node, JIT, garbage collector", ("node", "-e", _GARBAGE)),
    Case("javac", "JVM, JIT, threads", ("javac", "-d", ".", "A.java")),
    Case("java -Xmx", "JVM, garbage collector", ("java", "-XX:+UseSerialGC", "-Xmx16m", "-cp", ".", "G")),
)
JAVA = """public class G { public static void main(String[] words) {
  long s = 0; for (int i = 0; i < 300000; i++) s += new int[100].length; System.out.println(s); } }
"""


def prepare(folder: Path) -> None:
    """Inputs for all programs."""
    library = Path(os.__file__).parent
    texts = [(library / f"{name}.py").read_text(encoding="utf-8") for name in ("argparse", "inspect", "ast")]
    (folder / "text").write_text("".join(texts)[:200_000], encoding="utf-8")
    (folder / "code.py").write_text((library / "queue.py").read_text(encoding="utf-8"), encoding="utf-8")
    numbers = {f"key {i * 7919 % 1000}": [i, str(i), i / 7] for i in range(1000)}
    (folder / "data.json").write_text(json.dumps(numbers), encoding="utf-8")
    (folder / "query.sql").write_text(
        "create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000)"
        " insert into t select i, i * 7919 % 1000 from n; select b, sum(a) from t group by b order by 2;\n",
        encoding="utf-8",
    )
    (folder / "A.java").write_text("public class A { int a; }\n", encoding="utf-8")
    (folder / "G.java").write_text(JAVA, encoding="utf-8")
    os.system(f"cd {folder} && javac G.java")


def measure(until: float) -> None:
    """Adds rows until there are enough of each kind, or the time is over."""
    have = Counter((row["case"], row["source"]) for row in rows())
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = Path(name) / "inputs"
        folder.mkdir()
        prepare(folder)
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(folder), "TMPDIR": "/var/tmp"}
        for source, wanted in RUNS.items():
            counter = COUNTERS[source]()
            for case in CASES:
                place = Path(name) / "scratch"
                place.mkdir(exist_ok=True)
                parallel = "threads" in case.nature
                target = Target(
                    case.words, env, folder, folder, place, timeout=60.0, one_core=not parallel, stop=None
                )
                for _ in range(wanted - have[case.name, source]):
                    if time.monotonic() > until:
                        return
                    began = time.monotonic()
                    counted = counter.count(target)
                    row = {
                        "case": case.name,
                        "source": source,
                        "outcome": counted.outcome,
                        "counts": dict(counted.counts),
                        "seconds": round(time.monotonic() - began, 2),
                        "tool": counted.tool,
                        "notes": list(counted.notes),
                    }
                    with ROWS.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")
                    print(case.name, source, counted.outcome, row["seconds"], flush=True)


def rows() -> list[dict[str, Any]]:
    """All that was counted."""
    return (
        [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()] if ROWS.exists() else []
    )


def spreads() -> dict[str, dict[Count, tuple[float, float]]]:
    """Of each case and count: largest minus smallest, over the median and as it is."""
    seen: dict[str, dict[Count, list[float]]] = {}
    for row in rows():
        if row["outcome"] == "ok":
            for count, number in row["counts"].items():
                seen.setdefault(row["case"], {}).setdefault(count, []).append(number)
    return {
        case: {
            count: ((max(v) - min(v)) / max(float(np.median(v)), 1.0), max(v) - min(v))
            for count, v in counts.items()
            if len(v) > 1
        }
        for case, counts in seen.items()
    }


def _cell(values: Sequence[tuple[float, float]]) -> str:
    """The worst, relative, and in brackets what it is in events where these are few."""
    if not values:
        return ""
    relative, events = max(values)
    if events < 0.5:
        return "0"
    text = f"{relative * 1e6:.0f} ppm" if relative < 5e-4 else f"{relative:.2%}"
    return f"{text} ({events:.0f})" if events < FEW else text


def markdown() -> str:
    """The table of spreads."""
    found = spreads()
    columns: Mapping[str, tuple[Count, ...]] = {
        "instructions": ("instructions",),
        "misses": ("branch_misses", "instruction_misses", "first_misses", "last_misses"),
        "calls": ("memory_calls", "filesystem_calls", "network_calls", "other_calls"),
        "between processes": ("ipc_calls",),
        "page faults": ("page_faults",),
        "waits": ("waits",),
    }
    lines = [
        "# How unlike the counts of equal trials are",
        "",
        f"Largest minus smallest over the median of {RUNS['usage']} (kernel's accounting), {RUNS['calls']} "
        f"(system calls) and {RUNS['simulation']} (simulation) trials; in brackets in events, where these "
        f"are fewer than {FEW}. Misses and calls: the worst of their classes; calls between processes "
        "(locks, pipes, events) stand apart. Seconds on a machine with a load of 7 to 25 on 4 cores.",
        "",
        "Programs of one thread repeat to the call and the instruction; their page faults differ by a few, "
        "whatever the program's size, because the kernel maps what surrounds a page of a file as it lies in "
        "memory. Threads meet where they meet, and runtimes that compile and collect beside the program "
        "differ in everything: there a name needs more than chance (docs/how-it-decides.md).",
        "",
        f"| program | nature | {' | '.join(columns)} | s simulated | s traced |",
        "|---|---|" + "---:|" * (len(columns) + 2),
    ]
    every = rows()
    for case in CASES:
        one = found.get(case.name, {})
        cells = [_cell([one[c] for c in counts if c in one]) for counts in columns.values()]
        for source in ("simulation", "calls"):
            times = [r["seconds"] for r in every if r["case"] == case.name and r["source"] == source]
            cells.append(f"{np.median(times):.1f}" if times else "")
        lines.append(f"| {case.name} | {case.nature} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def main() -> None:
    """Measures and writes the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3000.0)
    measure(time.monotonic() + parser.parse_args().seconds)
    TABLE.write_text(markdown(), encoding="utf-8")


if __name__ == "__main__":
    main()
