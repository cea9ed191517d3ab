"""Two sides with the programs a test writes, and a bench over them."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from bot.adapters.trials.bench import PairBench
from bot.model.sites import Account, Site
from bot.model.subject import FlagOption, Metric, Program, Subject, Workload
from bot.model.trials import Pair, Side, Wish

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change accounts")
PYTHON = "/usr/bin/python3 -IS"
WORK = "x = 0\nfor i in range({0} * 100000):\n    x += i\n"
ROOT = os.geteuid() == 0


class Workbench:
    """Two sides with the programs a test writes, and a bench over them."""

    def __init__(self, folder: Path, account: int) -> None:
        self.folder = folder
        self.roots: dict[Side, Path] = {"base": folder / "base", "head": folder / "head"}
        self.accounts = {"base": account, "head": account + 1}
        for root in self.roots.values():
            root.mkdir()
        self.workload = folder / "input" / "workload"
        self.workload.parent.mkdir()
        self.workload.write_text("the input\n")
        self.workload.chmod(0o644)
        self.stop = threading.Event()

    def program(self, text: str, *, side: Side | None = None, name: str = "program") -> None:
        """Writes an executable script to one side or both."""
        for root in self.roots.values() if side is None else (self.roots[side],):
            path = root / name
            path.write_text(text)
            path.chmod(0o755)

    def bench(
        self,
        program: Program,
        *,
        metrics: Sequence[Metric] = (),
        sandbox: Literal["auto", "off"] = "auto",
        **more: object,
    ) -> PairBench:
        """A bench with one slot and plenty of time, unless `more` (its arguments) says otherwise."""
        subject = Subject(
            program=program,
            options={"fast": FlagOption(flag="--fast")},
            workloads={"w": Workload(path="workload")},
            metrics=tuple(metrics) or (Metric(name="cpu"),),
            sandbox=sandbox,
        )
        sites = {side: self.site(side, given_away=ROOT and sandbox != "off") for side in self.roots}
        given = {"budget": 60.0, "slots": 1, "pass_env": {}, **more}
        return PairBench(
            subject=subject,
            sites=sites,
            rng=np.random.default_rng(1),
            scratch=self.folder / "scratch",
            stop=self.stop,
            **given,  # type: ignore[arg-type]
        )

    def site(self, side: Side, *, given_away: bool = ROOT) -> Site:
        """Where a side's trials run."""
        account = Account(self.accounts[side], self.accounts[side]) if given_away else None
        return Site(side, self.roots[side], account, {"w": self.workload})

    def pair(
        self,
        run: str = "./program",
        *,
        wish: Wish | None = None,
        metrics: Sequence[Metric] = (),
        **program: object,
    ) -> Pair:
        """The one pair of one wish."""
        made = Program.model_validate({"run": run, **program})
        with self.bench(made, metrics=metrics) as bench:
            (pair,) = bench.measure(iter([wish or Wish((False,))]))
        return pair

    def output(self, name: str) -> Path:
        """A file that trials can write to."""
        path = self.folder / name
        path.touch()
        path.chmod(0o666)
        return path


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pids: Sequence[int], seconds: float = 20.0) -> bool:
    """Whether these processes end; the limit is only for a failing test."""
    limit = time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < limit:
        time.sleep(0.01)
    return not any(map(alive, pids))


def soon(condition: Callable[[], bool], seconds: float = 20.0) -> bool:
    limit = time.monotonic() + seconds
    while not condition() and time.monotonic() < limit:
        time.sleep(0.01)
    return condition()
