"""Which terms moved by 5 % or more in which release, by regression on the judge's counts.

python -m benchmarks.releases.steps

For each release, the log ratios of instructions to the release before are regressed on an intercept
(everything), every option, and pairs of options that a forward search adds while the pair's own coefficient
is large enough. Only configurations that ran in both releases count. Coefficients of log(1.05) or more, up
or down, are steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt

from benchmarks.releases.judge import EXAMPLE, Counts, read_counts
from bot.adapters.subject_file import load_subject
from bot.model.space import Configuration, Space, Term

THRESHOLD = 0.05
LEAST_PAIR = 4
"""A pair needs so many configurations with both, and as many with one alone."""
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Step:
    """A term that moved in a release: ratio after / before; plain: with only the term's options on."""

    release: str
    term: Term
    ratio: float
    plain: float


@dataclass(frozen=True)
class Fitted:
    """All coefficients of one release, as ratios; spread: standard deviation of the residuals (log)."""

    release: str
    ratios: dict[Term, float]
    spread: float


def releases_of(counts: Counts) -> list[str]:
    """In the table's order."""
    return list(dict.fromkeys(release for release, _ in counts))


def fit(space: Space, counts: Counts) -> list[Fitted]:
    """Every release but the first, against the one before it."""
    releases = releases_of(counts)
    chosen = list(dict.fromkeys(configuration for _, configuration in counts))
    return [_fit_one(space, chosen, log_ratios(counts, chosen, pair), pair[1]) for pair in pairwise(releases)]


def log_ratios(counts: Counts, chosen: Sequence[Configuration], pair: tuple[str, str]) -> Array:
    """Log of instructions after / before for each configuration; NaN where a trial failed."""
    before, after = (
        np.array([counts.get((r, c)) or math.nan for c in chosen], dtype=np.float64) for r in pair
    )
    return np.log(after / before)


def _fit_one(space: Space, chosen: Sequence[Configuration], ratios: Array, release: str) -> Fitted:
    ran = ~np.isnan(ratios)
    on, y = np.array(chosen, dtype=bool)[ran], ratios[ran]
    columns: dict[Term, npt.NDArray[np.bool_]] = {(): np.ones(len(y), dtype=bool)}
    columns |= {(n,): on[:, i] for i, n in enumerate(space.names) if on[:, i].any()}
    pairs = _pairs(space, on)
    coefficients, residuals = _solve(columns, y)
    while pairs:
        term = max(pairs, key=lambda t: _gain(columns, pairs[t], residuals))
        tried = columns | {term: pairs.pop(term)}
        solved, left = _solve(tried, y)
        if abs(solved[term]) < math.log1p(THRESHOLD):
            break
        columns, coefficients, residuals = tried, solved, left
    return Fitted(release, {t: math.exp(b) for t, b in coefficients.items()}, float(residuals.std()))


def _pairs(space: Space, on: npt.NDArray[np.bool_]) -> dict[Term, npt.NDArray[np.bool_]]:
    found: dict[Term, npt.NDArray[np.bool_]] = {}
    for (i, a), (j, b) in combinations(enumerate(space.names), 2):
        both = on[:, i] & on[:, j]
        if min(both.sum(), (on[:, i] ^ on[:, j]).sum()) >= LEAST_PAIR:
            found[tuple(sorted((a, b)))] = both
    return found


def _solve(columns: dict[Term, npt.NDArray[np.bool_]], y: Array) -> tuple[dict[Term, float], Array]:
    design = np.column_stack([c.astype(np.float64) for c in columns.values()])
    solved = np.linalg.lstsq(design, y, rcond=None)[0]
    return dict(zip(columns, map(float, solved), strict=True)), y - design @ solved


def _gain(columns: dict[Term, npt.NDArray[np.bool_]], new: npt.NDArray[np.bool_], residuals: Array) -> float:
    """Share of the residuals' squares that a new column would explain beside the others."""
    own = new.astype(np.float64)
    _, rest = _solve(columns, own)
    norm = float(rest @ rest)
    return float(rest @ residuals) ** 2 / norm if norm > 1e-9 else 0.0


def steps(space: Space, counts: Counts, threshold: float = THRESHOLD) -> list[Step]:
    """The steps of at least `threshold`, up or down, in order of release."""
    order = releases_of(counts)
    found = []
    for fitted in fit(space, counts):
        before = order[order.index(fitted.release) - 1]
        for term, ratio in fitted.ratios.items():
            if abs(math.log(ratio)) >= math.log1p(threshold):
                plain = tuple(name in term for name in space.names)
                ratios = log_ratios(counts, [plain], (before, fitted.release))
                found.append(Step(fitted.release, term, ratio, float(np.exp(ratios[0]))))
    return found


def main() -> None:
    space = load_subject(EXAMPLE / "suspects.yml").space
    counts = read_counts(space)
    configurations = len({configuration for _, configuration in counts})
    print(f"{len(releases_of(counts))} releases x {configurations} configurations, {len(counts)} trials\n")
    print("| release | term | by regression | with only these on |\n|---|---|---|---|")
    for step in steps(space, counts):
        name = " + ".join(step.term) or "everything"
        print(f"| {step.release} | {name} | {step.ratio - 1:+.1%} | {step.plain - 1:+.1%} |")
    print("\nLargest residual spread:", f"{max(f.spread for f in fit(space, counts)):.2%}")


if __name__ == "__main__":
    main()
