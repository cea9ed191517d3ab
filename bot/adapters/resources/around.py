"""How a counting tool is put around a trial: output thrown away, no chance left, and what its end tells."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence

from bot.adapters.profilers.launching import Launched, launch
from bot.model.profiles import Target

# To a pipe programs write in other pieces than to what a trial's output is.
_SILENT = 'exec "$@" >/dev/null 2>&1'


def around(target: Target, words: Sequence[str], *, slowdown: float) -> Launched:
    """Runs words, a tool and the trial's own, as the trial runs; Python's order of hashes is fixed.

    Raises:
        OSError: the fresh folder cannot be made.
    """
    return launch(
        target,
        ["sh", "-c", _SILENT, "sh", *words],
        env=seeded(target),
        slowdown=slowdown,
        one_core=target.one_core,
    )


def seeded(target: Target) -> Mapping[str, str]:
    """What makes Python's order of hashes the same in each trial, unless the trial has its own say."""
    return {"PYTHONHASHSEED": target.env.get("PYTHONHASHSEED", "0")}


def ending(launched: Launched, tool: str) -> tuple[str, ...]:
    """What a reader must know about how it ended."""
    if launched.outcome == "ok":
        return ()
    reason = launched.ended.reason(f"The program under {tool}")
    if launched.ended.exit_code == -signal.SIGILL and tool == "cachegrind":
        reason += " Valgrind does not know all instructions of new processors: build without `-march=native`."
    return (reason,)
