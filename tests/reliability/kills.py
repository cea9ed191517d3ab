"""Kills each mode at seeded points: what is there is whole, what was stored stays, and a rerun completes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bot.adapters.stores.directory import DirectoryPlace
from bot.adapters.stores.layered import LayeredStore
from bot.model.report import Report
from tests.github.fake import REPOSITORY, WORKFLOW, FakeGithub
from tests.github.operations import ALL, OPERATIONS
from tests.github.test_publish import RUN
from tests.nursery import Nursery

CONFIG = """
program: {callable: "program:measure", revisions: 20}
options: {alpha: {flag: -a}, beta: {flag: -b}, gamma: {flag: -c}}
"""
PROGRAM = '''"""A program that alpha makes slower from revision 12 on."""

import numpy as np


def measure(revision, configurations):
    """Seconds."""
    seconds = 1.0 + 0.2 * configurations[:, 0] + 0.1 * configurations[:, 1]
    slower = 1 + 0.2 * configurations[:, 0] * (revision >= 12)
    return seconds * slower * np.random.default_rng().lognormal(0, 0.005, len(configurations))
'''
FILES = {"--json": "report.json", "--markdown": "report.md", "--html": "report.html"}


@dataclass
class Ground:
    """One mode's folder: what it is started with, what must hold at any time, and once it is done.

    reset: makes it as it was before the first kill.
    """

    folder: Path
    words: tuple[str, ...]
    environ: dict[str, str]
    always: Callable[[], None]
    done: Callable[[], None]
    reset: Callable[[], None]


@contextmanager
def simulated(folder: Path, *words: str, files: Sequence[str] = ("--json", "--markdown")) -> Iterator[Ground]:
    """A simulated subject; what the first run left in its history must outlive every kill."""
    folder.mkdir(parents=True)
    (folder / "suspects.yml").write_text(CONFIG, "utf-8")
    (folder / "program.py").write_text(PROGRAM, "utf-8")
    history, first = folder / ".suspects" / "history", folder / "first"
    known: set[str] = set()

    def always() -> None:
        for name in FILES.values():
            if (folder / name).exists():
                _whole(folder / name)
        segments = LayeredStore([DirectoryPlace(history)]).verify()
        assert [one.problem for one in segments if one.problem] == []
        names = {one.name for one in segments}
        assert names >= known, "a stored measurement is lost"
        known.update(names)

    def done() -> None:
        always()
        report = Report.model_validate_json((folder / "report.json").read_bytes())
        assert report.spent.trials > 0, "nothing was measured"
        assert not list(folder.glob(".*.part")), "half a file was left"

    def reset() -> None:
        for name in FILES.values():
            (folder / name).unlink(missing_ok=True)
        if not first.exists():
            shutil.copytree(history, first) if history.exists() else first.mkdir()
        shutil.rmtree(history, ignore_errors=True)
        shutil.copytree(first, history)
        known.intersection_update(path.name for path in first.iterdir())

    outputs = [word for file in files for word in (file, FILES[file])]
    yield Ground(folder, (*words, "--config", "suspects.yml", *outputs), {}, always, done, reset)


def _whole(file: Path) -> None:
    text = file.read_text("utf-8")
    if file.suffix == ".json":
        Report.model_validate_json(text)
    else:
        assert text.rstrip().endswith("</html>" if file.suffix == ".html" else "</sub>"), file


@contextmanager
def published(folder: Path) -> Iterator[Ground]:
    """A fork's report to publish: a comment on each of two pull requests and one check run."""
    folder.mkdir(parents=True)
    github = FakeGithub()
    github.tokens[WORKFLOW] = ALL
    OPERATIONS["a fork's report published"].arrange(github)

    def always() -> None:
        assert len(github.bodies()) <= 2 and len(github.checks.runs) <= 1
        assert all(len(places) == len(set(places)) for _, _, _, places in github.checks.told())

    def done() -> None:
        always()
        assert len(github.bodies()) == 2 and len(github.checks.runs) == 1

    def reset() -> None:
        for kept in (github.comments, github.checks.runs, github.checks.annotations, github.api.log):
            kept.clear()

    words = ("publish", "--run-id", str(RUN), "--repository", REPOSITORY)
    environ = {"GITHUB_TOKEN": WORKFLOW, "GITHUB_API_URL": github.api.url}
    try:
        yield Ground(folder, words, environ, always, done, reset)
    finally:
        github.close()


MODES: dict[str, Callable[[Path], Any]] = {
    "pull request": lambda folder: simulated(
        folder, "pr", "--base", "3", "--head", "15", "--budget", "40s", files=tuple(FILES)
    ),
    "bisection": lambda folder: simulated(folder, "bisect", "0..19", "--trials", "40"),
    "night": lambda folder: simulated(folder, "nightly", "--budget", "60s"),
    "publish": published,
}


@dataclass
class Toll:
    """What the kills of a mode came to."""

    killed: int = 0
    ended: int = 0
    problems: tuple[str, ...] = ()


def kill(nursery: Nursery, mode: str, folder: Path, *, points: int, seed: int = 0) -> Toll:
    """So many kills of a mode, each followed by a run that must complete the work.

    Half of the points are acts (the process ends before it renames, sends, ...), half moments of CPU time.
    """
    rng, toll = np.random.default_rng(seed), Toll()
    with MODES[mode](folder) as ground:
        whole = nursery.start(ground.words, ground.folder, ground.environ)
        if whole["status"]:
            said = (folder / "said.log").read_text("utf-8", errors="replace")[-500:]
            return Toll(problems=(f"it does not even run: {said}",))
        ground.done()
        for number in range(points):
            ground.reset()
            at, after = int(rng.integers(1, whole["acts"] + 1)), float(rng.uniform(0.01, whole["seconds"]))
            end = {"after": after} if number % 2 else {"at": at}
            killed = nursery.start(ground.words, ground.folder, ground.environ, **end)
            toll.killed += killed["status"] < 0
            toll.ended += killed["status"] == 0
            problem = _problem(nursery, ground)
            toll.problems += tuple(f"{end}: {one}" for one in problem)
    return toll


def _problem(nursery: Nursery, ground: Ground) -> list[str]:
    try:
        ground.always()
        again = nursery.start(ground.words, ground.folder, ground.environ)
        if again["status"]:
            return [f"the rerun ended with {again['status']}"]
        ground.done()
    except (AssertionError, ValueError) as error:
        return [str(error)[:300] or type(error).__name__]
    return []
