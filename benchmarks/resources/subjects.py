"""Real programs of the distribution and its registries, and ours, counted by the product's own sources."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from bot.adapters.resources.counting import COUNTERS
from bot.adapters.resources.interpreters import bare
from bot.flows.run.free_counts import COUNTS
from bot.model.profiles import Target
from bot.model.resources import Count, Counted, Source
from bot.model.space import Configuration
from bot.model.trials import Side

PLANTED = Path(__file__).with_name("planted")
PYTHON = sys.executable
LOADER = "/lib64/ld-linux-x86-64.so.2"
JAVA = "public class A { public static void main(String[] words) { System.out.println(words.length); } }\n"
SQL = (
    "create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000)"
    " insert into t select i, i * 7919 % 1000 from n;"
    " select b, count(*), sum(a) from t group by b order by 2;\n"
)


@dataclass(frozen=True)
class Subject:
    """A program: its words, in a folder with the inputs that `prepare` writes.

    kind: how work is planted: preloaded into C, in front of a Python module, none.
    """

    name: str
    kind: str
    words: tuple[str, ...]
    stdin: str = ""


SUBJECTS = {
    one.name: one
    for one in (
        Subject("xz", "c", ("xz", "-k", "-c", "-1", "text")),
        Subject("bzip2", "c", ("bzip2", "-k", "-c", "text")),
        Subject("jq", "c", ("jq", "-S", ".", "data.json")),
        Subject("openssl", "c", ("openssl", "enc", "-aes-256-cbc", "-pbkdf2", "-k", "x", "-in", "text")),
        Subject("sqlite3", "c", ("sqlite3", ":memory:", ".read query.sql")),
        Subject("sort", "c", ("sort", "--parallel=1", "code.py")),
        Subject("mixed", "own", ()),
        Subject("json.tool", "python", ("json.tool", "--sort-keys", "data.json")),
        Subject("tokenize", "python", ("tokenize", "short.py")),
        Subject("npm", "node", ("node", "/usr/lib/node_modules/npm/bin/npm-cli.js", "help")),
        Subject("javac", "jvm", ("javac", "-d", ".", "A.java")),
    )
}


def prepare(folder: Path) -> None:
    """Inputs for all programs, and the planted work compiled."""
    folder.mkdir(parents=True, exist_ok=True)
    library = Path(os.__file__).parent
    texts = "".join((library / f"{name}.py").read_text() for name in ("ast", "argparse", "inspect"))
    (folder / "text").write_text(texts[:100_000])
    (folder / "code.py").write_text(
        "".join((library / f"{name}.py").read_text() for name in ("queue", "shlex"))
    )
    (folder / "short.py").write_text((library / "token.py").read_text())
    whole = json.loads((PLANTED.parents[2] / "schema" / "report.schema.json").read_text())
    (folder / "data.json").write_text(json.dumps(whole["$defs"]["Effect"]) + "\n")
    (folder / "query.sql").write_text(SQL)
    (folder / "A.java").write_text(JAVA)
    shutil.copy(PLANTED / "work.py", folder)
    source = str(PLANTED / "work.c")
    if (folder / "work").exists():
        return
    for flags in (("-shared", "-fPIC", "-o", "work.so"), ("-DMAIN", "-o", "work")):
        subprocess.run(["cc", "-O1", *flags, source], cwd=folder, check=True, timeout=60)


def target(subject: Subject, folder: Path, planted: Mapping[str, int]) -> Target:
    """The program in its folder with planted work; amounts are written with ten digits, so none is longer."""
    plant = " ".join(f"{kind}={amount:010}" for kind, amount in sorted(planted.items()))
    scratch = folder.parent / "scratch"
    scratch.mkdir(exist_ok=True)
    home = (
        scratch / "trial"
    )  # empty in each trial, as in a pull request: npm leaves logs that the next one reads
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(home), "PLANT": plant}
    words = subject.words
    if subject.kind == "c":
        # By the loader: valgrind loses what LD_PRELOAD says when a program starts another one.
        program = shutil.which(words[0]) or words[0]
        words = (LOADER, "--preload", "./work.so", program, *words[1:])
    elif subject.kind == "python":
        words = (PYTHON, "-I", "-S", "-X", "utf8", "work.py", *words)
    elif subject.kind == "own":
        words = ("./work",)
    one_core = subject.kind != "jvm"
    return Target(words, env, folder, folder, scratch, timeout=120.0, one_core=one_core, fresh=home)


class DirectBench:
    """Fits the port `ResourceBench` for a program at base and head; `spent`: seconds of counted trials."""

    def __init__(self, base: Target, head: Target) -> None:
        self._targets: dict[Side, Target] = {"base": base, "head": head}
        self._counters = {source: make() for source, make in COUNTERS.items()}
        self.spent = 0.0

    def missing(self) -> Mapping[Source, tuple[str, ...]]:
        """Everything is installed where this runs."""
        return {}

    def count(
        self, side: Side, configuration: Configuration, source: Source, *, seconds: float = math.inf
    ) -> Counted:
        """One trial, counted."""
        del configuration
        until = time.monotonic() + seconds
        return self._count(replace(self._targets[side], stop=lambda: time.monotonic() > until), source)

    def start_up(self, side: Side, source: Source, *, seconds: float = math.inf) -> Counted | None:
        """The bare interpreter."""
        del seconds
        words = bare(self._targets[side])
        return None if words is None else self._count(replace(self._targets[side], words=words), source)

    def elapsed(self) -> float:
        """Seconds of counted trials."""
        return self.spent

    def _count(self, one: Target, source: Source) -> Counted:
        began = time.monotonic()
        found = self._counters[source].count(one)
        self.spent += time.monotonic() - began
        over = one.stop is not None and one.stop() and not found.ok
        return replace(found, outcome="cut") if over else found


def usage(bench: DirectBench, side: Side) -> dict[Count, float]:
    """Free counts of one trial, as a pair brings them."""
    found = bench.count(side, (), "usage")
    if not found.ok:
        raise RuntimeError(f"a trial failed: {found.notes}")
    return {count: n for count, n in found.counts.items() if count in COUNTS}
