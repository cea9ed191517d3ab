"""Counts the instructions of every release of Python-Markdown in every configuration of a set, once.

python -m benchmarks.releases.judge [--configurations 28] [--workers 2]    # 28 of all options' configurations
python -m benchmarks.releases.judge --whole                                # all 32 of five options

Nothing of the search is used: each trial of the example's own command runs alone in QEMU's user mode
(Debian's package qemu-user and a C compiler are needed) with a fixed hash seed and without address
randomisation, so one count is exact to a millionth. Stopped, it goes on. Takes an hour on two busy cores.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np

from bot.adapters.documents.subject_file import load_subject
from bot.model.invocation import invocation
from bot.model.space import Configuration, Space
from bot.model.subject import Program, Subject

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "python-markdown"
WORK = ROOT / "out" / "releases"
TABLE = Path(__file__).with_name("results") / "instructions.csv"
WHOLE = Path(__file__).with_name("results") / "whole.csv"
FIVE = ("fenced_code", "md_in_html", "smarty", "tables", "toc")
"""Options that moved much; the others stay off."""
SEED = 3
RANDOM = 16
"""Configurations in which each option is on with probability 1/2."""
COUNTED = re.compile(r"\ninstructions: (\d+)\n")
PLUGIN = WORK / "count.so"
TIMEOUT = 300
TRIAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where trials of Suspects find their programs, too."""
Counts = dict[tuple[str, Configuration], int | None]
"""Instructions by release and configuration; None: the trial failed."""


def configurations(space: Space) -> list[Configuration]:
    """Default; each option alone; all on; random ones; all but one: the most telling first."""
    width = len(space.options)
    one_hot = np.eye(width, dtype=bool)
    random = np.random.default_rng(SEED).random((RANDOM, width)) < 0.5
    rows = [np.zeros((1, width), dtype=bool), one_hot, np.ones((1, width), dtype=bool), random, ~one_hot]
    return list(dict.fromkeys(tuple(bool(v) for v in row) for row in np.concatenate(rows)))


def of_five(subject: Subject) -> Subject:
    """The subject with five options only."""
    return subject.model_copy(update={"options": {name: subject.options[name] for name in FIVE}})


def every(space: Space) -> list[Configuration]:
    """All configurations of flags."""
    return list(product((False, True), repeat=len(space.options)))


def read_counts(space: Space, path: Path = TABLE) -> Counts:
    """What was counted so far; releases in order."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {
            (row["release"], tuple(row[name] == "1" for name in space.names)): int(row["instructions"])
            if row["instructions"]
            else None
            for row in csv.DictReader(file)
        }


def write_counts(space: Space, counts: Counts, releases: Sequence[str], path: Path = TABLE) -> None:
    """The whole table, by configuration and release; a table that `suspects bisect` reads, too."""
    place = {release: i for i, release in enumerate(releases)}
    order = {c: i for i, c in enumerate(dict.fromkeys(c for _, c in counts))}
    part = path.with_suffix(".part")
    part.parent.mkdir(exist_ok=True)
    with part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["release", *space.names, "instructions"])
        for (release, chosen), count in sorted(
            counts.items(), key=lambda i: (order[i[0][1]], place[i[0][0]])
        ):
            writer.writerow([release, *(int(bool(v)) for v in chosen), "" if count is None else count])
    part.replace(path)


def make_range(folder: Path) -> Path:
    """The example's repository, made by its own script."""
    subprocess.run([sys.executable, EXAMPLE / "make_range.py", folder], check=True, stdout=subprocess.DEVNULL)
    return folder


def releases_in(repository: Path) -> list[str]:
    """The releases by first-parent order: each commit's subject is `Release X`."""
    log = ["git", "-C", str(repository), "log", "--first-parent", "--reverse", "--format=%s"]
    subjects = subprocess.run(log, check=True, capture_output=True, text=True).stdout.splitlines()
    return [subject.removeprefix("Release ") for subject in subjects]


def checkout(repository: Path, release: str, subject: Subject) -> Path:
    """A built tree of a release."""
    folder = WORK / "trees" / release
    if not (folder / ".built").exists():
        folder.mkdir(parents=True, exist_ok=True)
        archive = subprocess.run(
            ["git", "-C", repository, "archive", release], check=True, capture_output=True
        )
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        assert isinstance(subject.program, Program)
        subprocess.run(["sh", "-c", subject.program.build or ""], check=True, cwd=folder, env=environment({}))
        (folder / ".built").touch()
    return folder


def environment(own: Mapping[str, str]) -> dict[str, str]:
    """Of a trial: nothing of ours."""
    return {"PATH": TRIAL_PATH, "LC_ALL": "C.UTF-8", **own}


def count(tree: Path, subject: Subject, configuration: Configuration) -> int | None:
    """Instructions of one trial in user space; None: the trial failed."""
    told = invocation(subject, configuration)
    workload = next(iter(subject.workloads.values())).path
    words = [word.replace("{workload}", workload) for word in told.words]
    program = shutil.which(words[0], path=TRIAL_PATH)
    assert program is not None, f"{words[0]} is not installed"
    ended = subprocess.run(
        ["setarch", "--addr-no-randomize", "qemu-x86_64", "-plugin", PLUGIN, program, *words[1:]],
        cwd=tree,
        env=environment(told.env),
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=TIMEOUT,
    )
    found = COUNTED.search(ended.stderr)
    assert found is not None, f"no count:\n{ended.stderr}"
    return None if ended.returncode else int(found[1])


def judge(most: int, workers: int, *, whole: bool = False) -> None:
    """Counts what is missing in the table, saving after each configuration."""
    subject, path = load_subject(EXAMPLE / "suspects.yml"), WHOLE if whole else TABLE
    subject = of_five(subject) if whole else subject
    chosen = every(subject.space) if whole else configurations(subject.space)
    repository = make_range(WORK / "range")
    releases = releases_in(repository)
    trees = {release: checkout(repository, release, subject) for release in releases}
    compiler = ["cc", "-O2", "-shared", "-fPIC", "-o", str(PLUGIN), str(Path(__file__).with_name("count.c"))]
    subprocess.run(compiler, check=True)
    counts = read_counts(subject.space, path)
    with ThreadPoolExecutor(workers) as pool:
        for configuration in chosen[:most]:
            missing = [r for r in releases if (r, configuration) not in counts]
            if missing:
                taken = pool.map(lambda r, c=configuration: count(trees[r], subject, c), missing)
                counts |= {(r, configuration): n for r, n in zip(missing, taken, strict=True)}
                write_counts(subject.space, counts, releases, path)
                print(f"{len(counts)} trials", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--whole", action="store_true", help="all configurations of five options")
    parser.add_argument("--configurations", type=int, help="so many only; 28 unless --whole")
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    arguments = parser.parse_args()
    most = arguments.configurations or (32 if arguments.whole else 28)
    judge(most, arguments.workers, whole=arguments.whole)


if __name__ == "__main__":
    main()
