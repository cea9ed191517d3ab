"""Reads the measurements of nine Java systems that the authors of the published models made public.

Their files (AI-4-SE/White-Box-Performance-Influence-Models, `supplementary-website/experiment_data/data`) are
pickled data frames: read here by an unpickler that knows arrays only, so that nothing in them can run.
"""

from __future__ import annotations

import gzip
import io
import pickle
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.analysis.influences.costs import CostTable, Floats, Quantity
from bot.model.space import Configuration, Option, Space, Value

SYSTEMS: Mapping[str, tuple[str, str, str]] = {
    "batik": ("featurewise_pdb_49_7", "pairwise_pdb_49_7", "rnd100_pdb_49_7"),
    "catena": ("feature_pbd_49_7", "t_2_pbd_49_7", "rnd100"),
    "cpd": ("feature_pbd_49_7", "t_2_pbd_49_7", "rnd100"),
    "density-converter": ("feature_pbd_49_7", "", "rnd100"),
    "h2": ("feature_pbd_125_5", "t_2_pbd_125_5", "rnd100"),
    "kanzi": ("featurewise_pdb_49_7", "pairwise_pdb_49_7", "rnd100_pdb_49_7"),
    "pmd": ("feature_pbd_49_7", "t_2_pbd_49_7", "rnd100"),
    "prevayler": ("feature_pbd_125_5", "t_2_pbd_125_5", "rnd100"),
    "sunflow": ("feature_pbd_49_7", "", "rnd100"),
}
"""File name parts: feature-wise, pair-wise (the two systems without have no such file), random test set."""
CHOICES: Mapping[str, tuple[str, ...]] = {"catena": ("field2",)}
"""Positional fields whose numbers are names."""
CONFIGURATION_FIELDS: Mapping[str, int] = {"catena": 8}
"""Leading positional fields that vary."""
ABSENT = "absent"


class _Bag:
    """Stands for any class of the data frame library: keeps the state, does nothing."""

    def __init__(self, *_: object) -> None: ...

    def __setstate__(self, state: object) -> None:
        self.state = state


class _ArraysOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("numpy") and name in (
            "_reconstruct",
            "ndarray",
            "dtype",
            "scalar",
            "_frombuffer",
        ):
            return super().find_class(module.replace("numpy.core", "numpy._core"), name)
        if (module, name) == ("builtins", "slice"):
            return slice
        if module.startswith("pandas"):
            return (lambda _, state: state) if name == "_new_Index" else type(name, (_Bag,), {})
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a table")


def columns(path: Path) -> dict[str, NDArray[Any]]:
    """The columns of a pickled data frame by name."""
    raw = path.read_bytes()
    frame = _ArraysOnly(io.BytesIO(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)).load()
    manager = frame.state.get("_mgr", frame.state.get("_data"))
    _, blocks, items = manager.state[:3]
    found: dict[str, NDArray[Any]] = {}
    for block, names in zip(blocks, items, strict=True):
        values = np.atleast_2d(np.asarray(block))
        for k, name in enumerate(names["data"]):
            found[name] = values[k]
    return found


def _fields(system: str, text: str) -> dict[str, str]:
    """Option -> text of a configuration: positional fields, or a command line joined by underscores."""
    if not text.startswith("cfg"):
        parts = text.replace("ONE_HUNDRED_THOUSAND", "100000").replace("ONE_MILLION", "1000000").split("_")
        return {f"field{i}": p for i, p in enumerate(parts[: CONFIGURATION_FIELDS.get(system)])}
    found: dict[str, str] = {}
    name = "start"
    for word in text[3:].split("_"):
        if word.startswith("-media"):  # a path
            continue
        if word.startswith("-") and not re.match(r"^-\d", word):
            name = word.lstrip("-")
            found[name] = ""
        else:
            found[name] = f"{found.get(name, '')}_{word}".strip("_")
    return found


def _option(system: str, name: str, texts: Sequence[str | None]) -> Option | None:
    """The option that explains the texts; None: they never change."""
    distinct = {t for t in texts if t is not None}
    if len({*texts}) == 1:
        return None
    if distinct <= {"0", "1"} or distinct <= {"YES", "NO"} or distinct == {""}:
        return Option(name, "flag", (False, True), False)
    numeric = all(re.fullmatch(r"-?\d+(\.\d+)?", t) for t in distinct)
    if numeric and None not in texts and name not in CHOICES.get(system, ()):
        values: tuple[Value, ...] = tuple(sorted({float(t) for t in distinct}))
        return Option(name, "number", values, values[0])
    names: tuple[Value, ...] = tuple(sorted(ABSENT if t is None else t for t in {*texts}))
    return Option(name, "choice", names, names[0])


def _value(option: Option, text: str | None) -> Value:
    if option.kind == "flag":
        return text in ("1", "YES", "")
    if option.kind == "number":
        assert text is not None
        return float(text)
    return ABSENT if text is None else text


def read(folder: Path, system: str) -> dict[str, CostTable]:
    """The tables "feature-wise", "pair-wise" and "random" of a system over one space; seconds from ms."""
    kinds = ("feature-wise", "pair-wise", "random")
    tables = {}
    for kind, part in zip(kinds, SYSTEMS[system], strict=True):
        paths = sorted(folder.glob(f"{system}__{part}__jProfiler.pkl*")) if part else []
        if paths:
            tables[kind] = columns(paths[0])
    texts = {t: _fields(system, t) for table in tables.values() for t in map(str, table["config"])}
    names = list(dict.fromkeys(n for f in texts.values() for n in f))
    found = {n: _option(system, n, [f.get(n) for f in texts.values()]) for n in names}
    options = [o for o in found.values() if o is not None]
    space = Space(tuple(options))
    encode: Callable[[str], Configuration] = lambda t: tuple(_value(o, texts[t].get(o.name)) for o in options)  # noqa: E731
    methods = tuple(sorted({str(m) for table in tables.values() for m in table["m_name"]}))
    return {kind: _table(space, methods, encode, table) for kind, table in tables.items()}


def _table(
    space: Space,
    methods: tuple[str, ...],
    encode: Callable[[str], Configuration],
    table: Mapping[str, NDArray[Any]],
) -> CostTable:
    place = {m: j for j, m in enumerate(methods)}
    rows: dict[Configuration, int] = {}
    configurations = [encode(str(t)) for t in table["config"]]
    for c in configurations:
        rows.setdefault(c, len(rows))
    repetitions = sorted({int(r) for r in table["rep"]})
    shape = (len(rows), len(methods), len(repetitions))
    seconds, calls = np.full(shape, np.nan), np.full(shape, np.nan)
    i = [rows[c] for c in configurations]
    j = [place[str(m)] for m in table["m_name"]]
    k = [repetitions.index(int(r)) for r in table["rep"]]
    seconds[i, j, k] = np.array(table["perf"], dtype=np.float64) / 1000.0
    calls[i, j, k] = np.array(table["num"], dtype=np.float64)
    quantities: dict[Quantity, Floats] = {"seconds": seconds, "calls": calls}
    return CostTable(space, tuple(rows), methods, quantities)
