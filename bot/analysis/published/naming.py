"""From associations of commits with options to change points of terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from bot.analysis.published.cache import EVERYTHING, HEAVIEST, TOLERANCE, Pair, SolutionCache
from bot.model.space import Level, Space, Term


@dataclass(frozen=True)
class Blamed:
    """A term blamed at a commit, its aliases, and how sure the cache is of it (0 to 1)."""

    commit: int
    term: Term
    aliases: tuple[Term, ...]
    confidence: float


class Naming:
    """Says associations in terms of a constrained space.

    Args:
        space: its levels are possible aliases.
        levels: the columns of the design.
        possible: whether any valid configuration holds a term.
        equivalent: whether two terms hold in the same valid configurations.
    """

    def __init__(
        self,
        space: Space,
        levels: Sequence[Level],
        *,
        possible: Callable[[Term], bool],
        equivalent: Callable[[Term, Term], bool],
    ) -> None:
        self._singles = [(str(level),) for level in space.levels]
        self._levels = levels
        self._possible = possible
        self._equivalent = equivalent

    def blamed(self, cache: SolutionCache) -> list[Blamed]:
        """The cache's associations, those within `TOLERANCE` commits of each other as one interaction.

        "Interactions are conceived as multiple tuples with identical commits" (section 3). Options that
        exclude each other are no interaction. The same term at neighbouring commits is said once.
        """
        found: list[Blamed] = []
        for group in _neighbours(cache.weights):
            options = [(pair, weight) for pair, weight in group if pair[1] != EVERYTHING]
            parts = [[entry] for entry in group if entry[0][1] == EVERYTHING]
            joint = self._term(options)
            parts += [options] if options and self._possible(joint) else [[entry] for entry in options]
            found += [self._blame(part) for part in parts]
        return found

    def _blame(self, part: Sequence[tuple[Pair, float]]) -> Blamed:
        (commit, _), _ = max(part, key=lambda entry: entry[1])
        confidence = min(weight for _, weight in part) / HEAVIEST
        term, *aliases = self._same(self._term(part))
        return Blamed(commit, term, tuple(aliases), confidence)

    def _term(self, part: Sequence[tuple[Pair, float]]) -> Term:
        return tuple(sorted({str(self._levels[c]) for (_, c), _ in part if c != EVERYTHING}))

    def _same(self, term: Term) -> list[Term]:
        """A term and its aliases, the shortest, then alphabetically first, first."""
        parts = [part for size in range(len(term)) for part in combinations(term, size)]
        others = dict.fromkeys([*parts, *self._singles])
        others.pop(term, None)
        same = [other for other in others if self._equivalent(term, other)]
        return sorted([term, *same], key=lambda t: (len(t), t))


def _neighbours(weights: Sequence[tuple[Pair, float]]) -> Iterator[list[tuple[Pair, float]]]:
    """Associations in order of commit, cut wherever the next is more than `TOLERANCE` commits away."""
    group: list[tuple[Pair, float]] = []
    for entry in sorted(weights):
        if group and entry[0][0] - group[-1][0][0] > TOLERANCE:
            yield group
            group = []
        group.append(entry)
    if group:
        yield group
