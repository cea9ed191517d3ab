"""Change points in plain words: which revision, who is hit, how much, whether it lasted."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace

from bot.model.report import ChangePoint, Report
from bot.model.space import Term, Value, value_text
from bot.report import words
from bot.report.formats import Prose, change, clean, code, prose, sentence, strong

SUBJECT_LENGTH = 72
LONGEST_COMMAND = 300
WHOLE, PART = 0.9, 0.4
"""A change that takes back so much of an earlier one undoes it, or undoes a part of it."""


@dataclass(frozen=True)
class Course:
    """A change point, its number in tables and pictures, and what became of it.

    left: how much of its size is still there. end: the change point that took it back; eased: that took a
    part of it back. begin, eases: whom it took back itself, whole or in part; surplus: and more than that.
    """

    number: int
    point: ChangePoint
    worse: bool
    left: float
    end: ChangePoint | None = None
    eased: ChangePoint | None = None
    begin: ChangePoint | None = None
    eases: ChangePoint | None = None
    surplus: bool = False

    @property
    def lasting(self) -> bool:
        """Whether (some of) it is still there at the end of the range."""
        return self.end is None and self.point.shape != "transient"

    @property
    def fate(self) -> Prose:
        """What became of it: "undone at `v1.6`"; empty for a step that stayed."""
        transient = self.point.shape == "transient"
        if self.end is not None:
            return prose("transient: passed again at " if transient else "undone at ", called(self.end))
        if self.eased is not None:
            return prose("partly undone at ", called(self.eased))
        if self.begin is not None:
            undoes = "more than undoes " if self.surplus else "undoes "
            rest = prose(", and a part of ", called(self.eases)) if self.eases else ""
            return prose("ends the episode since " if transient else undoes, called(self.begin), rest)
        if self.eases is not None:
            return prose("undoes a part of ", called(self.eases))
        return prose("transient" if transient else "")


def revision(point: ChangePoint) -> Prose:
    """A change point's revision: its label, its short id when that is something else, its subject."""
    label = point.label or short(point.revision)
    parts = [name(label)]
    if short(point.revision) != point.revision and not point.revision.startswith(label):
        parts.append(prose(" ", code(short(point.revision))))
    if clean(point.subject).strip():
        parts.append(prose(" “", sentence(point.subject, limit=SUBJECT_LENGTH), "”"))
    return prose(*parts)


def span(point: ChangePoint) -> Prose:
    """The first and last revision that may carry the change; empty when there is only one."""
    first, last = point.interval
    if first == last:
        return prose("")
    labels = (label or short(full) for label, full in zip(point.interval_labels, point.interval, strict=True))
    return prose(code(next(labels)), " to ", code(next(labels)))


def since(point: ChangePoint) -> Prose:
    """From when on: "since `v1.4`", or "since one of `v1.3` to `v1.5`"."""
    several = span(point)
    if several.spans:
        return prose("since one of ", several)
    return prose("since ", called(point))


def called(point: ChangePoint) -> Prose:
    """A change point's revision by its label alone."""
    return name(point.label or short(point.revision))


def name(label: str) -> Prose:
    """A revision's label; a bare number is said to be a revision."""
    return prose("revision " if label.isdigit() else "", code(label))


def short(full: str) -> str:
    """The beginning of a commit's id; anything else as it is."""
    return full[:10] if re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", full) else full


def amount(point: ChangePoint, *, emphasised: bool = False) -> Prose:
    """How much: "+23 % CPU time (21 to 25)"."""
    number, _, interval = change(point.ratio, point.ratio_interval).partition(" (")
    shown = strong(number) if emphasised else prose(number)
    return prose(shown, " ", words.metric(point.metric).noun, f" ({interval}" if interval else "")


def size(point: ChangePoint) -> float:
    """How far it moved, the same for twice as much as for half; 0 when that is not known."""
    return abs(math.log(point.ratio)) if 0.0 < point.ratio < math.inf else 0.0


