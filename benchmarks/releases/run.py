"""Bisects Python-Markdown's releases and compares what it finds with the judge's steps.

python -m benchmarks.releases.run table [--noise 0.02] [--seeds 3] [--share 0.15]
python -m benchmarks.releases.run cpu | instructions [--seeds 3] [--share 0.15] [--budget 3h]
python -m benchmarks.releases.run whole | whole-instructions [--first 300]   # five options, all counted
python -m benchmarks.releases.run show

`table` bisects the judge's counts, with noise of that coefficient of variation, as a table program; `cpu` and
`instructions` bisect the example's repository: real builds and trials, and that metric. All may take `share`
of the exhaustive trials: those of the judge, all releases x all its configurations once each; for `cpu`
those of the exhaustive measurement of CPU times (seconds.py), in pairs. Both trials of a pair count. `whole`
is `table`, `whole-instructions` is `instructions` with the five options of which all 32 configurations were
counted: exhaustive is then the whole space. `show` only writes the table.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from ruamel.yaml import YAML

from benchmarks.releases.fewest import described
from benchmarks.releases.judge import (
    EXAMPLE,
    FIVE,
    ROOT,
    TABLE,
    WHOLE,
    WORK,
    Counts,
    make_range,
    of_five,
    read_counts,
)
from benchmarks.releases.scoring import score, score_described
from benchmarks.releases.seconds import read_ratios
from benchmarks.releases.sizes import sizes, steps_in_seconds
from benchmarks.releases.steps import judged, releases_of, steps
from benchmarks.releases.table import written
from bot.adapters.documents.subject_file import load_subject
from bot.model.space import Space

RUNS = Path(__file__).with_name("results") / "runs.jsonl"
PAGE = Path(__file__).with_name("results") / "table.md"
KEPT = ("label", "term", "aliases", "ratio", "ratio_interval", "probability", "shape")
"""What is kept of a change point."""
REPETITIONS = 6
"""Of each cell of a noisy table."""
ASKED, OF_FIVE = "2%", "4%"
"""What a search is told to look for; and of five options: steps of 5 % have to be found, whose measured sizes
are a little less now and then."""


def asked_for(space: Space) -> str:
    """The threshold of a search in a space."""
    return OF_FIVE if len(space.options) == len(FIVE) else ASKED


def table_program(space: Space, counts: Counts, noise: float, seed: int) -> Path:
    """A folder with the counts as `perf.csv`, each with several noisy repetitions, and its suspects.yml."""
    folder = WORK / f"table-{len(space.names)}-{noise}-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    with (folder / "perf.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["release", *space.names, "instructions"])
        for (release, configuration), count in counts.items():
            for factor in rng.lognormal(0, noise, REPETITIONS if noise else 1):
                value = "" if count is None else f"{count * factor:.0f}"
                writer.writerow([release, *(int(bool(v)) for v in configuration), value])
    program = {"table": "perf.csv", "revision": "release", "metric": "instructions"}
    options = {name: {"flag": f"-x {name}"} for name in space.names}
    told = {"program": program, "options": options, "threshold": asked_for(space)}
    # JSON is YAML, too.
    (folder / "suspects.yml").write_text(json.dumps(told, indent=1))
    return folder


def bisected(folder: Path, arguments: list[str], report: Path) -> dict[str, Any]:
    """The report of `suspects bisect` in a folder."""
    command = [sys.executable, "-m", "bot", "bisect", *arguments, "--json", str(report), "--quiet"]
    subprocess.run(command, check=True, cwd=folder)
    found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return found


def runs() -> list[dict[str, Any]]:
    """The runs so far."""
    if not RUNS.exists():
        return []
    return [json.loads(line) for line in RUNS.read_text(encoding="utf-8").splitlines()]


def run(kind: str, *, noise: float, seed: int, share: float, budget: str) -> dict[str, Any]:
    """One bisection and how it compares with the judge."""
    whole = kind.startswith("whole")
    subject = load_subject(EXAMPLE / "suspects.yml")
    space = of_five(subject).space if whole else subject.space
    counts = read_counts(space, WHOLE if whole else TABLE)
    releases = releases_of(counts)
    exhaustive = 2 * sum(map(len, read_ratios(space).values())) if kind == "cpu" else len(counts)
    trials = int(share * exhaustive)
    arguments = [f"{releases[0]}..{releases[-1]}", "--trials", str(trials), "--seed", str(seed)]
    if kind in ("table", "whole"):
        folder = table_program(space, counts, noise, seed)
        arguments += ["--config", str(folder / "suspects.yml")]
    else:
        folder = make_range(WORK / "bisected")
        own = YAML(typ="safe").load(EXAMPLE / "suspects.yml")
        own["threshold"] = asked_for(space)
        own["metrics"] = [kind.removeprefix("whole-")]
        own["options"] = {name: option for name, option in own["options"].items() if name in space.names}
        (WORK / f"{kind}.yml").write_text(json.dumps(own), encoding="utf-8")
        arguments += ["--budget", budget, "--config", str(WORK / f"{kind}.yml")]
    report = bisected(folder, arguments, WORK / f"{kind}-{noise}-{seed}.json")
    return {
        "kind": kind,
        "noise": noise,
        "share": share,
        "seed": seed,
        "exhaustive": exhaustive,
        "trials": report["spent"]["trials"],
        "seconds": report["spent"]["seconds"],
        "notes": report["notes"],
        "change_points": [{name: point[name] for name in KEPT} for point in report["change_points"]],
    }


def write_table() -> None:
    """Scores all runs, CPU times against steps in CPU time, the others against the judge's."""
    subject = load_subject(EXAMPLE / "suspects.yml")
    space, five = subject.space, of_five(subject).space
    whole = described(five, read_counts(five, WHOLE))
    counts = read_counts(space)
    releases, found = releases_of(counts), steps(space, counts)
    cpu = sizes(space, read_ratios(space), found, releases)
    slow = steps_in_seconds(cpu, found, releases)
    seconds = {key: ratio for key, (ratio, _) in cpu.items()}
    ratios = judged(space, counts)

    def scored(told: dict[str, Any]) -> dict[str, Any]:
        points = told["change_points"]
        if told["kind"].startswith("whole"):
            return told | score_described(whole, points)
        own = (slow, seconds) if told["kind"] == "cpu" else (found, ratios)
        return told | score(*own, releases, points)

    PAGE.write_text(written(found, counts, [scored(r) for r in runs()], cpu), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "kind", choices=["table", "cpu", "instructions", "whole", "whole-instructions", "show"]
    )
    parser.add_argument("--noise", type=float, default=0.02)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--share", type=float, default=0.15)
    parser.add_argument("--budget", default="3h")
    asked = parser.parse_args()
    known = {(r["kind"], r["noise"], r["share"], r["seed"]) for r in runs()}
    noise = asked.noise if asked.kind in ("table", "whole") else 0.0
    for seed in range(asked.first, asked.first + asked.seeds) if asked.kind != "show" else ():
        if (asked.kind, noise, asked.share, seed) not in known:
            told = run(asked.kind, noise=noise, seed=seed, share=asked.share, budget=asked.budget)
            with RUNS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(told) + "\n")
    write_table()
    print(PAGE.relative_to(ROOT))


if __name__ == "__main__":
    main()
