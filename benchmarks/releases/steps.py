"""Which terms moved by 5 % or more in which release, by regression on the judge's counts.

python -m benchmarks.releases.steps

For each release, the log ratios of instructions to the release before are regressed on an intercept
(everything), every option, and pairs of options. Only configurations that ran in both releases count.
Coefficients of log(1.05) or more, up or down, are steps. Where everything moved and an option takes it back,
the option's absence is the term.

Not each step is work of its term's own: when a release saves everybody the same instructions, this is a
smaller share for those whose option doubles the work, and the option gets a coefficient. The same regression
on differences of instructions tells them apart: own work, as a share of the plainest run that has the term.
Only pairs of options that do have such work are terms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt

from benchmarks.releases.judge import EXAMPLE, Counts, read_counts
from bot.adapters.documents.subject_file import load_subject
from bot.model.space import Configuration, Space, Term

THRESHOLD = 0.05
LEAST_PAIR = 4
"""A pair needs so many configurations with both, and as many with one alone."""
LEAST_EXPLAINED = 0.5
"""Share of the residuals' squares that a pair must explain: counts are exact, a true pair stands out."""
Array = npt.NDArray[np.float64]
Columns = dict[Term, npt.NDArray[np.bool_]]
"""Where each term holds, over the configurations."""


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
    """All coefficients of one release: ratios, work as a share of the plainest run, residuals' SD (log).

    added: the same work, in instructions.
    """

    release: str
    ratios: dict[Term, float]
    added: dict[Term, float]
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
    on, before, after = np.array(chosen, dtype=bool)[ran], before[ran], after[ran]
    columns: Columns = {(): np.ones(len(on), dtype=bool)}
    columns |= {(n,): on[:, i] for i, n in enumerate(space.names) if on[:, i].any()}
    columns |= _working_pairs(columns, _pairs(space, on), before, after)
    coefficients, residuals = _solve(columns, np.log(after / before))
    work, _ = _solve(columns, after - before)
    absent = _taken_back(coefficients)
    if absent:
        columns = {(f"!{absent}",): ~columns[absent,]} | {t: c for t, c in columns.items() if t}
        coefficients, _ = _solve(columns, np.log(after / before))
        work, _ = _solve(columns, after - before)
    ratios = {term: math.exp(b) for term, b in coefficients.items()}
    shares = {term: w / float(before[columns[term]].min()) for term, w in work.items()}
    return Fitted(release, ratios, work, shares, float(residuals.std()))


def _working_pairs(columns: Columns, pairs: Columns, before: Array, after: Array) -> Columns:
    """Pairs of options that have work of their own, by a forward search on differences of instructions."""
    found: Columns = {}
    _, residuals = _solve(columns, after - before)
    while pairs:
        term = max(pairs, key=lambda t: _gain(columns | found, pairs[t], residuals))
        tried = found | {term: pairs.pop(term)}
        solved, left = _solve(columns | tried, after - before)
        explained = 1 - float(left @ left) / max(float(residuals @ residuals), 1.0)
        share = abs(solved[term]) / float(before[tried[term]].min())
        if share < THRESHOLD or explained < LEAST_EXPLAINED:
            break
        found, residuals = tried, left
    return found


def _taken_back(coefficients: dict[Term, float]) -> str | None:
    """The option whose users saw no step although everything moved: its own coefficient takes it back."""
    most = math.log1p(THRESHOLD)
    left = {
        t[0]: abs(coefficients[()] + b) for t, b in coefficients.items() if len(t) == 1 and abs(b) >= most
    }
    option = min(left, key=lambda name: left[name], default=None)
    moved = abs(coefficients[()]) >= most
    return option if moved and option is not None and left[option] < most else None


def _pairs(space: Space, on: npt.NDArray[np.bool_]) -> Columns:
    found: Columns = {}
    for (i, a), (j, b) in combinations(enumerate(space.names), 2):
        both = on[:, i] & on[:, j]
        if min(both.sum(), (on[:, i] ^ on[:, j]).sum()) >= LEAST_PAIR:
            found[tuple(sorted((a, b)))] = both
    return found


def _solve(columns: Columns, y: Array) -> tuple[dict[Term, float], Array]:
    design = np.column_stack([c.astype(np.float64) for c in columns.values()])
    solved = np.linalg.lstsq(design, y, rcond=None)[0]
    return dict(zip(columns, map(float, solved), strict=True)), y - design @ solved


def _gain(columns: Columns, new: npt.NDArray[np.bool_], residuals: Array) -> float:
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
                own = 1 + fitted.work[term]
                found.append(Step(fitted.release, term, ratio, after / before, own))
    return found


def judged(space: Space, counts: Counts) -> dict[tuple[str, Term], float]:
    """The ratio of every release and term, large or small."""
    return {(f.release, term): ratio for f in fit(space, counts) for term, ratio in f.ratios.items()}


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
