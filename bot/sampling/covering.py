"""Covering sampling: every possible combination of t values of different options occurs at least once."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from bot.model.space import Configuration, Space
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.one_hot import OneHot

CANDIDATES = 4  # configurations tried for each one taken; more give slightly smaller samples
MAX_CELLS = 1 << 27  # bytes of the table of open combinations: 11,000 values for t = 2, 500 for t = 3


class CoveringSampler:
    """t-wise sampling (t = 2: pairs, t = 3: triples).

    Greedy, after AETG (Cohen et al., The AETG System, IEEE TSE 1997): each new configuration starts from an
    open combination and takes, option by option in random order, the value that closes most; the solver
    makes it valid. A combination that no valid configuration has is closed when it is met.
    """

    def __init__(self, t: int = 2) -> None:
        self.t = t

    def __call__(
        self, space: Space, solver: ConstraintSolver, count: int | None, *, rng: np.random.Generator
    ) -> list[Configuration]:
        """At most `count` configurations; None: until every possible combination is covered.

        Raises:
            ValueError: the table of combinations would not fit into memory.
        """
        codes = OneHot(space)
        strength = min(self.t, len(space.options))
        if codes.columns**strength > MAX_CELLS:
            raise ValueError(f"{codes.columns} values are too many for {strength}-wise covering")
        open_ = _all_combinations(codes, strength)
        sample: list[Configuration] = []
        # A random order once, then a pass: nothing that is closed opens again.
        for flat in rng.permutation(np.flatnonzero(open_)):
            tuple_ = np.unravel_index(flat, open_.shape)
            if count is not None and len(sample) >= count:
                break
            if not open_[tuple_]:
                continue
            seed = np.array(tuple_, dtype=np.intp)
            best = max(
                (_grow(codes, open_, seed, rng) for _ in range(CANDIDATES)), key=lambda c: _closes(open_, c)
            )
            held = [codes.level(int(k)) for k in seed]
            found = solver.complete(held, near=codes.decode(best))
            if found is None:
                _close(open_, seed)
                continue
            sample.append(found)
            _close(open_, codes.encode(found))
        return sample


def _all_combinations(codes: OneHot, strength: int) -> npt.NDArray[np.bool_]:
    """True at t columns of different options, shape (columns,) * t, symmetric."""
    differ = codes.owner[:, None] != codes.owner[None, :]
    table = np.ones((codes.columns,) * strength, dtype=bool)
    for a, b in itertools.combinations(range(strength), 2):
        shape = [codes.columns if axis in (a, b) else 1 for axis in range(strength)]
        table &= differ.reshape(shape)
    return table


def _grow(
    codes: OneHot, open_: npt.NDArray[np.bool_], seed: npt.NDArray[np.intp], rng: np.random.Generator
) -> npt.NDArray[np.intp]:
    """One column per option, in the order of options, greedily closing open combinations."""
    chosen = list(seed)
    taken = set(codes.owner[seed].tolist())
    for option in rng.permutation(len(codes.starts) - 1):
        if option in taken:
            continue
        values = np.arange(codes.starts[option], codes.starts[option + 1])
        rest = np.array(chosen, dtype=np.intp)
        gain = open_[np.ix_(values, *[rest] * (open_.ndim - 1))].reshape(len(values), -1).sum(axis=1)
        chosen.append(rng.choice(values[gain == gain.max()]))
    result = np.array(chosen, dtype=np.intp)
    return result[np.argsort(codes.owner[result])]


def _closes(open_: npt.NDArray[np.bool_], columns: npt.NDArray[np.intp]) -> int:
    return int(open_[np.ix_(*[columns] * open_.ndim)].sum())


def _close(open_: npt.NDArray[np.bool_], columns: npt.NDArray[np.intp]) -> None:
    open_[np.ix_(*[columns] * open_.ndim)] = False


pair_wise = CoveringSampler(2)
three_wise = CoveringSampler(3)
