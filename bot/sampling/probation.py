"""The order of a sample of which a part is expected to fail: it waits, and a few show whether it does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

from bot.model.space import Configuration

FIRST = 1
"""Of what is expected to fail for one cause, so many are tried in their place: causes are repaired."""
MORE = 2
"""For each that works so many more are tried: one that is gone costs little, and so does one that is not."""


def in_order(
    sample: Sequence[Configuration],
    causes: Mapping[Configuration, Hashable],
    worked: Callable[[Configuration], bool],
) -> Iterator[Configuration]:
    """The sample, in its order but for what waits: until others of the same cause worked, or the end.

    causes: the value with which a configuration is expected to fail; None: no value explains it, so that
    others show all that it would, and it waits for the end. The first of the sample never waits.
    worked: whether a pair of a configuration ended well so far; asked again before each step.
    """
    tried: dict[Hashable, list[Configuration]] = defaultdict(list)
    waiting: list[Configuration] = []

    def allowed(configuration: Configuration) -> bool:
        cause = causes[configuration]
        begun = tried[cause]
        return cause is not None and len(begun) < FIRST + MORE * sum(map(worked, begun))

    def begin(configuration: Configuration) -> Configuration:
        tried[causes[configuration]].append(configuration)
        return configuration

    for place, configuration in enumerate(sample):
        while (released := next(filter(allowed, waiting), None)) is not None:
            waiting.remove(released)
            yield begin(released)
        if configuration not in causes or not place:
            yield configuration
        elif allowed(configuration):
            yield begin(configuration)
        else:
            waiting.append(configuration)
    while waiting:
        released = next(filter(allowed, waiting), waiting[0])
        waiting.remove(released)
        yield begin(released)
