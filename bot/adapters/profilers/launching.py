"""Runs a target's command, or a tool around it, as a trial runs: account, environment, limits, no network."""

from __future__ import annotations

import resource
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bot.adapters.process import Ended, run
from bot.model.profiles import Target
from bot.model.trials import Outcome

_WITH_INPUT = 'input=$1; shift; exec "$@" <"$input"'


@dataclass(frozen=True)
class Launched:
    """How a profiled command ended, the CPU seconds of all its processes, and the tail of its output."""

    ended: Ended
    cpu: float
    outcome: Outcome


def launch(
    target: Target,
    words: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    slowdown: float = 1.0,
    stop: Callable[[], bool] | None = None,
) -> Launched:
    """Runs words in the target's place. `env` is added to the target's own.

    slowdown: factor by which the tool may lengthen the trial before it counts as timed out.
    """
    command = list(words)
    if target.stdin is not None:
        command = ["sh", "-c", _WITH_INPUT, "sh", str(target.stdin), *command]
    before = _children_cpu()
    ended = run(
        command,
        cwd=target.cwd,
        env={**target.env, **(env or {})},
        account=target.account,
        timeout=target.timeout * slowdown,
        stop=stop,
    )
    outcome = ended.outcome
    if outcome == "exit" and ended.exit_code in target.ok_exit:
        outcome = "ok"
    elif outcome == "ok" and 0 not in target.ok_exit:
        outcome = "exit"
    return Launched(ended, _children_cpu() - before, outcome)


def _children_cpu() -> float:
    """CPU seconds of children that ended; one profiled trial at a time is measured right."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
