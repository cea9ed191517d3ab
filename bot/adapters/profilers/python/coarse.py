"""Coarse profiler of Python: cProfile's counts with py-spy's shares, from one trial under each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.adapters.profilers.python.cprofile import CProfile
from bot.adapters.profilers.python.spy import PySpy
from bot.model.profiles import EdgeCost, Method, MethodCost, Profile, Target, Tool

ENOUGH = 400
"""Samples from which on py-spy's shares replace cProfile's: one half is then known within 5 points."""


class PythonCoarse:
    """The port `Profiler`: calls, edges and seconds from cProfile, shares from py-spy."""

    def __init__(self, counts: CProfile | None = None, spy: PySpy | None = None) -> None:
        self._counts, self._spy = counts or CProfile(), spy or PySpy()

    @property
    def tool(self) -> Tool:
        """Both tools as one."""
        counts, spy = self._counts.tool, self._spy.tool
        return replace(counts, name="cProfile + py-spy", version=spy.version, blind=counts.blind)

    def missing(self, target: Target) -> Sequence[str]:
        """What cProfile needs; without py-spy there are still its own shares."""
        return self._counts.missing(target)

    def profile(self, target: Target, methods: Sequence[Method] = ()) -> Profile:
        """Two trials, merged. `seconds` is that of the one under cProfile; `methods` is not used."""
        counted = self._counts.profile(target, methods)
        absent = self._spy.missing(target)
        if absent:
            return replace(counted, notes=(*counted.notes, *absent, _ONLY_COUNTED))
        sampled = self._spy.profile(target, methods)
        if not counted.methods:
            return replace(sampled, notes=(*counted.notes, *sampled.notes))
        merged = merge(counted, sampled)
        if not merged.samples:
            return merged
        version = f"{sampled.tool.version}, Python {counted.tool.version}"
        return replace(merged, tool=replace(self.tool, version=version))


_ONLY_COUNTED = "Shares are cProfile's own: small functions look dearer than they are."


def merge(counted: Profile, sampled: Profile) -> Profile:
    """The shares of `sampled` on the methods of `counted`, when there are `ENOUGH` samples."""
    samples = sampled.samples or 0
    if sampled.outcome != counted.outcome or samples < ENOUGH:
        few = f"py-spy has {samples} samples of the {ENOUGH} that are enough"
        why = f"{few if sampled.outcome == 'ok' else 'py-spy saw an unfinished trial'}."
        return replace(counted, notes=(*counted.notes, f"{why} {_ONLY_COUNTED}"))
    known = _by_place(counted.methods)
    shares: dict[Method, float] = {}
    edges: dict[tuple[Method, Method], EdgeCost] = dict(counted.edges)
    for method, cost in sampled.methods.items():
        found = _same(method, counted.methods, known)
        shares[found] = shares.get(found, 0.0) + cost.self_share
    costs = {
        method: replace(cost, self_share=shares.pop(method, 0.0)) for method, cost in counted.methods.items()
    }
    # What cProfile did not see: processes that it could not enter.
    costs.update({method: MethodCost(self_share=share) for method, share in shares.items()})
    return replace(counted, methods=costs, edges=edges, samples=samples)


_Place = tuple[str, int | None, str]


def _place(method: Method) -> _Place:
    module, _, qualified = method.name.partition(":")
    return (module, method.line, qualified.rpartition(".")[2])


def _by_place(methods: Mapping[Method, MethodCost]) -> dict[_Place, Method]:
    return {_place(method): method for method in methods}


def _same(method: Method, counted: Mapping[Method, MethodCost], known: Mapping[_Place, Method]) -> Method:
    """The counted method; before Python 3.11 py-spy knows only where it begins and its last name."""
    return method if method in counted else known.get(_place(method), method)
