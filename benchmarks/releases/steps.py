"""Which terms moved by 5 % or more in which release, by regression on the judge's counts.

python -m benchmarks.releases.steps

For each release, the log ratios of instructions to the release before are regressed on an intercept
(everything), every option, and pairs of options that a forward search adds while the pair's own coefficient
is large enough. Only configurations that ran in both releases count. Coefficients of log(1.05) or more, up
or down, are steps. Where everything moved and an option's coefficient takes it back, its absence is the term.

Not each step is work of its term's own: when a release saves everybody the same instructions, this is a
smaller share for those whose option doubles the work, and the option gets a coefficient. The same regression
on differences of instructions tells them apart: own work, relative to a run with only the term's options on.
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
LEAST_EXPLAINED = 0.5
"""Share of the residuals' squares that a pair must explain: counts are exact, a true pair stands out."""
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Step:
    """A term that moved in a release: ratio after / before, by regression.

    plain: the ratio with only the term's options on. own: as if only the term's own instructions had moved.
    """

    release: str
    term: Term
    ratio: float
    plain: float
    own: float

    @property
    def has_work(self) -> bool:
        """Whether the code of this term does at least 5 % more or less, not only a part of something else."""
        return abs(math.log(self.own)) >= math.log1p(THRESHOLD)


@dataclass(frozen=True)
class Fitted:
    """All coefficients of one release, as ratios and in instructions; spread: SD of the residuals (log)."""

    release: str
    ratios: dict[Term, float]
    work: dict[Term, float]
    spread: float


def releases_of(counts: Counts) -> list[str]:
    """In the table's order."""
    return list(dict.fromkeys(release for release, _ in counts))


def fit(space: Space, counts: Counts) -> list[Fitted]:
    """Every release but the first, against the one before it."""
    chosen = list(dict.fromkeys(configuration for _, configuration in counts))
    return [
        _fit_one(space, chosen, [_column(counts, chosen, r) for r in pair], pair[1])
        for pair in pairwise(releases_of(counts))
    ]


def _column(counts: Counts, chosen: Sequence[Configuration], release: str) -> Array:
    """Instructions of each configuration; NaN where the trial failed or is missing."""
    return np.array([counts.get((release, c)) or math.nan for c in chosen], dtype=np.float64)


def _fit_one(space: Space, chosen: Sequence[Configuration], pair: Sequence[Array], release: str) -> Fitted:
    before, after = pair
    ran = ~np.isnan(before + after)
    on, y = np.array(chosen, dtype=bool)[ran], np.log(after / before)[ran]
    columns: dict[Term, npt.NDArray[np.bool_]] = {(): np.ones(len(y), dtype=bool)}
    columns |= {(n,): on[:, i] for i, n in enumerate(space.names) if on[:, i].any()}
    pairs = _pairs(space, on)
    coefficients, residuals = _solve(columns, y)
    while pairs:
        term = max(pairs, key=lambda t: _gain(columns, pairs[t], residuals))
        tried = columns | {term: pairs.pop(term)}
        solved, left = _solve(tried, y)
        explained = 1 - float(left @ left) / max(float(residuals @ residuals), 1e-12)
        if abs(solved[term]) < math.log1p(THRESHOLD) or explained < LEAST_EXPLAINED:
            break
        columns, coefficients, residuals = tried, solved, left
    columns = _with_absence(columns, coefficients)
    coefficients, residuals = _solve(columns, y)
    work, _ = _solve(columns, (after - before)[ran])
    ratios = {term: math.exp(b) for term, b in coefficients.items()}
    return Fitted(release, ratios, work, float(residuals.std()))


def _with_absence(
    columns: dict[Term, npt.NDArray[np.bool_]], coefficients: dict[Term, float]
) -> dict[Term, npt.NDArray[np.bool_]]:
    """`!option` instead of everything and the option, where these two cancel."""
    most = math.log1p(THRESHOLD)
    overall = coefficients[()]
    left = {t[0]: abs(overall + b) for t, b in coefficients.items() if len(t) == 1}
    option = min(left, key=lambda name: left[name])
    if abs(overall) < most or left[option] > most / 2:
        return columns
    return {
        (f"!{option}",) if t == (option,) else t: ~c if t == (option,) else c for t, c in columns.items() if t
    }


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
        last = order[order.index(fitted.release) - 1]
        for term, ratio in fitted.ratios.items():
            if abs(math.log(ratio)) >= math.log1p(threshold):
                plain = tuple(name in term for name in space.names)  # an absence holds in the default
                before, after = (counts.get((r, plain)) or math.nan for r in (last, fitted.release))
                own = 1 + fitted.work[term] / before
                found.append(Step(fitted.release, term, ratio, after / before, own))
    return found


def main() -> None:
    space = load_subject(EXAMPLE / "suspects.yml").space
    counts = read_counts(space)
    size = f"{len(releases_of(counts))} releases x {len({c for _, c in counts})} configurations"
    print(f"{size}, {len(counts)} trials: by regression, with only these on, own work")
    for step in steps(space, counts):
        name = " + ".join(step.term) or "everything"
        shares = " ".join(f"{ratio - 1:+8.1%}" for ratio in (step.ratio, step.plain, step.own))
        print(f"{step.release:8} {name:24} {shares} {'' if step.has_work else 'own work < 5 %'}")
    print("\nLargest residual spread:", f"{max(f.spread for f in fit(space, counts)):.2%}")


if __name__ == "__main__":
    main()
