"""`suspects action`: what the container runs; the event chooses the mode, the runner hears the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot.adapters.runner import Runner
from bot.event import Mode, Plan, choose, read_event
from bot.model.errors import ForgeError, ForgeRefusedError, NotWantedError, SuspectsError, UsageError
from bot.model.forge import Stamp
from bot.model.report import Report
from bot.settings import Settings

# Publishing loads what computes every part of a report; the log's first line need not wait for that.
if TYPE_CHECKING:
    from bot.commands.publish import Connect
    from bot.flows.publish import Render


@dataclass(frozen=True)
class Measured:
    """What measuring came to: the report, where it was written, its texts, and the exit code it deserves."""

    report: Report
    path: Path
    comment: str
    summary: str
    headline: str
    exit_code: int = 0


@dataclass(frozen=True)
class Abilities:
    """What the composition root hands over.

    measure: a mode -> its flow; modes that are missing are refused as not yet supported.
    render: a report -> the comment's Markdown (the trusted side of `publish`).
    """

    runner: Runner
    connect: Connect
    render: Render
    measure: Mapping[Mode, Callable[[Plan], Measured]]


def action(settings: Settings, abilities: Abilities) -> int:
    """Runs what the event asks for and returns the exit code; an error of ours is one annotation."""
    try:
        plan = _plan(settings)
        match plan.mode:
            case "nothing":
                abilities.runner.annotate("notice", f"Nothing to do: {plan.reason}.")
                return 0
            case "publish":
                return _publish(settings, abilities, plan)
            case "command":
                from bot.commands.commented import commented

                return commented(settings, abilities.runner, plan)
            case _:
                return _measure(settings, abilities, plan)
    except NotWantedError as error:
        abilities.runner.annotate("notice", f"Nothing to do: {error}.")
        return error.exit_code
    except SuspectsError as error:
        abilities.runner.annotate("error", error.told, title="Suspects")
        return error.exit_code


def _plan(settings: Settings) -> Plan:
    if settings.event_name is None or settings.event_path is None:
        raise UsageError("suspects action runs inside GitHub Actions; use suspects pr here")
    facts = read_event(settings.event_name, settings.event(), ref=settings.ref)
    return choose(facts, mode=settings.inputs.mode, range=settings.inputs.range)


def _publish(settings: Settings, abilities: Abilities, plan: Plan) -> int:
    from bot.commands.publish import publish_command
    from bot.flows.publish import Requested

    run_id, requested = plan.run_id or settings.run_id, None
    if run_id is None:
        raise UsageError("GITHUB_RUN_ID is needed to publish what this run has measured")
    if plan.number is not None and plan.head is not None:
        requested = Requested(plan.number, plan.head)
    outcome = publish_command(
        settings, run_id=run_id, connect=abilities.connect, render=abilities.render, requested=requested
    )
    runner = abilities.runner
    runner.annotate("notice", f"{outcome.ending}: {outcome.reason}")
    if outcome.checked:
        runner.annotate("notice", outcome.checked)
    if outcome.report:
        runner.output("verdict", outcome.report.verdict)
    runner.output("comment-url", outcome.url or "")
    return 0


def _measure(settings: Settings, abilities: Abilities, plan: Plan) -> int:
    flow = abilities.measure.get(plan.mode)
    if flow is None:
        raise UsageError(f"mode {plan.mode} is not yet supported")
    runner = abilities.runner
    runner.say(f"suspects: {plan.reason}")
    measured = flow(plan)
    runner.output("verdict", measured.report.verdict)
    runner.output("report", _seen_by_later_steps(measured.path, settings.workspace))
    runner.summary(measured.summary)
    runner.annotate("warning" if measured.exit_code else "notice", measured.headline, title="Suspects")
    if plan.comment and plan.number is not None and settings.inputs.comment != "never":
        runner.output("comment-url", _comment(settings, abilities, plan=plan, measured=measured) or "")
    return measured.exit_code


def _comment(settings: Settings, abilities: Abilities, *, plan: Plan, measured: Measured) -> str | None:
    """Comments and checks; what cannot be said is a warning, because the measurement stands without it."""
    from bot.commands.publish import token
    from bot.flows.publish import checked, comment
    from bot.flows.publishing.check_run import check_run

    if settings.repository is None or settings.run_id is None or plan.number is None or plan.head is None:
        raise UsageError("GITHUB_REPOSITORY and GITHUB_RUN_ID are needed to comment")
    stamp = Stamp(settings.run_id, settings.run_attempt, plan.head)
    runner, report, url = abilities.runner, measured.report, None
    check = check_run(report, markdown=measured.comment, fail_on=settings.inputs.fail_on)
    with abilities.connect(settings.repository, token(settings)) as (forge, _):
        try:
            policy, markdown = settings.inputs.comment, measured.comment
            url = comment(
                forge, plan.number, report=report, markdown=markdown, stamp=stamp, policy=policy
            ).url
        except ForgeRefusedError as error:
            runner.annotate("warning", f"Not commented: {error}", title="Suspects")
        try:
            runner.annotate("notice", checked(forge, check, stamp))
        except ForgeError as error:
            runner.annotate("warning", f"No check run: {error}", title="Suspects")
    return url


def _seen_by_later_steps(path: Path, workspace: Path | None) -> str:
    """The path relative to the workspace: inside a container its absolute path is another than outside."""
    resolved = path.resolve()
    if workspace is not None and resolved.is_relative_to(workspace.resolve()):
        return str(resolved.relative_to(workspace.resolve()))
    return str(resolved)
