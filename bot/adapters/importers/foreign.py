"""What every importer needs: clear refusals, times, units, and runs made of other tools' results."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.model.errors import UsageError
from bot.model.history import KnownOption, Measurements, RunRecord
from bot.model.recording import Recorder
from bot.model.report import Environment, RevisionRef
from bot.model.space import Value
from bot.model.trials import Trial

BENCHMARK = "benchmark"
"""The option that stands for the name of another tool's benchmark."""
BITS = 63
"""Of the largest whole number that can be kept."""
_SECONDS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("us", "µs", "μs", "usec", "microsecond", "microseconds"), 1e-6),
    **dict.fromkeys(("ns", "nsec", "nanosecond", "nanoseconds"), 1e-9),
}
_PER_RUN = ("iter", "op", "iteration", "run", "call")
Model = TypeVar("Model", bound=BaseModel)
Content: TypeAlias = bytes


class Foreign(BaseModel):
    """A part of another tool's file; it may hold more than we know."""

    model_config = ConfigDict(frozen=True)


@dataclass(frozen=True)
class File:
    """A file to import: its name for messages, content and date, and what the person said about it."""

    name: str
    content: Content
    modified: datetime
    revision: str | None = None


@dataclass
class Series:
    """One run of another tool, while it is read."""

    source: str
    """Format and suite: runs of the same source are comparable, and with nothing else."""
    revision: str
    started: datetime
    ref: str = ""
    version: str = ""
    environment: Environment = field(default_factory=Environment)
    label: str | None = None
    subject: str | None = None
    id: str | None = None
    units: dict[str, str] = field(default_factory=dict)
    recorder: Recorder = field(default_factory=Recorder)
    _options: dict[str, dict[str, Value]] = field(default_factory=dict)

    def trial(
        self,
        configuration: Mapping[str, Value],
        trial: Trial,
        *,
        revision: RevisionRef | None = None,
        **more: Any,
    ) -> None:
        """Takes one trial, of the series' own revision when none is given; `more` as in `Recorder.trial`."""
        for name, value in configuration.items():
            self._options.setdefault(name, {})[json.dumps(value)] = value
        revision = revision or RevisionRef(revision=self.revision, label="")
        self.recorder.trial(trial, revision, configuration, **more)

    def measurements(self, content: Content) -> Measurements:
        """The run; its id depends on the file's content, so that a second import is recognised."""
        suite = self.source.partition(":")[2] or self.source
        digest = hashlib.sha256(content + f"{self.source} {self.revision} {self.started}".encode())
        return self.recorder.measurements(
            RunRecord(
                id=self.id or f"import-{digest.hexdigest()[:24]}",
                mode="import",
                started=self.started,
                subject=suite if self.subject is None else self.subject,
                program=self.source,
                ref=self.ref,
                label=suite if self.label is None else self.label,
                tool_version=self.version,
                environment=self.environment,
                options={name: known_option(values.values()) for name, values in self._options.items()},
                metrics=self.units,
            )
        )


def known_option(values: Iterable[Value]) -> KnownOption:
    """The option that has these values; the first is called its default, because nobody knows better."""
    found = tuple(values)
    if all(isinstance(value, bool) for value in found):
        return KnownOption(kind="flag", values=(False, True), default=found[0])
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in found):
        return KnownOption(kind="number", values=tuple(sorted(found)), default=found[0])
    return KnownOption(kind="choice", values=tuple(map(str, found)), default=str(found[0]))


def metric_of(unit: str) -> tuple[str, float]:
    """(name of a metric, factor to our unit) for another tool's unit; times become seconds of `wall`."""
    amount, _, per = unit.strip().partition("/")
    if amount.strip().lower() in _SECONDS and (not per or per.strip().lower() in _PER_RUN):
        return "wall", _SECONDS[amount.strip().lower()]
    name = "".join(letter if letter.isalnum() else "_" for letter in unit.strip().lower()).strip("_")
    return name or "value", 1.0


def passed(metric: str, value: float | None, *, repetitions: int = 1) -> Trial:
    """A trial with one metric; without a finite value it failed."""
    if value is None or not math.isfinite(value):
        return Trial("unparsable", detail="no value")
    return Trial("ok", {metric: value}, repetitions=max(repetitions, 1))


def moment(milliseconds: float, file: File) -> datetime:
    """JavaScript's time.

    Raises:
        UsageError: no time that a calendar has.
    """
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        raise UsageError(f"{file.name}: {milliseconds} is no time in milliseconds") from None


def _bounded(digits: str) -> int:
    """A whole number that a column of a table holds."""
    number = int(digits)
    if number.bit_length() > BITS:
        raise ValueError
    return number


def parsed(file: File, *, after: str = "") -> Any:
    """The file's JSON, behind the text `after` (the assignment of a script).

    Raises:
        UsageError: FILE:LINE:COLUMN and what is wrong there.
    """
    try:
        text = file.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{file.name}: not UTF-8 text at byte {error.start}") from None
    start = len(text) - len(text.lstrip()[len(after) :]) if after else 0
    try:
        value = json.loads(text[start:].rstrip().removesuffix(";"), parse_int=_bounded)
        if "\\ud" in text.lower():  # half of a pair of escapes is no character, and no column keeps it
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        line = text.count("\n", 0, start + error.pos) + 1
        raise UsageError(f"{file.name}:{line}:{error.colno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise UsageError(f"{file.name}: nested too deeply") from None
    except UnicodeEncodeError:
        raise UsageError(f"{file.name}: a text is no Unicode: half of a pair of \\u escapes") from None
    except ValueError:
        raise UsageError(f"{file.name}: a whole number has more than {BITS} bits") from None
    return value


def checked(model: type[Model], value: Any, file: File) -> Model:
    """The value as a model.

    Raises:
        UsageError: FILE: where in it, and what is wrong.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"])) or "at the top"
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise UsageError(f"{file.name}: {place}: {first['msg']}{more}") from None
