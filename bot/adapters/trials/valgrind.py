"""What every run of Valgrind is told."""

from __future__ import annotations

from collections.abc import Mapping

FOLLOWING = ("--trace-children=yes", "--vgdb=no")
"""Children are followed. Its debugger stays out: it would stop at files that another account's process of the
same number left behind."""

_STEADY = "asyncpreemptoff=1"
"""For Go programs: signals that take a goroutine off its thread end callgrind (its own assertion)."""


def steadied(env: Mapping[str, str]) -> dict[str, str]:
    """The variables of `env` that Valgrind's trials have otherwise: what a user set in them stays."""
    return {
        "PYTHONHASHSEED": env.get("PYTHONHASHSEED", "0"),
        "GODEBUG": ",".join(filter(None, (env.get("GODEBUG"), _STEADY))),
    }
