"""Where clocks are inserted into the files of a Node program, so that calls of chosen functions are timed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from bot.adapters.profilers.evidence import told
from bot.adapters.profilers.node.parsing import ask_parser, valid_lines
from bot.adapters.profilers.node.sources import MODULE, module_of
from bot.adapters.reading.answers import Told
from bot.model.profiles import Method, Target


class FileClocks(Told):
    """What rewriting.cjs answers for one file."""

    hash: str
    module: bool
    found: list[int]
    untimed: list[int]
    insertions: list[tuple[int, str]]


_PLANNED: TypeAdapter[tuple[str, FileClocks | str]] = TypeAdapter(tuple[str, FileClocks | str])


def tell_clocks(answer: Path) -> list[tuple[str, FileClocks]]:
    """A reader: the files that have clocks."""
    each = valid_lines(answer, _PLANNED)
    return [(path, plan) for path, plan in each if isinstance(plan, FileClocks) and plan.found]


@dataclass
class Clocks:
    """Insertions by file; for the number of each method they reach, whether it is timed or only counted."""

    files: dict[str, FileClocks] = field(default_factory=dict)
    timed: dict[int, bool] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def clocks_for(target: Target, methods: Sequence[Method], *, summaries: bool) -> Clocks:
    """Asks the parser where the clocks of these methods go."""
    clocks = Clocks()
    wanted: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for number, method in enumerate(methods):
        module = module_of(method.file) if method.file else ""
        if method.file and method.name.startswith(f"{module}:"):
            path = str((target.root / method.file).resolve())
            wanted[path][method.name[len(module) + 1 :]] = number
    answer, notes = ask_parser(target, "rewriting.cjs", {"files": wanted, "summaries": summaries})
    if notes:
        clocks.notes.extend(notes)
        return clocks
    for path, plan in told(target, tell_clocks, answer, files=[answer.parent]):
        clocks.files[path] = plan
        clocks.timed.update({number: number not in plan.untimed for number in plan.found})
    unfound = [m.name for number, m in enumerate(methods) if number not in clocks.timed]
    if top := [name for name in unfound if name.endswith(f":{MODULE}")]:
        clocks.notes.append(
            f"What files do when they are loaded is no call, and is not timed (first: {top[0]})."
        )
    if lost := [name for name in unfound if name not in top]:
        are = "1 method is" if len(lost) == 1 else f"{len(lost)} methods are"
        clocks.notes.append(f"{are} not in the program's files (first: {lost[0]}).")
    if untimed := [number for number, timed in clocks.timed.items() if not timed]:
        clocks.notes.append(f"{len(untimed)} methods that wait in `for await` are counted, not timed.")
    return clocks
