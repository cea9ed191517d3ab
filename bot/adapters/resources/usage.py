"""Free counts: what the kernel's own accounting says of one trial."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from bot.adapters.processes.readable import readable
from bot.adapters.trials.request import LIMITS, PROCESSES
from bot.adapters.trials.seats import CUT, Answer, Request, Seat, Slot, dumps
from bot.model.errors import NothingMeasuredError
from bot.model.profiles import Target
from bot.model.resources import Count, Counted

COUNTS: Mapping[Count, Sequence[str]] = {
    "page_faults": ("minor_faults", "major_faults"),
    "waits": ("voluntary_switches",),
    "blocks": ("blocks",),
}
"""A trial's metrics that make up each count."""
VOLUMES = ("max_rss", "read_bytes", "written_bytes")
_LOOK_SECONDS = 0.1


class Usage:
    """Counts of one trial, run as the bench runs it, alone and once."""

    def missing(self, target: Target) -> Sequence[str]:
        """Nothing: a kernel always keeps accounts."""
        del target
        return ()

    def count(self, target: Target) -> Counted:
        """Counts of the program and all it waited for; what it left behind is not in them.

        Raises:
            OSError: its folders could not be made ready.
        """
        try:
            with _seat(target) as seat:
                answer = _ask(seat, target)
        except NothingMeasuredError as error:
            return Counted("usage", "not-started", notes=(str(error),))
        metrics: Mapping[str, float] = answer["metrics"]
        counts = {
            count: float(sum(metrics[name] for name in names))
            for count, names in COUNTS.items()
            if all(name in metrics for name in names)
        }
        notes = (f"The program, counted by the kernel: {answer['detail']}.",) if answer["detail"] else ()
        volumes = {name: metrics[name] for name in VOLUMES if name in metrics}
        return Counted(
            "usage", answer["outcome"], counts, volumes, tool=f"Linux {os.uname().release}", notes=notes
        )


@contextmanager
def _seat(target: Target) -> Iterator[Seat]:
    """A worker of the bench, for one trial."""
    slot = Slot(0, core=max(os.sched_getaffinity(0)), network="none", scratch=target.scratch)
    try:
        for seat in slot.seats:
            seat.hello()
        yield slot.seats[0]
    finally:
        for seat in slot.seats:
            seat.leave()
        for seat in slot.seats:
            seat.bury()


def _ask(seat: Seat, target: Target) -> Answer:
    seat.say(dumps(_request(target)))
    told = False
    with selectors.DefaultSelector() as selector:
        selector.register(seat, selectors.EVENT_READ)
        while (answer := seat.hear()) is None:
            selector.select(_LOOK_SECONDS)
            if not told and target.over:
                seat.say("cut")
                told = True
    return CUT if answer.get("lost") and told else answer


def _request(target: Target) -> Request:
    """The trial as a worker understands it (the keys are read in duet.py and child.py)."""
    account = target.account
    limits = LIMITS if account is None else {**LIMITS, "processes": PROCESSES}
    cores = sorted(os.sched_getaffinity(0))
    scratch = str(target.fresh or target.scratch / "trial")
    named = () if target.read is None else readable(target.words, target.env, target.read)
    files = {} if target.read is None else {"write": [scratch, *map(str, target.write)], "read": named}
    return {
        "words": list(target.words),
        "env": dict(target.env),
        "cwd": str(target.cwd),
        "stdin": None if target.stdin is None else str(target.stdin),
        "scratch": scratch,
        "confine": {
            "uid": None if account is None else account.uid,
            "gid": None if account is None else account.gid,
            "limits": limits,
            "cpus": cores[-1:] if target.one_core else cores,
            **files,
        },
        "patterns": {},
        "capture": False,
        "ok_exit": target.ok_exit,
        "timeout": target.timeout,
        "rounds": 1,
        "partner": False,
        "server": None,
        "first": True,
        "trial": 0,
        "deadline": time.monotonic() + min(target.seconds, 1e9),
    }
