"""Which known methods a diff touches: a method reaches from its line to the next known one's in its file."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.model.diffs import FileDiff, Hunk
from bot.model.profiles import Method


@dataclass(frozen=True)
class Touched:
    """Methods with a changed line, and methods of which only the file is known to have changed."""

    surely: tuple[Method, ...] = ()
    perhaps: tuple[Method, ...] = ()


def touched_methods(methods: Iterable[Method], diff: Sequence[FileDiff]) -> Touched:
    """Methods, as they stand at the diff's old revision, that it touches; each in one of both lists, sorted.

    In a file none of whose changed lines is in a known method (an import, a constant, a macro) every method
    is perhaps touched, and so is each method without a line. Lines added just before a method are taken for
    a new one.
    """
    by_file = _by_file(methods)
    surely: list[Method] = []
    perhaps: list[Method] = []
    for file in diff:
        own = by_file.get(file.old, [])
        hit = _hit(own, file.hunks)
        surely += hit
        perhaps += [m for m in own if m not in hit and (m.line is None or not hit)]
    return Touched(tuple(sorted(surely)), tuple(sorted(perhaps)))


def moved_methods(methods: Iterable[Method], diff: Sequence[FileDiff]) -> tuple[Method, ...]:
    """Methods of the diff's old revision with file and line as at its new one; in changed lines roughly."""
    files = {file.old: file for file in diff}
    found = []
    for method in methods:
        file = files.get(method.file or "")
        if file is None:
            found.append(method)
        else:
            line = None if method.line is None else _moved(method.line, file.hunks)
            found.append(replace(method, file=file.new, line=line))
    return tuple(found)


def _by_file(methods: Iterable[Method]) -> Mapping[str, list[Method]]:
    found: dict[str, dict[Method, None]] = defaultdict(dict)
    for method in methods:
        if method.file is not None:
            found[method.file][method] = None
    return {file: list(own) for file, own in found.items()}


def _hit(methods: Sequence[Method], hunks: Iterable[Hunk]) -> list[Method]:
    """Methods that reach over a changed line, or over both neighbours of added lines."""
    placed = [(m.line, m) for m in methods if m.line is not None]
    starts = sorted({line for line, _ in placed})
    begun: set[int] = set()
    for old, _ in hunks:
        if old or old.start not in starts:
            first, last = old.start, max(old.stop - 1, old.start)
            begun |= set(starts[max(bisect_right(starts, first) - 1, 0) : bisect_right(starts, last)])
    return [m for line, m in placed if line in begun]


def _moved(line: int, hunks: Iterable[Hunk]) -> int:
    shift = 0
    for old, new in hunks:
        if old.start > line:
            break
        if line in old:
            return max(new.start, 1)
        shift = new.stop - old.stop
    return line + shift
