"""What a build's environment gets so that native programs can be profiled: line tables, room for a tracer."""

from __future__ import annotations

from collections.abc import Mapping

from bot.adapters.profilers.native.uftrace import PATCH_FLAG

USUAL_FLAGS = "-g -O2"
"""What autoconf takes where nothing is set: a variable that is set replaces it."""


def build_environment(env: Mapping[str, str], *, fine: bool = False) -> Mapping[str, str]:
    """Variables to add to a build's environment `env`. `fine`: for a build that is traced, not measured.

    Debug information does not change the code; room for a tracer is five empty instructions a function.
    """
    more = f" {PATCH_FLAG}" if fine else ""
    flags = {
        name: f"{env[name]} -g{more}" if name in env else f"{USUAL_FLAGS}{more}"
        for name in ("CFLAGS", "CXXFLAGS")
    }
    return {
        **flags,
        "CARGO_PROFILE_RELEASE_DEBUG": env.get("CARGO_PROFILE_RELEASE_DEBUG", "1"),
    }
