"""Seconds and memory of `suspects merge`: python -m benchmarks.shards.unite [FOLDER] writes results/unite.md.

Each figure is one fresh process, from its start to the written reports (JSON, Markdown, HTML); the memory is
the whole process's peak.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bot.adapters.documents.subject_file import load_subject
from bot.adapters.stores.shard_folder import write_shard
from bot.model.history import Measurements, RunRecord, known_options, program_fingerprint
from bot.model.report import Environment, Report, RevisionRef, Spent
from bot.model.shards import Manifest, Shard, planned
from bot.model.space import Configuration
from bot.model.subject import Subject
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.pull_request import pull_request_sample
from bot.sampling.shares import share

RESULTS = Path(__file__).parent / "results" / "unite.md"
METRICS = ("cpu", "max_rss", "wall", "queued", "minor_faults", "major_faults", "blocks", "voluntary_switches")
OPTIONS, CONFIGURATIONS = 13, 96
OWN = 24
"""Configurations of a shard."""
SHAPES = {
    "8 shards, 8 metrics": (8, 8, 1),
    "64 shards, 8 metrics": (64, 8, 1),
    "200 shards, 8 metrics": (200, 8, 1),
    "200 shards, 8 metrics, 4 kinds of machines": (200, 8, 4),
    "200 shards, 2 metrics": (200, 2, 1),
    "200 shards, 2 metrics, 4 kinds of machines": (200, 2, 4),
}
"""Name -> (shards, metrics of a trial, kinds of machines); each shard has 50,000 measurements."""
ROWS = 50_000
TARGET = "60 s, 2 GB"


def repository(folder: Path) -> tuple[str, str]:
    """A repository of two commits with a subject; their ids."""
    options = {f"o{i}": {"flag": f"--o{i}"} for i in range(OPTIONS)}
    subject = {
        "program": {"run": "./p {options}"},
        "options": options,
        "metrics": ["cpu", "max_rss"],
        "history": [{"store": "directory", "path": "history"}],
    }
    (folder / ".github").mkdir(parents=True)
    (folder / ".github/suspects.yml").write_text(json.dumps(subject))

    def git(*words: str) -> str:
        who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
        return subprocess.run(
            ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "-q", "-b", "main")
    found = []
    for text in "ab":
        (folder / "p").write_text(text)
        git("add", "-A")
        git("commit", "-q", "-m", text)
        found.append(git("rev-parse", "HEAD"))
    return found[0], found[1]


def trials(
    shard: Shard, subject: Subject, metrics: int, kind: str, sample: list[Configuration]
) -> Measurements:
    """One shard's rows: o0 costs 2 %."""
    rng = np.random.default_rng(shard.seed)
    own = share(sample, shard.shard, shard.shards, rng=np.random.default_rng(shard.sample_seed))[:OWN]
    pairs = ROWS // (2 * metrics)
    configuration = np.concatenate([np.arange(OWN), rng.integers(0, OWN, pairs - OWN)])
    control = rng.random(pairs) < 1 / 12
    trial = np.repeat(np.arange(2 * pairs, dtype=np.int32), metrics)
    second = trial % 2 == 1
    head = second & ~control[trial // 2]
    slower = np.array([c[0] for c in own])[configuration][trial // 2]
    value = rng.lognormal(0, 0.03, len(trial)) * np.where(head & slower, 1.02, 1.0)
    rows = len(trial)
    return Measurements(
        runs=(
            RunRecord(
                id=f"run-{shard.shard}",
                mode="pull_request",
                started=datetime(2024, 1, 1, tzinfo=UTC),
                program=program_fingerprint(subject),
                options=known_options(subject.space),
                environment=Environment(cpu=kind),
            ),
        ),
        revisions=tuple(RevisionRef(revision=r, label=r[:8]) for r in (shard.base, shard.head)),
        configurations=tuple(subject.space.as_dict(c) for c in own),
        metrics=METRICS[:metrics],
        workloads=("",),
        run=np.zeros(rows, np.int32),
        revision=head.astype(np.int32),
        configuration=configuration.astype(np.int32)[trial // 2],
        metric=np.tile(np.arange(metrics, dtype=np.int16), 2 * pairs),
        value=value,
        outcome=np.zeros(rows, np.int8),
        exit_code=np.zeros(rows, np.int16),
        trial=trial,
        pair=trial // 2,
        second=second,
        track=np.zeros(rows, np.int8),
        workload=np.zeros(rows, np.int16),
        repetitions=np.full(rows, 4, np.int32),
    )


def left(folder: Path, subject: Subject, ends: tuple[str, str], shape: tuple[int, int, int]) -> int:
    """The shards' folders; how many measurements they hold."""
    shards, metrics, kinds = shape
    solver = ConstraintSolver(subject.space)
    sample = pull_request_sample(subject.space, solver, CONFIGURATIONS, rng=np.random.default_rng(1))
    rows = 0
    plan = planned(shards, base=ends[0], head=ends[1], budget=60.0 * shards, sample_seed=1)
    for shard in plan.include:
        kind = f"kind {shard.shard % kinds}"
        found = trials(shard, subject, metrics, kind, sample)
        rows += len(found)
        path = folder / str(shard.shard)
        path.mkdir(parents=True)
        spent = Spent(seconds=60.0, trials=len(found) // metrics, pairs=len(found) // metrics // 2)
        report = Report(
            mode="pull_request",
            verdict="inconclusive",
            base=RevisionRef(revision=ends[0], label="base"),
            head=RevisionRef(revision=ends[1], label="head"),
            spent=spent,
        )
        write_shard(path, Manifest(shard=shard), report=report, rows=[found])
    return rows


def timed(repo: Path, folder: Path, out: Path) -> tuple[float, float, float, str]:
    """Wall seconds, those of the CPU, peak memory (GB) and what the report says."""
    words = [sys.executable, "-m", "bot", "merge", str(folder), "-q", "-v"]
    words += [w for end in ("json", "markdown", "html") for w in (f"--{end}", str(out / f"report.{end}"))]
    root = str(Path(__file__).parents[2])
    began = time.perf_counter()
    process = subprocess.Popen(words, cwd=repo, env={**os.environ, "PYTHONPATH": root})
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    assert os.waitstatus_to_exitcode(status) == 0
    report = json.loads((out / "report.json").read_text())
    named = ", ".join("+".join(e["term"]) for e in report["suspects"]["options"])
    said = f"{report['spent']['pairs']:,} pairs, {report['verdict']}: {named}"
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20, said


def main() -> None:
    """Measures every shape and writes the table."""
    lines = [
        f"`suspects merge` of shards with {ROWS:,} measurements (rows) each; target: {TARGET}. The machine",
        "had other work: of the wall seconds, those of the CPU are ours.",
        "",
        "| shape | measurements | on disk | seconds | of the CPU | peak memory | report |",
        "|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as name:
        repo, out = Path(name, "repo"), Path(name, "out")
        out.mkdir()
        ends = repository(repo)
        subject = load_subject(repo / ".github/suspects.yml")
        wanted = {name: shape for name, shape in SHAPES.items() if not sys.argv[2:] or sys.argv[2] in name}
        for number, (shape, numbers) in enumerate(wanted.items()):
            folder = Path(name, str(number))
            rows = left(folder, subject, ends, numbers)
            disk = sum(path.stat().st_size for path in folder.rglob("*.*"))
            seconds, cpu, memory, said = timed(repo, folder, out)
            subprocess.run(["rm", "-rf", str(folder)], check=True)
            cost = f"{disk / 2**20:.0f} MB | {seconds:.1f} | {cpu:.1f} | {memory:.2f} GB"
            lines.append(f"| {shape} | {rows:,} | {cost} | {said} |")
            print(lines[-1], flush=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
