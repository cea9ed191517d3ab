"""Programs whose equal runs differ: by how much, and what a reader can do about it."""

from __future__ import annotations

from bot.model.noise import Noise
from bot.model.report import Report
from bot.report import words
from bot.report.formats import Prose, count, prose, strong

USUAL = 5
"""Percent by which pairs of most programs spread at most."""
REMEDY = (
    "Make them do the same work: fixed seeds (random numbers, hash order), and nothing that depends on the "
    "clock, a cache or the network. Then smaller changes can be seen."
)
MEANWHILE = " What passes on the clock also holds what else the machine does: on an idle one it differs less."
"""Said of wall time beside the remedy."""


def caveat(report: Report) -> tuple[Prose, ...]:
    """That runs of the same code differ by more than machines let them, and the remedy; or nothing."""
    noise = report.environment.noise_of(report.primary_metric)
    if noise is None or not noise.unsteady:
        return ()
    usual = f" {words.metric(noise.metric).noun} (standard deviation; up to {USUAL} % is usual). "
    amount = strong(f"{noise.sd_percent:.0f} %")
    return (prose("Runs of the same code differ by ", amount, usual, _remedy(noise)),)


def differ(noise: Noise) -> str:
    """By how much the runs of one configuration differ, in a sentence; empty: it is not known."""
    if noise.sd_percent is None:
        return ""
    spread = f"{noise.sd_percent:.2g} % {words.metric(noise.metric).noun}"
    told = f"Its runs differ by {spread} (standard deviation of {count(noise.pairs, 'pair')})."
    return f"{told} That is much. {_remedy(noise)}" if noise.unsteady else told


def _remedy(noise: Noise) -> str:
    return REMEDY + MEANWHILE * (noise.metric == "wall")
