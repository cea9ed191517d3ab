"""What tracers of native calls have in common: methods of what was recorded, and the tracer's own time."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from bot.adapters.builds import checkout
from bot.adapters.builds.compilers import ROOM
from bot.adapters.processes.process import PLAIN_ENVIRONMENT
from bot.adapters.profilers.evidence import folder_for
from bot.adapters.profilers.launching import Launched, launch
from bot.adapters.profilers.native.functions import Functions
from bot.adapters.profilers.native.samples import Spot
from bot.adapters.profilers.native.series import Bias, Traced, median_seconds, series_of
from bot.adapters.profilers.native.signatures import Parameter
from bot.adapters.profilers.native.uftrace_file import Recording
from bot.adapters.profilers.native.watching import Watch
from bot.model.profiles import Method, Target

CALLS = 20_000
MOST_NAMED = 5
"""Methods in a note."""
Described: TypeAlias = Mapping[tuple[str, int, str], Sequence[Parameter]]
"""(object file, address, symbol) -> parameters."""

_CALIBRATION = f"""
__attribute__((noinline)) void suspects_empty(void) {{ __asm__ volatile(""); }}
__attribute__((noinline)) void suspects_loop(void) {{ for (int i = 0; i < {CALLS}; i++) suspects_empty(); }}
int main(void) {{ for (int i = 0; i < 9; i++) suspects_loop(); return 0; }}
"""


def traced(
    functions: Functions,
    recording: Recording,
    bias: Bias,
    *,
    wanted: Collection[Method],
    described: Described | None = None,
) -> Traced:
    """Series of the wanted methods; a static function of the same name in another file is not wanted."""
    seen = {spot: functions.linked(spot.path, spot.offset) for spot in {n.spot for n in recording.nodes}}
    known = functions.methods(seen.values())
    by_place = {(path, start): parameters for (path, start, _), parameters in (described or {}).items()}

    def method_at(spot: Spot) -> Method | None:
        method = known[seen[spot]].method
        return method if method in wanted or replace(method, file=None) in wanted else None

    def parameters_at(spot: Spot) -> Sequence[Parameter]:
        return by_place.get((seen[spot].object, seen[spot].start), ())

    return series_of(recording, method_at, bias, parameters_at)


def listed(methods: Sequence[Method]) -> str:
    """The first of them by name, for a note."""
    return ", ".join(method.name for method in methods[:MOST_NAMED]) + (
        ", …" if len(methods) > MOST_NAMED else ""
    )


def doubts(watch: Watch) -> list[str]:
    """What a reader must know: methods without a function."""
    if not watch.absent:
        return []
    return [
        f"Not found as functions (inlined, or not in the checkout), and not watched: {listed(watch.absent)}."
    ]


def calibrate(target: Target, record: Callable[[Target, Watch], Recording]) -> Bias | None:
    """Times an empty function, and a loop around it with and without watching the empty one."""
    folder = folder_for(target, "bias")
    try:
        (folder / "empty.c").write_text(_CALIBRATION)
        here = Target(("./empty",), PLAIN_ENVIRONMENT, folder, folder, target.scratch, account=target.account)
        command = ["cc", "-O1", ROOM, "-o", "empty", "empty.c"]
        if launch(here, command).outcome != "ok":
            return None
        program = str(folder / "empty")
        both, loop = (
            record(here, Watch({program: symbols}))
            for symbols in (["suspects_empty", "suspects_loop"], ["suspects_loop"])
        )
    finally:
        checkout.remove(folder)
    if (
        len(both.nodes) != 2
        or len(loop.nodes) != 1
        or not all(n.durations for n in (*both.nodes, *loop.nodes))
    ):
        return None
    # The fastest loops: on a busy machine most have waited for a core.
    watched, alone = min(both.nodes[0].durations), min(loop.nodes[0].durations)
    return Bias(median_seconds(both.nodes[1]), max(0.0, (watched - alone) / 1e9 / CALLS))


def as_the_program(launched: Launched, status: int | None, target: Target) -> Launched:
    """How the program ended (a status of wait(2)): what starts it has exit codes of its own."""
    if status is None or launched.outcome not in ("ok", "exit"):
        return launched
    code = os.waitstatus_to_exitcode(status)
    ended = replace(
        launched.ended, exit_code=code, outcome="signal" if code < 0 else "exit" if code else "ok"
    )
    outcome = ended.outcome if code < 0 else "ok" if code in target.ok_exit else "exit"
    return replace(launched, ended=ended, outcome=outcome)
