"""Fingerprint of this machine: how many operations a second each stressor of stress-ng gets done on it."""

from __future__ import annotations

import contextlib
import math
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bot.adapters.documents import yaml_document
from bot.adapters.processes.process import PATH, PLAIN_ENVIRONMENT
from bot.adapters.processes.tool_versions import version_line
from bot.model.errors import UsageError
from bot.model.machines import REPRESENTATIVES, Stressed

OLDEST = (0, 11)
"""Older versions are not known to report what is read here."""
GRACE = 10.0
"""Seconds that a stressor may take beyond its time, to start and to clean up."""
POLL = 0.02
RATE = "bogo-ops-per-second-usr-sys-time"
"""Operations per second of CPU time: under load it varies four times less than that of wall time."""


class StressNg:
    """The port `Stresser`: one instance of one stressor at a time; never raises for what stress-ng does."""

    def __init__(self, program: str | None = None, *, stop: Callable[[], bool] = lambda: False) -> None:
        """`program`: another path than where stress-ng is; `stop`: whether the run was asked to end."""
        self._program = program or shutil.which("stress-ng", path=PATH)
        self._stop = stop

    def missing(self) -> Sequence[str]:
        """Why there is no fingerprint, one sentence; empty: there can be one."""
        if self._program is None:
            return ("`stress-ng` is not installed: the machine has no fingerprint.",)
        version = self.version()
        if version is None:
            return ("`stress-ng` does not tell its version: the machine has no fingerprint.",)
        if tuple(map(int, version.split(".")[:2])) < OLDEST:
            known = ".".join(map(str, OLDEST))
            return (f"stress-ng {version} is older than {known}: the machine has no fingerprint.",)
        return ()

    @property
    def tool(self) -> str:
        """As fingerprints are keyed by."""
        return f"stress-ng {self.version()}"

    def version(self) -> str | None:
        """As `0.15.06`; None: it cannot be had."""
        found = re.search(r"\b(\d{1,4}(?:\.\d{1,4}){1,3})\b", version_line(self._program or "stress-ng"))
        return found and found[1]

    def stress(
        self,
        stressors: Sequence[str] = REPRESENTATIVES,
        *,
        repetitions: int = 3,
        seconds: int = 2,
        most: float = math.inf,
    ) -> Stressed:
        """Every stressor so often for so many seconds; a round of all at a time: all see a bad minute.

        A stressor that is unknown, refused or too slow to finish one operation has the rate NaN. most: wall
        seconds after which none is started; then some have a repetition less.
        """
        if missing := self.missing():
            return Stressed("", notes=missing)
        began = time.monotonic()
        rates: dict[str, list[float]] = {name: [] for name in stressors}
        with tempfile.TemporaryDirectory(prefix="suspects-stress-") as folder:
            for _ in range(repetitions):
                for name in stressors:
                    if not self._stop() and time.monotonic() - began < most:
                        rates[name].append(self._rate(name, seconds, Path(folder)))
        nothing = [name for name, found in rates.items() if found and all(map(math.isnan, found))]
        notes = [f"stress-ng gave nothing for {', '.join(nothing)}."] if nothing else []
        if self._stop():
            notes.append("The fingerprint of this machine was stopped with the run.")
        return Stressed(self.tool, rates, time.monotonic() - began, notes)

    def _rate(self, stressor: str, seconds: int, folder: Path) -> float:
        report = folder / "report.yaml"
        report.unlink(missing_ok=True)
        command = [
            str(self._program), f"--{stressor}", "1", "--timeout", f"{seconds}s", "--metrics-brief",
            "--yaml", str(report), "--temp-path", str(folder), "--no-rand-seed",
        ]  # fmt: skip
        self._run(command, seconds + GRACE)
        try:
            return _read(report.read_text(encoding="utf-8", errors="replace"), stressor)
        except OSError:
            return math.nan

    def _run(self, command: Sequence[str], patience: float) -> None:
        """To its end or ours; its processes go with it."""
        try:
            process = subprocess.Popen(  # noqa: S603  a program of the machine
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=dict(PLAIN_ENVIRONMENT),
                start_new_session=True,
            )
        except OSError:
            return
        deadline = time.monotonic() + patience
        try:
            while process.poll() is None and time.monotonic() < deadline and not self._stop():
                time.sleep(POLL)
        finally:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _read(text: str, stressor: str) -> float:
    """The rate of a stressor in stress-ng's report; NaN: it has none, or did not complete an operation."""
    try:
        document = yaml_document.parse(text, name="stress-ng").value
        # YAML reads the name of the stressor `null` as nothing.
        (found,) = (one for one in document["metrics"] if (one["stressor"] or "null") == stressor)
        rate = float(found[RATE])
    except (UsageError, LookupError, TypeError, ValueError):
        return math.nan
    return rate if rate > 0 and math.isfinite(rate) else math.nan
