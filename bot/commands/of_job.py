"""What a workflow's job asks for: from its settings and the plan of its event."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bot.compose.bisecting import AskedRange
    from bot.compose.nightly import AskedNight
    from bot.compose.subjects import Asked
    from bot.event import Plan
    from bot.settings import Settings

BUILDS = "suspects-builds"
"""Folder of built trees below the runner's temporary one."""


def asked_question(settings: Settings, plan: Plan) -> Asked:
    """The analysis of a pull request; both revisions are empty where the event names none."""
    from bot.compose.subjects import Asked

    return Asked(base=plan.base or "", head=plan.head or "", pull=plan.pull, **_common(settings))


def asked_range(settings: Settings, plan: Plan) -> AskedRange:
    """The bisection of the range that was asked for.

    Raises:
        UsageError: it is no range.
    """
    from bot.commands.bisect import ends
    from bot.commands.nightly import on_default_branch
    from bot.compose.bisecting import AskedRange

    good, bad = ends(plan.range or "")
    ours = settings if on_default_branch(settings) else None
    return AskedRange(good=good, bad=bad, settings=ours, **_common(settings))


def asked_night(settings: Settings) -> AskedNight:
    """The night of the default branch."""
    from bot.compose.nightly import AskedNight

    return AskedNight(settings=settings, **_common(settings))


def _common(settings: Settings) -> dict[str, Any]:
    """A callable is code of the working directory, run as ourselves: never for a job."""
    return {
        "config": settings.inputs.config,
        "budget": settings.inputs.budget,
        "repository": settings.workspace or Path(),
        "cache": Path(tempfile.gettempdir(), BUILDS),
        "simulated": False,
    }
