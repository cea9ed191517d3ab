"""One sample for several machines: each measures its own part first, and goes on with the others'."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bot.model.space import Configuration


def share(
    sample: Sequence[Configuration], number: int, shards: int, *, rng: np.random.Generator
) -> list[Configuration]:
    """The whole sample in the order of one of several machines; `rng`: equally seeded on all of them.

    The default configuration, the first, comes first everywhere. Of the rest each successive block of as many
    configurations as there are machines is dealt out at random, one to each (randomised blocks: Fisher 1935):
    blocks of the sample are balanced, so every machine sees every level about equally often. After its own
    part a machine goes on with its neighbour's.
    """
    if not sample:
        return []
    parts: list[list[Configuration]] = [[] for _ in range(shards)]
    for first in range(1, len(sample), shards):
        block = sample[first : first + shards]
        for machine, configuration in zip(rng.permutation(shards), block, strict=False):
            parts[machine].append(configuration)
    turned = [*parts[number:], *parts[:number]]
    return [sample[0], *(configuration for part in turned for configuration in part)]
