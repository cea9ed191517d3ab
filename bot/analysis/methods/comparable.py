"""Profiles with counts beside ones without: brought to what all of them tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.model.profiles import Profile


def comparable(profiles: Sequence[Profile]) -> list[Profile]:
    """Without calls and instructions, where one of the profiles has only what was sampled.

    What counts alone know of would seem to be new or gone. Profiles that were not sampled stay what they are.
    """
    counted = [any(cost.instructions is not None for cost in p.methods.values()) for p in profiles]
    sampled = [any(cost.self_seconds for cost in p.methods.values()) for p in profiles]
    if all(counted) or not any(counted) or not all(sampled):
        return list(profiles)
    return [_sampled(p) if known else p for p, known in zip(profiles, counted, strict=True)]


def _sampled(profile: Profile) -> Profile:
    """What a sampler saw of a profile whose shares may be those of instructions."""
    seen = {m: cost for m, cost in profile.methods.items() if cost.self_seconds}
    total = sum(cost.self_seconds or 0.0 for cost in seen.values())
    methods = {
        m: replace(cost, self_share=(cost.self_seconds or 0.0) / total, calls=None, instructions=None)
        for m, cost in seen.items()
    }
    return replace(profile, methods=methods, edges={})
