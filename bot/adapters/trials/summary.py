"""What the runs of a trial come to: averages, the largest peak, and numbers read from their outputs."""

# Part of the worker (duet.py): standard library only, few imports.

from __future__ import annotations

import contextlib
import os
import re
import select
import signal

from bot.adapters.processes import confine, seccomp
from bot.adapters.trials.child import OUTPUT_CAP, Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

SEARCH_SECONDS = 2.0
"""For a metric's pattern in one output."""
_LIMITS = {"cpu_seconds": 3, "memory": 1 << 30, "file_size": 0, "core": 0}


def summary(request: dict[str, Any], runs: list[Run]) -> dict[str, Any]:
    """The answer: averages per run, the largest peak, the subject's own metrics, the last run's outcome."""
    last = runs[-1]
    outcome, detail, metrics = last.outcome, last.detail, dict(last.metrics)
    if outcome == "ok":
        metrics = {key: sum(run.metrics[key] for run in runs) / len(runs) for key in metrics}
        metrics["max_rss"] = max(run.metrics["max_rss"] for run in runs)
        for name, (pattern, how) in request["patterns"].items():
            values: list[float] = []
            while len(values) < len(runs) and outcome == "ok":
                value = _extract(runs[len(values)], pattern, how)
                if value is None:
                    outcome, detail = "unparsable", f"no number for {name} in the output ({pattern})"
                else:
                    values.append(value)
            if outcome == "ok":
                metrics[name] = sum(values) / len(runs)
    code = None if outcome in ("cut", "timeout", "not-started") else last.code
    answer = {"outcome": outcome, "metrics": metrics, "exit_code": code, "detail": detail}
    return {**answer, "rounds": len(runs)}


def _extract(run: Run, pattern: str, how: str) -> float | None:
    """The last number a pattern finds in the output's tail, or the sum of all; None: none.

    The program chose the text: who looks through it is a fork of this process that can do nothing else.
    """
    said, say = os.pipe()
    pid = os.fork()
    if pid == 0:
        _look(run, pattern, how, say)
    os.close(say)
    try:
        # On some texts a pattern takes for ever.
        found = os.read(said, 64) if select.select([said], [], [], SEARCH_SECONDS)[0] else b""
    finally:
        os.close(said)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    try:
        return float(found)
    except ValueError:
        return None


def _look(run: Run, pattern: str, how: str, say: int) -> NoReturn:
    """In the fork: finds the number as the program's account, and says it."""
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        account = run.request["confine"]
        confine.confine(
            {
                "uid": account["uid"],
                "gid": account["gid"],
                "limits": _LIMITS,
                "only": (),
                "network": seccomp.available(),  # a filter takes all sockets; otherwise a namespace has to
                "calls": "reader",
            }
        )
        text = run.output[-OUTPUT_CAP:].decode(errors="replace")
        numbers = [float(found.replace(",", "")) for found in re.findall(pattern, text, re.MULTILINE)]
        if numbers:
            os.write(say, repr(sum(numbers) if how == "sum" else numbers[-1]).encode())
    except (ValueError, AttributeError, re.error):  # no number; several groups; no regex
        pass
    finally:
        os._exit(0)
