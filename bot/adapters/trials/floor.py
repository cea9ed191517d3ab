"""The event loop of the bench: several courses at once, one a slot, each asking its seats."""

from __future__ import annotations

import selectors
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from bot.adapters.trials.seats import CUT, GRACE_SECONDS, Answer, Request, Slot, dumps
from bot.model.trials import Pair

Course: TypeAlias = Generator[Mapping[int, Request], Mapping[int, Answer], Pair]
"""A pair on its way: yields what its seats (0, 1) are asked, receives their answers, returns the pair."""


@dataclass
class _Running:
    course: Course
    exclusive: bool
    asked: set[int] = field(default_factory=set)
    answers: dict[int, Answer] = field(default_factory=dict)


class Floor:
    """Drives courses; `ended` pairs are handed out once."""

    def __init__(self, slots: Sequence[Slot]) -> None:
        self._slots = slots
        self._running: dict[int, _Running] = {}
        self._ended: list[Pair] = []
        self._cut_at: float | None = None

    @property
    def busy(self) -> bool:
        """Whether any course is on its way."""
        return bool(self._running)

    @property
    def free(self) -> Slot | None:
        """A slot that nothing runs on, unless something that runs must be alone."""
        if any(running.exclusive for running in self._running.values()):
            return None
        return next((slot for slot in self._slots if slot.number not in self._running), None)

    def start(self, slot: Slot, course: Course, *, exclusive: bool) -> None:
        """Begins a course on a free slot."""
        self._running[slot.number] = _Running(course, exclusive)
        self._advance(slot, None)

    def ended(self) -> list[Pair]:
        """Pairs that ended since the last call."""
        pairs, self._ended = self._ended, []
        return pairs

    def cut(self) -> None:
        """Tells every seat at work to stop; what a course asks from now on is answered with a cut."""
        if self._cut_at is not None:
            return
        self._cut_at = time.monotonic()
        for slot in self._slots:
            for index in self._awaited(slot):
                slot.seats[index].say("cut")

    def wait(self, seconds: float) -> None:
        """Waits for answers, at most so long, and drives the courses that got theirs."""
        with selectors.DefaultSelector() as selector:
            for slot in self._slots:
                for index in self._awaited(slot):
                    selector.register(slot.seats[index], selectors.EVENT_READ, (slot, index))
            for key, _ in selector.select(seconds):
                slot, index = key.data
                self._hear(slot, index)
        if self._cut_at is not None and time.monotonic() > self._cut_at + GRACE_SECONDS:
            for slot in self._slots:
                self._give_up(slot)

    def clear(self) -> None:
        """Ends everything that still runs and forgets it."""
        self.cut()
        while self.busy:
            self.wait(GRACE_SECONDS)
        self._ended.clear()

    def _awaited(self, slot: Slot) -> set[int]:
        running = self._running.get(slot.number)
        return set() if running is None else running.asked - running.answers.keys()

    def _hear(self, slot: Slot, index: int) -> None:
        if index not in self._awaited(slot):
            return  # its slot was given up in this same turn
        answer = slot.seats[index].hear()
        if answer is None:
            return
        if answer.get("lost"):
            self._give_up(slot, answer)
            return
        running = self._running[slot.number]
        running.answers[index] = answer
        if not self._awaited(slot):
            self._advance(slot, running.answers)

    def _give_up(self, slot: Slot, answer: Answer = CUT) -> None:
        """Replaces workers that died or do not listen; their trials get this answer."""
        if self._awaited(slot):
            running = self._running[slot.number]
            slot.replace()
            self._advance(slot, {index: running.answers.get(index, answer) for index in running.asked})

    def _advance(self, slot: Slot, answers: Mapping[int, Answer] | None) -> None:
        running = self._running[slot.number]
        try:
            requests = next(running.course) if answers is None else running.course.send(answers)
            while self._cut_at is not None:
                requests = running.course.send(dict.fromkeys(requests, CUT))
        except StopIteration as end:
            del self._running[slot.number]
            self._ended.append(end.value)
            return
        except Exception:
            del self._running[slot.number]  # it will not go on: nobody waits for it
            raise
        running.asked, running.answers = set(requests), {}
        for index, request in requests.items():
            slot.seats[index].say(dumps(request))
