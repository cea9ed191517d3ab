"""`suspects plan`, `shard` and `merge`: one analysis on several machines, and their union."""

from __future__ import annotations

import json as json_text
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.commands import options
from bot.commands.outcome import Outputs, finish
from bot.model.errors import UsageError

if TYPE_CHECKING:
    from bot.compose.nightly import AskedNight
    from bot.compose.subjects import Asked
    from bot.flows.ports import Progress
    from bot.model.report import Report
    from bot.model.shards import Plan, Shard

Shards = Annotated[int, typer.Option("--shards", min=1, help="How many machines measure.")]
Runners = Annotated[
    str, typer.Option("--runners", help="Labels of runners, separated by commas, dealt out in turn.")
]
Base = Annotated[str, typer.Option("--base", help="As of `suspects pr`; default: the event's, else HEAD~1.")]
Head = Annotated[str, typer.Option("--head", help="As of `suspects pr`; default: the event's, else HEAD.")]
PlanFile = Annotated[
    Path | None, typer.Option("--plan", help="The matrix that `suspects plan` wrote; -: standard input.")
]
Nightly = Annotated[bool, typer.Option("--nightly", help="Of a night, not of a pull request.")]
MatrixFile = Annotated[Path | None, typer.Option("--json", help="Write the matrix here, not on the screen.")]
Out = Annotated[Path | None, typer.Option("--out", help="The folder to leave; default: suspects-shard-K.")]


def plan(  # noqa: PLR0913, PLR0917  typer: one parameter per option
    shards: Shards,
    runners: Runners = "ubuntu-latest",
    base: Base = "",
    head: Head = "",
    config: options.Config = None,
    budget: options.Budget = None,
    seed: options.Seed = 0,
    nightly: Nightly = False,
    json: MatrixFile = None,
) -> None:
    """Write the matrix of an analysis on several machines, as JSON for GitHub Actions."""
    labels = tuple(label.strip() for label in runners.split(",") if label.strip())
    wanted = _Wanted(base, head, config, options.seconds_of(budget), seed)
    found = wanted.plan(shards, labels or ("ubuntu-latest",), nightly=nightly)
    text = json_text.dumps(found.model_dump(mode="json", by_alias=True), separators=(",", ":"))
    if json is None or str(json) == "-":
        typer.echo(text)
        return
    try:
        json.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{json}: cannot be written: {error.strerror or error}") from None


def shard(  # noqa: PLR0913, PLR0917  typer: one parameter per option
    number: Annotated[int, typer.Argument(metavar="K", min=0, help="Which shard, from 0.")],
    shards: Annotated[int, typer.Option("--shards", min=0, help="Of how many; or give --plan.")] = 0,
    plan_file: PlanFile = None,
    base: Base = "",
    head: Head = "",
    config: options.Config = None,
    budget: options.Budget = None,
    seed: options.Seed = 0,
    history: options.HistoryPlace = None,
    nightly: Nightly = False,
    out: Out = None,
    verbose: options.Verbose = False,  # noqa: ARG001  read by __main__ when something goes wrong
    quiet: options.Quiet = False,
) -> None:
    """Measure one shard of a matrix, and leave a folder for `suspects merge`."""
    if plan_file is None and not shards:
        raise UsageError("Which matrix? Give --plan FILE, or --shards N with the options of `suspects plan`.")
    wanted = _Wanted(base, head, config, options.seconds_of(budget), seed, history)
    known = read_plan(plan_file) if plan_file is not None else wanted.plan(shards, ("",), nightly=nightly)
    one, folder = entry(known, number), out or Path(f"suspects-shard-{number}")
    with options.progress_for(quiet=quiet) as progress:
        report = wanted.measure(one, folder, progress)
    if not quiet:
        typer.echo(f"Left in {folder}: {report.spent.trials} trials.")
    raise typer.Exit(options.exit_code(report, frozenset()))