def courses(report: Report) -> tuple[Course, ...]:
    """Each change point with what became of it, in the report's order.

    A change takes back the latest earlier ones of its term first, until it is used up. What is left of one
    that ends an episode goes to narrower changes of the same episode.
    """
    made = [
        Course(i, point, words.worse(report, point), size(point))
        for i, point in enumerate(report.change_points, 1)
    ]
    standing: dict[tuple[Term, str], list[int]] = {}
    for j, point in enumerate(report.change_points):
        stack = standing.setdefault((point.term, point.metric), [])
        unused = _take_back(made, stack, j)
        surplus = unused > (1.0 - WHOLE) * size(point)
        if surplus and made[j].begin is not None:
            surplus = not _ease_narrower(made, standing, j, unused)
        made[j] = replace(made[j], surplus=surplus)
        if surplus:
            stack.append(j)
    return tuple(made)


def _ease_narrower(
    made: list[Course], standing: Mapping[tuple[Term, str], list[int]], j: int, unused: float
) -> bool:
    """Gives what is left of a change to those of its episode that hit only some of whom it hits; any?"""
    point, found = made[j].point, False
    since = next(i for i in range(j) if made[i].point is made[j].begin)
    for (term, metric), stack in standing.items():
        for i in [*stack] if set(term) > set(point.term) and metric == point.metric else ():
            whole, left = size(made[i].point), max(made[i].left - unused, 0.0)
            if i >= since and made[i].worse is not made[j].worse and unused >= PART * whole:
                if gone := left <= (1.0 - WHOLE) * whole:
                    stack.remove(i)
                made[i] = replace(
                    made[i], left=left, end=point if gone else None, eased=None if gone else point
                )
                found = True
    return found


def _take_back(made: list[Course], stack: list[int], j: int) -> float:
    """What is left of change j after it took back others that still stand."""
    unused = size(made[j].point)
    while stack and made[stack[-1]].worse is not made[j].worse and unused > 0.0:
        i = stack[-1]
        whole = size(made[i].point)
        passed = made[i].point.shape == made[j].point.shape == "transient"
        left = 0.0 if passed else made[i].left - min(made[i].left, unused)
        used, unused = made[i].left - left, 0.0 if passed else max(0.0, unused - made[i].left)
        if left <= (1.0 - WHOLE) * whole:
            made[i] = replace(made[i], left=left, end=made[j].point, eased=None)
            made[j] = replace(made[j], begin=made[i].point)
            stack.pop()
        else:
            told = used >= PART * whole
            made[i] = replace(made[i], left=left, eased=made[j].point if told else made[i].eased)
            made[j] = replace(made[j], eases=made[i].point if told else made[j].eases)
            break
    return unused


def comparison(point: ChangePoint, report: Report) -> str:
    """The command that compares the revisions around a change point; empty when it cannot be pasted.

    With the configuration file that was given, without which another one, or none, would be read, and the
    revision that has the inputs of all.
    """
    if point.before is None or not point.before.revision:
        return ""
    ends = (point.before.revision, point.interval[1])
    line = "suspects pr --base {} --head {} --exact-base".format(*map(shlex.quote, ends))
    if report.config:
        line += f" --config {shlex.quote(report.config)}"
    if report.overlay_from:
        line += f" --overlay-from {shlex.quote(report.overlay_from)}"
    usable = clean(line) == line and len(line) <= LONGEST_COMMAND
    return line if usable and not any(e.startswith("-") for e in ends) else ""


def holds(term: Term, options: Mapping[str, Value]) -> bool:
    """Whether a configuration is at each level of a term."""
    return all(_at(level, options) for level in term)


def _at(text: str, options: Mapping[str, Value]) -> bool:
    parts = words.level_parts(text)
    if parts is None:
        return options.get(text.removeprefix("!")) is (not text.startswith("!"))
    name, operator, wanted = parts
    value = options.get(name)
    if value is None:
        return False
    if operator == "=":
        return value_text(value) == wanted
    try:
        return float(value) >= float(wanted) if operator == ">=" else float(value) < float(wanted)
    except ValueError:
        return False
