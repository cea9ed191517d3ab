"""What history lets this run expect, and what of it a reader must know: the state of base, the machine."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.analysis.candidates import candidates
from bot.analysis.diagnose import Rule
from bot.analysis.experience import Expected, Experience
from bot.analysis.hindsight import condensed, failures
from bot.analysis.past_changes import NamedChanges, past_changes
from bot.analysis.reliability import doubts
from bot.flows.history.accepting import Accepted
from bot.flows.history.base_state import BaseState
from bot.flows.machines.drift import differences
from bot.flows.ports import Solver, Store
from bot.model.errors import HistoryError
from bot.model.history import Measurements, Selection, program_fingerprint, told
from bot.model.report import Effect, Environment, History
from bot.model.space import Configuration, Space
from bot.model.subject import Subject
from bot.report.ranges import moves

RUNS, ROWS = 200, 250_000
"""The newest so many runs (and rows, by whole pieces) are read: older ones add little, and time is short."""
CONFIGURATIONS = 400
"""Changes are looked for in the configurations that were measured most."""
BEHIND = 30
"""So many revisions between history's newest and base are told: a harm of base may be over. Arbitrary."""
NO_HISTORY = "No history was read: this run stands on its own pairs, and prior probabilities are not known."


@dataclass(frozen=True)
class Memory:
    """Where history is read: the store, the ids of base's first-parent line (oldest first), and the time.

    named: the changes of one metric on that line in the words of the nights among the measurements; None: no
    night is among them.
    """

    store: Store
    line: Callable[[], Sequence[str]]
    now: datetime
    named: Callable[[Measurements, str, Sequence[str]], NamedChanges | None] = lambda *_: None


@dataclass(frozen=True)
class Recalled:
    """What was read, what it lets expect (None: nothing), notes, the newest run's machine, base's state."""

    experience: Experience | None = None
    history: History = field(default_factory=History)
    notes: tuple[str, ...] = (NO_HISTORY,)
    machine: Environment = field(default_factory=Environment)
    states: tuple[BaseState, ...] = ()

    def machine_notes(self, now: Environment) -> list[str]:
        """In what this run's machine differs from the one of the newest run in the history."""
        other = differences(now, self.machine)
        return (
            [f"The environment is another one than history's newest ({'; '.join(other)})."] if other else []
        )

    def beside_base(self, effects: Iterable[Effect]) -> tuple[Effect, ...]:
        """The same, with what history knows of base in their terms."""
        found = []
        for effect in effects:
            ratio = next(filter(None, (state.ratio(effect) for state in self.states)), None)
            found.append(effect if ratio is None else effect.model_copy(update={"base_ratio": ratio}))
        return tuple(found)

    def answers(self, effects: Sequence[Effect]) -> list[str]:
        """What this run's changes have to do with what history knows of the same terms."""
        return [answer for state in self.states for answer in state.answers(effects)]

    def doubted(self, sample: Sequence[Configuration]) -> Mapping[Configuration, Hashable]:
        """What of the sample fails more often than not, as history knows, and with which value."""
        return doubts(self.experience.trials, sample) if self.experience is not None else {}


def recall(
    memory: Memory | None,
    subject: Subject,
    rules: Sequence[Rule],
    solver: Solver,
    *,
    accepted: Accepted | None = None,
) -> Recalled:
    """Reads the history; whatever is wrong with it ends in the notes. What is `accepted` is base's level."""
    if memory is None:
        return Recalled()
    try:
        past = _read(memory.store, subject, rules)
        notes = list(memory.store.notes())
        history = told(memory.store.source, past, memory.now)
    except HistoryError as error:
        return Recalled(notes=(f"{error}.", NO_HISTORY))
    if not len(past):
        if memory.store.source is not None:
            notes.append(f"The history ({memory.store.source}) has no measurement of this program.")
        return Recalled(history=history, notes=(*notes, NO_HISTORY))
    line = memory.line()
    places = {revision: place for place, revision in enumerate(line)}
    labels = {r: moves.short(r) for r in line} | {r.revision: r.label for r in past.revisions}
    metrics: dict[str, Expected] = {}
    states: list[BaseState] = []
    for rule in rules:
        metrics[rule.name] = expected(past, rule.name, subject.space, places=places, solver=solver)
        named = memory.named(past, rule.name, line)
        changes = metrics[rule.name].changes
        states.append(BaseState.of(changes, rule, [labels[r] for r in line], named=named))
        notes += states[-1].notes(accepted)
    notes += _reach([places[r.revision] for r in past.revisions if r.revision in places], line, labels)
    experience = Experience(metrics, failures(past, subject.space))
    newest = max(past.runs, key=lambda run: run.started)
    return Recalled(experience, history, tuple(notes), newest.environment, tuple(states))


def _reach(measured: Sequence[int], line: Sequence[str], labels: Mapping[str, str]) -> list[str]:
    """How far what history knows reaches on base's line, where that is not near base; places on the line."""
    if not measured:
        return ["History has no revision of base's line: what changed before is not known."]
    newest = max(measured)
    behind = len(line) - 1 - newest
    if behind < BEHIND:
        return []
    last = labels[line[newest]]
    return [f"History ends at `{last}`, {behind} revisions before base: what changed since is not known."]


def expected(
    past: Measurements, metric: str, space: Space, *, places: Mapping[str, int], solver: Solver
) -> Expected:
    """What the measurements of a metric let expect; places: of revisions on the line."""
    found = condensed(past, metric, space, places)
    if not len(found):
        return Expected(noise=found.noise)
    compared = found.narrowed(CONFIGURATIONS)
    changes = past_changes(compared, candidates(space, compared.configurations, solver.equivalent))
    return Expected(changes, int(found.place.max() - found.place.min()), found.noise)


def _read(store: Store, subject: Subject, rules: Sequence[Rule]) -> Measurements:
    """The newest measurements of this program and these metrics."""
    wanted = Selection(
        last=RUNS,
        program=program_fingerprint(subject),
        metrics=frozenset(rule.name for rule in rules),
    )
    parts: list[Measurements] = []
    rows = 0
    for part in store.scan(wanted):
        parts.append(part)
        rows += len(part)
        if rows >= ROWS:
            break
    parts.reverse()
    return Measurements.concatenated(parts) if parts else Measurements.empty()
