"""What the runs of a trial come to: averages, the largest peak, and numbers read from their outputs."""

# Part of the worker (duet.py): standard library only, few imports.

from __future__ import annotations

import re
import signal

from bot.adapters.child import OUTPUT_CAP, Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

SEARCH_SECONDS = 2.0
"""For a metric's pattern in one output."""


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
    """The last number a pattern finds in the output's tail, or the sum of all; None: none."""
    # The pattern is the base's, but the program chooses the text, on which a pattern may take for ever.
    signal.signal(signal.SIGALRM, _give_up)
    signal.setitimer(signal.ITIMER_REAL, SEARCH_SECONDS)
    try:
        found = re.findall(pattern, run.output[-OUTPUT_CAP:].decode(errors="replace"), re.MULTILINE)
        numbers = [float(text.replace(",", "")) for text in found]
    except (ValueError, AttributeError, re.error, TimeoutError):  # no number; several groups; no regex
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if not numbers:
        return None
    return sum(numbers) if how == "sum" else numbers[-1]


def _give_up(*_: object) -> NoReturn:
    raise TimeoutError