def merge(  # noqa: PLR0913, PLR0917  typer: one parameter per option
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Folders of shards, or of these.")],
    plan_file: PlanFile = None,
    base: Annotated[str, typer.Option("--base", help="As of `suspects pr`; default: the shards'.")] = "",
    head: Annotated[str, typer.Option("--head", help="As of `suspects pr`; default: the shards'.")] = "",
    config: options.Config = None,
    history: options.HistoryPlace = None,
    json: options.Json = None,
    markdown: options.Markdown = None,
    html: options.Html = None,
    fail_on: options.FailOn = "",
    verbose: options.Verbose = False,  # noqa: ARG001  read by __main__ when something goes wrong
    quiet: options.Quiet = False,
) -> None:
    """Unite what shards measured into one report."""
    if bool(base) != bool(head):
        raise UsageError("--base and --head go together")
    known = read_plan(plan_file) if plan_file is not None else None
    wanted = _Wanted(base, head, config, history=history)
    outputs = Outputs(json, markdown, html, fail_on=fail_on, quiet=quiet)
    finish(outputs, lambda progress: wanted.merge(folders, known, progress))


def entry(known: Plan, number: int) -> Shard:
    """A shard of a plan by its number.

    Raises:
        UsageError: there is none.
    """
    found = next((one for one in known.include if one.shard == number), None)
    if found is None:
        raise UsageError(f"There is no shard {number}: they are 0 to {len(known.include) - 1}.")
    return found


def read_plan(path: Path) -> Plan:
    """The matrix that `plan` wrote.

    Raises:
        UsageError: it cannot be read, or is none.
    """
    from pydantic import ValidationError

    from bot.model.shards import Plan

    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
        found = Plan.model_validate_json(text)
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        reason = getattr(error, "strerror", None) or "it is not what `suspects plan` writes"
        raise UsageError(f"--plan {path}: {reason}") from None
    if not found.include or not all(one.consistent for one in found.include):
        raise UsageError(f"--plan {path}: it is not what `suspects plan` writes")
    return found


@dataclass(frozen=True)
class _Wanted:
    """The options that say what is measured; revisions that are not given are the event's or the newest's."""

    base: str
    head: str
    config: Path | None
    budget: float | None = None
    seed: int = 0
    history: str | None = None

    def plan(self, shards: int, runners: tuple[str, ...], *, nightly: bool) -> Plan:
        from bot.compose.sharding import AskedPlan, plan, revisions_here

        if nightly:
            from bot.compose.sharding_nights import plan_night

            return plan_night(shards, self._night(), runners)
        base, head = (self.base, self.head) if self.base and self.head else revisions_here()
        return plan(AskedPlan(shards, self._question(self.base or base, self.head or head), runners))

    def measure(self, one: Shard, folder: Path, progress: Progress) -> Report:
        from bot.compose.sharding import measure_shard

        if one.mode == "nightly":
            from bot.compose.sharding_nights import measure_night_shard

            return measure_night_shard(one, self._night(), folder, progress)
        return measure_shard(one, self._question(one.base, one.head), folder, progress)

    def merge(self, folders: Sequence[Path], known: Plan | None, progress: Progress) -> Report:
        from bot.compose.sharding import AskedMerge, merged, mode_of

        mode = known.include[0].mode if known is not None else mode_of(folders)
        if mode == "nightly":
            from bot.compose.sharding_nights import merged_night

            return merged_night(folders, self._night(), progress)
        return merged(AskedMerge(folders, self._question(self.base, self.head), known), progress)

    def _question(self, base: str, head: str) -> Asked:
        from bot.compose.subjects import Asked

        asked = Asked(base=base, head=head, config=self.config)
        return replace(asked, budget=self.budget, seed=self.seed, history=self.history)

    def _night(self) -> AskedNight:
        from bot.commands.nightly import on_default_branch
        from bot.compose.nightly import AskedNight
        from bot.settings import Settings, environment

        settings = Settings.read(environment())
        return AskedNight(
            settings=settings,
            head=self.head or None,
            config=self.config,
            budget=self.budget,
            seed=self.seed,
            history=self.history,
            writes=on_default_branch(settings),
        )
