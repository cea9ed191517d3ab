"""Takes the fingerprint of this machine when history has none that is valid, or checks the one it has."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from bot.analysis.machines.hardware import steady
from bot.flows.machines.times import Fingerprinted, fingerprints
from bot.flows.ports import Store, Stresser
from bot.model.errors import HistoryError
from bot.model.history import RunRecord
from bot.model.machines import VALID, FingerprintTable, Machine, Stressed

CANARY = ("cpu", "cache", "null")
"""A second each: computing, memory near the core, and the kernel."""
UNLIKE = 0.10
"""Relative difference of the middle canary from the fingerprint, from which on the machine is another one."""
SECONDS = 85.0
"""Wall time after which a fingerprint that is taken on the way begins no stressor any more."""


def valid_fingerprint(store: Store, machine: Machine, now: datetime) -> Fingerprinted | None:
    """The newest one of the machine that is not too old.

    Raises:
        HistoryError: the history cannot be read.
    """
    found = (f for f in fingerprints(store) if f.machine == machine and now - f.taken <= VALID)
    return max(found, key=lambda f: f.taken, default=None)


def known_or_taken(store: Store, stresser: Stresser, run: RunRecord, *, taking: bool = True) -> Sequence[str]:
    """Sees to it that history has a fingerprint of the machine of `run`; what a reader must know of it.

    A valid one is checked by a canary of a few seconds. taking: whether there is time for a new one; else
    a machine that cannot be stressed is not worth a word.
    """
    if missing := stresser.missing():
        return missing if taking else ()
    try:
        known = valid_fingerprint(store, Machine.of(run.environment, stresser.tool), run.started)
    except HistoryError as error:
        return (f"No fingerprint of this machine was taken: {error}.",)
    if known is not None:
        return canary(known, stresser.stress(CANARY, repetitions=1, seconds=1))
    if not taking:
        return ()
    return remembered(store, stresser.stress(most=SECONDS), run)


def remembered(store: Store, found: Stressed, run: RunRecord) -> Sequence[str]:
    """Adds what stressing gave to the history, unless it gave nothing; what a reader must know of it."""
    if not found.told:
        return (*found.notes, "This machine has no fingerprint.")
    try:
        store.append_fingerprints(FingerprintTable.of(found, run))
    except HistoryError as error:
        return (*found.notes, f"The fingerprint of this machine is not remembered: {error}.")
    return found.notes


def canary(known: Fingerprinted, now: Stressed) -> Sequence[str]:
    """Whether the machine is as fast as its fingerprint says; a sentence when it is not.

    The middle of the canaries decides: one alone may have met a neighbour.
    """
    before = steady(known.rates)[0]
    ratios = [
        rate / before[name]
        for name, rates in now.rates.items()
        for rate in rates
        if name in before and np.isfinite(rate)
    ]
    middle = float(np.median(ratios)) if ratios else 1.0
    if abs(middle - 1) <= UNLIKE:
        return ()
    way = "slower" if middle < 1 else "faster"
    return (
        f"This runner is {100 * abs(middle - 1):.0f} % {way} than the same kind of machine was on"
        f" {known.taken:%Y-%m-%d}: it is noisy, or unlike it in what its name does not tell.",
    )
