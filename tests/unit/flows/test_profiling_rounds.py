"""What the profiles of one configuration are good for."""

from __future__ import annotations

import pytest

from bot.flows.profiling_rounds import Profiled
from bot.model.profiles import Method, MethodCost, Profile, Tool


@pytest.mark.parametrize(
    ("shares", "nameless"),
    [({"[program]": 0.97, "main": 0.03}, True), ({"[libc.so.6]": 0.5, "main": 0.5}, False), ({}, False)],
)
def test_a_stripped_program_is_known_before_its_profiles_are_finished(
    shares: dict[str, float], nameless: bool
) -> None:
    methods = {Method(name): MethodCost(self_share=share) for name, share in shares.items()}
    one = Profiled((True,))
    one.sides["base"].append(
        Profile(Tool("perf", "6.1", "coarse", frozenset({"seconds"})), "ok", 1.0, methods)
    )
    assert one.nameless is nameless and not one.enough
