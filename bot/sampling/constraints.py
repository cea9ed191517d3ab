"""Answers questions about the constrained space with a SAT solver."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from pysat.examples.rc2 import RC2
from pysat.formula import WCNF
from pysat.solvers import Solver

from bot.model.errors import ConstraintError
from bot.model.space import Configuration, Level, Space, Term, Value
from bot.sampling.constraint_language import Compiler, Encoding

_SOLVER = "minisat22"  # honours preferred phases strictly, small, and gives cores over assumptions
_WITNESSES = 128  # configurations kept to tell terms apart without the solver


class ConstraintSolver:
    """The valid configurations of a space: what is possible, which terms agree, and completions.

    Raises:
        ConstraintError: a sentence cannot be read, or some contradict each other (a minimal set is named).
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self._encoding = Encoding(space)
        compiled = Compiler(self._encoding).compile_all(space.constraints)
        self._roots = [literal for literal, _ in compiled]
        self._touched = [options for _, options in compiled]
        self._refuse_contradictions()
        self._clauses = [*self._encoding.clauses, *([root] for root in self._roots)]
        self._solver = Solver(name=_SOLVER, bootstrap_with=self._clauses)
        self._last_variable = self._encoding.variables
        self._kept_apart: dict[tuple[Level, ...], int] = {}
        self._listed: dict[tuple[int, ...], tuple[list[Configuration], int]] = {}
        self._witnesses: deque[Configuration] = deque(maxlen=_WITNESSES)

    def valid(self, configuration: Configuration) -> bool:
        """Whether a configuration satisfies the constraints (and has known values only)."""
        literals = self._encoding.literals
        if len(configuration) != len(literals):
            return False
        if any(v not in known for v, known in zip(configuration, literals, strict=True)):
            return False
        return bool(self._solver.solve(assumptions=self._of(configuration)))

    def possible(self, term: Term) -> bool:
        """Whether any valid configuration holds the term."""
        return self._model(self._levels(term)) is not None

    def equivalent(self, first: Term, second: Term) -> bool:
        """Whether two terms hold in the same valid configurations."""
        one, two = self._levels(first), self._levels(second)
        if any(self._holds(one, w) != self._holds(two, w) for w in self._witnesses):
            return False
        return self._implies(one, two) and self._implies(two, one)

    def dead_levels(self) -> list[Level]:
        """Levels that no valid configuration has."""
        return [level for level in self.space.levels if not self.possible((str(level),))]

    def complete(
        self,
        held: Iterable[Level] = (),
        *,
        near: Configuration,
        excluding: Collection[Configuration] = (),
        apart: Iterable[Sequence[Level]] = (),
    ) -> Configuration | None:
        """A valid configuration at the held levels, close to `near`, outside `excluding`; None: none exists.

        Close, not closest: the solver tries the values of `near` first; a `near` that fits comes back itself.
        How a misfit is repaired may also depend on what this solver was asked before.
        apart: levels that it must not have all of.
        """
        self._solver.set_phases(self._phases(near))
        assumptions = [lit for level in held for lit in self._assume(level)]
        assumptions += [self._never(tuple(levels)) for levels in apart]
        found = self._solve(assumptions)
        if found is None or found not in excluding:
            return found
        switch = self._switch()
        for configuration in excluding:
            self._solver.add_clause([-switch, *(-lit for lit in self._of(configuration))])
        found = self._solve([*assumptions, switch])
        self._solver.add_clause([-switch])
        return found

    def _switch(self) -> int:
        """A new variable: clauses hold only while it is assumed."""
        self._last_variable += 1
        return self._last_variable

    def _never(self, levels: tuple[Level, ...]) -> int:
        """The switch that keeps some levels from holding all at once."""
        if levels not in self._kept_apart:
            self._kept_apart[levels] = switch = self._switch()
            self._solver.add_clause([-switch, *(-lit for level in levels for lit in self._assume(level))])
        return self._kept_apart[levels]

    def default(self) -> Configuration:
        """The default configuration, or the valid one that differs from it in the fewest options (MaxSAT)."""
        return self._default

    @cached_property
    def _default(self) -> Configuration:
        wanted = self.space.default
        if self.valid(wanted):
            return wanted
        formula = WCNF()
        formula.extend(self._clauses)
        for literal in self._of(wanted):
            formula.append([literal], weight=1)
        with RC2(formula) as maximal:
            return self._decode(maximal.compute())

    def default_note(self) -> str:
        """One sentence when the constraints forbid the default configuration, else an empty text."""
        wanted, used = self.space.default, self.default()
        moved = [
            str(next(lv for lv in o.levels if lv.operator in ("on", "off", "=") and lv.holds(value)))
            for o, was, value in zip(self.space.options, wanted, used, strict=True)
            if was != value
        ]
        if not moved:
            return ""
        return (
            f"The constraints forbid the default configuration; the nearest valid one has {', '.join(moved)}."
        )

    def size(self, limit: int) -> int | None:
        """Exact number of valid configurations; None when it is above the limit or too costly to count.

        Options that no constraint connects are counted apart, so only a part with more than `limit`
        configurations of its own is not counted.
        """
        total = 1
        for part in self.parts:
            count = len(self._all(part, limit + 1))
            if count > limit:
                return None
            total *= count
        return total if total <= limit else None

    def configurations(self, limit: int) -> list[Configuration] | None:
        """All valid configurations, or None when there are more than the limit."""
        if self.size(limit) is None:
            return None
        result: list[Configuration] = []
        for choice in itertools.product(*(self._all(part, limit) for part in self.parts)):
            values: list[Value] = list(self.space.default)
            for part, chosen in zip(self.parts, choice, strict=True):
                for index, value in zip(part, chosen, strict=True):
                    values[index] = value
            result.append(tuple(values))
        return result

    @cached_property
    def parts(self) -> tuple[tuple[int, ...], ...]:
        """Positions of options, grouped: options of different groups share no constraint."""
        group = list(range(len(self.space.options)))

        def find(i: int) -> int:
            while group[i] != i:
                group[i] = i = group[group[i]]
            return i

        for touched in self._touched:
            for other in touched:
                group[find(other)] = find(min(touched))
        members: dict[int, list[int]] = {}
        for i in range(len(group)):
            members.setdefault(find(i), []).append(i)
        return tuple(tuple(part) for part in members.values())

    def free(self, part: tuple[int, ...]) -> bool:
        """Whether no constraint names an option of the group."""
        return not any(set(part) & touched for touched in self._touched)

    def part_values(self, part: tuple[int, ...], limit: int) -> list[Configuration] | None:
        """All valid value tuples of one of `parts`, or None when there are more than the limit."""
        values = self._all(part, limit + 1)
        return values if len(values) <= limit else None

    def _all(self, part: tuple[int, ...], limit: int) -> list[Configuration]:
        """The first `limit` valid value tuples of a group."""
        known, asked = self._listed.get(part, ([], 0))
        if limit > asked and len(known) == asked:
            known = list(itertools.islice(self._enumerate(part), limit))
            self._listed[part] = (known, limit)
        return known[:limit]

    def _enumerate(self, part: tuple[int, ...]) -> Iterator[Configuration]:
        if self.free(part):
            yield from itertools.product(*(self.space.options[i].values for i in part))
            return
        literals = [self._encoding.literals[i] for i in part]
        with Solver(name=_SOLVER, bootstrap_with=self._clauses) as solver:
            while solver.solve():
                values = _values(literals, solver.get_model())
                yield values
                solver.add_clause([-lits[v] for lits, v in zip(literals, values, strict=True)])

    def _refuse_contradictions(self) -> None:
        """Raises on an unsatisfiable set, after removing from the core what is not needed for it."""
        if not self._roots:
            return
        roots = self._roots
        with Solver(name=_SOLVER, bootstrap_with=self._encoding.clauses) as solver:
            if solver.solve(assumptions=roots):
                return
            failed = set(solver.get_core())
            core = [i for i, root in enumerate(roots) if root in failed]
            for i in list(core):
                without = [j for j in core if j != i]
                if not solver.solve(assumptions=[roots[j] for j in without]):
                    core = without
        texts = " / ".join(f'"{self.space.constraints[i]}"' for i in core)
        what = "can never hold" if len(core) == 1 else f"contradict each other (all {len(core)} together)"
        raise ConstraintError(
            f"{texts} {what}; change or remove {'it' if len(core) == 1 else 'one'}", tuple(core)
        )

    def _of(self, configuration: Configuration) -> list[int]:
        return [lits[v] for lits, v in zip(self._encoding.literals, configuration, strict=True)]

    def _phases(self, configuration: Configuration) -> list[int]:
        phases: list[int] = []
        for literals, value in zip(self._encoding.literals, configuration, strict=True):
            chosen = literals[value]
            phases += (
                [chosen] if chosen < 0 else [lit if lit == chosen else -abs(lit) for lit in literals.values()]
            )
        return phases

    def _levels(self, term: Term) -> list[Level]:
        return [self.space.level_of[text] for text in term]

    def _assume(self, level: Level) -> list[int]:
        """Literals whose conjunction is the level: of a number, a threshold excludes the other values."""
        index = self.space.index[level.option]
        literals = self._encoding.literals[index]
        if level.operator in ("<", ">="):
            return [-lit for value, lit in literals.items() if not level.holds(value)]
        return [literals[level.value]]

    def _assume_not(self, level: Level) -> list[int]:
        if level.operator in ("<", ">="):
            return self._assume(Level(level.option, ">=" if level.operator == "<" else "<", level.value))
        return [-lit for lit in self._assume(level)]

    def _holds(self, levels: Sequence[Level], configuration: Configuration) -> bool:
        return all(self.space.holds(level, configuration) for level in levels)

    def _implies(self, first: Sequence[Level], second: Sequence[Level]) -> bool:
        """Whether no valid configuration holds the first and not the second; keeps the counterexample."""
        assumed = [lit for level in first for lit in self._assume(level)]
        for level in second:
            witness = self._solve([*assumed, *self._assume_not(level)])
            if witness is not None:
                self._witnesses.appendleft(witness)
                return False
        return True

    def _model(self, levels: Sequence[Level]) -> Configuration | None:
        return self._solve([lit for level in levels for lit in self._assume(level)])

    def _solve(self, assumptions: Sequence[int]) -> Configuration | None:
        if not self._solver.solve(assumptions=assumptions):
            return None
        return self._decode(self._solver.get_model())

    def _decode(self, model: Sequence[int]) -> Configuration:
        return _values(self._encoding.literals, model)


def _values(literals: Iterable[Mapping[Value, int]], model: Sequence[int]) -> Configuration:
    """The value of each option in a model, whose position v - 1 holds v or -v."""
    return tuple(
        model[lits[True] - 1] > 0
        if True in lits and False in lits and lits[True] == -lits[False]
        else next(value for value, lit in lits.items() if model[lit - 1] > 0)
        for lits in literals
    )
