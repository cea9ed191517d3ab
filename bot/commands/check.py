"""`suspects check`: is the file right, what would be measured, and does one trial run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from bot.commands import options
from bot.model.space import Configuration, Space

if TYPE_CHECKING:
    from bot.flows.check import Checked, TriedLevels, TriedSample
    from bot.flows.run.job import Job
    from bot.model.invocation import Invocation

COUNTED = 1_000_000
"""Valid configurations are counted up to here."""
SHOWN, MOST_OF_A_REASON = 12, 160
"""Configurations of the sample that are shown, and levels that fail; characters of why."""
WRITABLE = (
    "If the program was to write a file there: run may name one in {scratch}; trials can write nowhere else."
)
ALONE = (
    "The input is a copy in a folder of its own. When it needs what lies beside it, name the folder as the"
    " workload's path, and the file in run: {workload}/FILE."
)


def check(
    config: options.Config = None,
    revision: Annotated[str, typer.Option("--revision", help="Commit to build.")] = "HEAD",
    budget: options.Budget = None,
    seed: options.Seed = 0,
    verbose: options.Verbose = False,  # noqa: ARG001  read by __main__ when something goes wrong
    quiet: options.Quiet = False,
) -> None:
    """Validate the file, show the space and the sample, build, and try each option once."""
    from bot.compose.measuring import check_job
    from bot.compose.subjects import Asked
    from bot.flows.check import check_flow
    from bot.sampling.constraints import ConstraintSolver

    path = config or Path(".github/suspects.yml")
    asked = Asked(
        base=revision,
        head=revision,
        config=path,
        budget=options.seconds_of(budget),
        seed=seed,
        exact_base=True,
    )
    with options.progress_for(quiet=quiet) as progress, check_job(asked, progress) as job:
        solver = ConstraintSolver(job.subject.space)
        size = solver.size(COUNTED)
        found = check_flow(job)
    console = Console(highlight=False, soft_wrap=True)
    counted = f"{size:,}" if size is not None else f"more than {COUNTED:,}"
    console.print(f"{path}: valid", markup=False)
    console.print(f"{len(job.subject.space.options)} options, {counted} valid configurations")
    for level in solver.dead_levels():
        console.print(f"No valid configuration has {level}.", markup=False)
    for note in found.notes:
        console.print(f"Note: {note}", markup=False)
    _show_sample(console, job.subject.space, found)
    raise typer.Exit(_show_trial(console, job, found))


def _show_sample(console: Console, space: Space, found: Checked) -> None:
    """Each configuration by its difference from the first: a table of a thousand options has no room."""
    console.print(
        f"The first {min(SHOWN, len(found.sample))} of {len(found.sample)} configurations to measure:"
    )
    for number, configuration in enumerate(found.sample[:SHOWN], 1):
        told = ", ".join(_differences(space, found.sample[0], configuration))
        console.print(f"{number:4}  {told or 'the default configuration'}", markup=False)


def _differences(space: Space, reference: Configuration, configuration: Configuration) -> list[str]:
    """Levels that another configuration has not."""
    return [
        next(str(level) for level in option.levels if level.holds(value))
        for option, value, usual in zip(space.options, configuration, reference, strict=True)
        if value != usual
    ]


def _show_trial(console: Console, job: Job, found: Checked) -> int:
    """What the build and the one pair came to; the exit code."""
    from bot.report.formats import clean
    from bot.report.formats import seconds as seconds_text
    from bot.report.hints import longer
    from bot.report.reproduce import as_typed
    from bot.report.unsteady import differ

    for build in found.builds:
        if not build.ok:
            console.print(f"{build.step} failed: {build.reason}\n{build.log}", markup=False)
            return 3
    if found.command is not None:
        console.print("Ran:", clean(as_typed(job.subject, found.command)), markup=False)
    if found.pair is None or not found.pair.ok:
        reason = "nothing was run" if found.pair is None else found.pair.reason
        console.print(f"The trial failed: {clean(reason)}", markup=False)
        for advice in _advice(reason, found.command):
            console.print(advice, markup=False)
        return 3
    cost = seconds_text(found.pair.seconds)
    console.print(
        f"One pair of trials took {cost}; {seconds_text(job.budget)} hold {found.count} configurations."
    )
    if found.wanted is not None:
        console.print(longer(found.wanted))
    if found.noise is not None and (told := differ(found.noise)):
        console.print(told)
    if found.alone is not None:
        _show_levels(console, found.alone)
    if found.mixed is not None:
        without = " without these" * bool(found.alone and found.alone.failed)
        _show_mixed(console, job.subject.space, found.sample[0], found.mixed, without)
    return 0


def _advice(reason: str, command: Invocation | None) -> Iterator[str]:
    """What may help where the trial failed, a sentence each."""
    from bot.adapters.processes.process import PATH
    from bot.report import hints

    if found := hints.remedy([reason]):
        folder, key = found
        yield f"The sandbox keeps {folder} closed: use TMPDIR, or list {folder} under {key}."
    if refused := hints.closed_elsewhere(reason):
        yield WRITABLE
    if reason.endswith(": no such command"):
        yield f"Trials look for commands in {PATH}: name another by its path."
    if (exit_code := hints.silent_exit(reason)) is not None:
        yield f"If all is well then, list {exit_code} under ok_exit."
    elif hints.found_something(reason) and not refused:
        yield "If all is well then, as of a linter that found something, list 1 under ok_exit."
    if hints.wants_an_option(reason):
        yield "If it works only with one of some options, say so under constraints: a or b."
    if (installing := hints.installing([reason])) is not None:
        yield f"So {installing}"
    elif command is not None and command.workload and hints.misses_neighbours([reason]):
        yield ALONE


def _show_levels(console: Console, found: TriedLevels) -> None:
    """How options fare by themselves; one that fails is no mistake where it needs another one."""
    from bot.report.formats import clean, count, shorten

    tried = count(found.tried, "level") + (f" of {found.levels}" if found.tried < found.levels else "")
    if not found.failed:
        console.print(f"Tried {tried} by themselves: all work.")
        return
    console.print(f"Tried {tried} by themselves; of these fail {len(found.failed)}:")
    for level, reason in found.failed[:SHOWN]:
        console.print(f"  {level}: {shorten(clean(reason), MOST_OF_A_REASON)}", markup=False)
    if len(found.failed) > SHOWN:
        console.print(f"  and {len(found.failed) - SHOWN} more")
    console.print("Mend their flags, or say under constraints what they need: a implies b.")


def _show_mixed(
    console: Console, space: Space, default: Configuration, found: TriedSample, without: str
) -> None:
    """How options fare together, and which of them must not meet where that shows."""
    from bot.model.at_fault import at_fault, fitting_terms
    from bot.model.space import forbidding
    from bot.report.formats import clean, count, shorten

    tried = f"{count(found.tried, 'configuration')} of the sample{without}"
    if not found.failed:
        console.print(f"Tried {tried}: all work.")
        return
    console.print(f"Tried {tried}; of these fail {len(found.failed)}:", markup=False)
    by_reason: defaultdict[str, list[Configuration]] = defaultdict(list)
    for configuration, reason in found.failed:
        by_reason[shorten(clean(reason), MOST_OF_A_REASON)].append(configuration)
    worked = [space.as_dict(configuration) for configuration in found.worked]
    for reason, alike in sorted(by_reason.items(), key=lambda group: -len(group[1]))[:SHOWN]:
        plainest = min((_differences(space, default, c) for c in alike), key=len)
        console.print(f"  {len(alike)}, for example {', '.join(plainest)}: {reason}", markup=False)
        failed = [space.as_dict(configuration) for configuration in alike]
        fit = () if at_fault(failed, worked) else fitting_terms(failed, worked)
        if len(fit) == 1:
            levels, rule = " and ".join(map(str, fit[0])), forbidding(fit[0])
            said = f"  All that have {levels} do, and no others. If that is meant, leave it out: "
            console.print(f"{said}constraints: [{rule}]", markup=False)
