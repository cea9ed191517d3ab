"""The store in front of all places: reads them in order as one history, and writes to the first that can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from bot.adapters.stores import segments
from bot.adapters.stores.place import Place
from bot.adapters.stores.rows import DURATIONS, FINGERPRINTS, PROFILES, TRIALS, Layout, Rows
from bot.model.duration_history import DurationTable
from bot.model.errors import DamagedSegmentError, HistoryError
from bot.model.history import EVERYTHING, Columnar, Measurements, Segment, Selection
from bot.model.machines import FingerprintTable
from bot.model.profile_history import ProfileTable

CHUNK = 64
"""Segments that are brought from a place at once."""


class LayeredStore:
    """The port `Store` over any number of places; a segment that lies in several is read once.

    A damaged segment is taken from the next place that has it. What is damaged everywhere is set aside and
    told, what a later version wrote is left alone and told, and the rest stays usable.
    """

    def __init__(self, places: Sequence[Place], *, notes: Sequence[str] = ()) -> None:
        """`notes`: what is known already, such as places that could not be opened."""
        self._places = places
        self._holders: dict[str, list[Place]] | None = None
        self._reached: list[str] = []
        self._told: dict[str, None] = dict.fromkeys(notes)  # an ordered set

    @property
    def source(self) -> str | None:
        """Kind of the first place that has segments; None: no place has any."""
        used = {id(held[0]) for held in self._listed().values()}
        return next((place.kind for place in self._places if id(place) in used), None)

    def append(self, run: Measurements) -> str:
        """Adds one run to the first place that can be written.

        Raises:
            HistoryError: there is no such place, or it failed.
            ValueError: no run, or several.
        """
        return self._append(run)

    def append_profiles(self, profiles: ProfileTable) -> str:
        """Adds the profiles of one run, as `append`."""
        return self._append(profiles)

    def append_durations(self, durations: DurationTable) -> str:
        """Adds the durations of one run, as `append`."""
        return self._append(durations)

    def append_fingerprints(self, fingerprints: FingerprintTable) -> str:
        """Adds the fingerprint of one run's machine, as `append`."""
        return self._append(fingerprints)

    def _append(self, rows: Columnar) -> str:
        name, content = segments.encode(rows)
        self.add(name, content)
        return name

    def add(self, name: str, content: bytes) -> None:
        """Adds a ready segment, as `append`."""
        place = next((place for place in self._places if place.writable), None)
        if place is None:
            raise HistoryError("no place of this history can be written")
        place.add(name, content)
        if self._holders is not None and place not in (held := self._holders.setdefault(name, [])):
            held.append(place)

    def segments(self) -> Sequence[Segment]:
        """All segments with what their heads say, oldest first."""
        names = sorted(self._listed())
        for start in range(0, len(names), CHUNK):
            self._bring(names[start : start + CHUNK])
        return sorted((self._described(name, thoroughly=False) for name in names), key=_age)

    def verify(self) -> Sequence[Segment]:
        """All segments, each read to its last row in each place, oldest first; damaged ones are set aside.

        What the places themselves have is read: a local copy may be good where they are damaged.
        """
        found: dict[tuple[str, int], Segment] = {}
        for number, place in enumerate(self._places):
            names = iter([name for name, held in self._listed().items() if place in held])
            while chunk := list(islice(names, CHUNK)):
                try:
                    contents: Mapping[str, bytes] = {**dict.fromkeys(chunk, b""), **place.stored(chunk)}
                except HistoryError as error:  # its copies are what can be read
                    contents = {}
                    self._told[f"{error}."] = None
                found |= {(name, number): self._verified(name, place, contents) for name in chunk}
        return sorted((found[key] for key in sorted(found)), key=_age)

    def _verified(self, name: str, place: Place, contents: Mapping[str, bytes]) -> Segment:
        try:
            segments.check(name, contents.get(name, b""))
        except DamagedSegmentError as error:
            found = self._described(name, place, thoroughly=True)
            if found.problem or name not in contents:
                return found
            problem = f"{error} ({place.label}; read from a good local copy)"
            self._told[f"{problem}."] = None
            return replace(found, problem=problem)
        return segments.describe(name, contents[name], thoroughly=True)

    def scan(self, wanted: Selection = EVERYTHING) -> Iterator[Measurements]:
        """The wanted measurements piece by piece, newest run first."""
        return self._scan(TRIALS, wanted)

    def profiles(self, wanted: Selection = EVERYTHING) -> Iterator[ProfileTable]:
        """The wanted profiles piece by piece, newest run first."""
        return self._scan(PROFILES, wanted)

    def durations(self, wanted: Selection = EVERYTHING) -> Iterator[DurationTable]:
        """The wanted durations piece by piece, newest run first."""
        return self._scan(DURATIONS, wanted)

    def fingerprints(self, wanted: Selection = EVERYTHING) -> Iterator[FingerprintTable]:
        """The wanted fingerprints piece by piece, newest run first."""
        return self._scan(FINGERPRINTS, wanted)

    def _scan(self, layout: Layout[Rows], wanted: Selection) -> Iterator[Rows]:
        kind = layout.kind
        names = iter(sorted((n for n in self._listed() if segments.kind(n) == kind), reverse=True))
        runs = 0
        while chunk := list(islice(names, CHUNK)):
            self._bring(chunk)
            for name in chunk:
                found = False
                for part in self._decoded(layout, name, wanted):
                    found = True
                    yield part
                runs += found
                if runs == wanted.last:
                    return

    def read(self, wanted: Selection = EVERYTHING) -> Measurements:
        """The wanted measurements, oldest run first."""
        parts = sorted(self.scan(wanted), key=lambda part: part.runs[0].started)
        return Measurements.concatenated(parts) if parts else Measurements.empty()

    def content(self, name: str) -> bytes:
        """The checked bytes of a segment.

        Raises:
            DamagedSegmentError: it is damaged in every place.
            HistoryError: no place has it.
        """
        problem: HistoryError = HistoryError(f"{name} is in no place of this history")
        for place in self._listed().get(name, ()):
            try:
                return self._content_of(name, place)
            except HistoryError as error:
                problem = error
        raise problem

    def of_segment(self, name: str) -> Iterator[Measurements]:
        """All rows of one segment of trials, piece by piece.

        Raises:
            HistoryError: it cannot be had, or is damaged.
        """
        return segments.decode(name, self.content(name))

    def profiles_of(self, name: str) -> Iterator[ProfileTable]:
        """All rows of one segment of profiles, as `of_segment`."""
        return segments.rows(PROFILES, name, self.content(name))

    def durations_of(self, name: str) -> Iterator[DurationTable]:
        """All rows of one segment of durations, as `of_segment`."""
        return segments.rows(DURATIONS, name, self.content(name))

    def fingerprints_of(self, name: str) -> Iterator[FingerprintTable]:
        """All rows of one segment of fingerprints, as `of_segment`."""
        return segments.rows(FINGERPRINTS, name, self.content(name))

    def notes(self) -> Sequence[str]:
        """What could not be reached or read, in the order it was found, and an empty history."""
        listed = self._listed()
        said = [*self._told, *(note for place in self._places for note in place.notes())]
        if not listed and self._reached:
            said.append(f"History is empty: nothing is stored in {', '.join(self._reached)}.")
        elif not listed:
            said.append("No history could be read.")
        return said

    def _listed(self) -> dict[str, list[Place]]:
        """Name -> the places that have it, in order; a place out of reach is told and left out."""
        if self._holders is None:
            self._holders = {}
            for place in self._places:
                try:
                    for name in place.names():
                        self._holders.setdefault(name, []).append(place)
                    self._reached.append(place.label)
                except HistoryError as error:
                    self._told[f"{error}."] = None
        return self._holders

    def _bring(self, names: Sequence[str]) -> None:
        """Lets each place bring many segments at once; what fails is found when one is read."""
        first = {name: held[0] for name in names if (held := self._listed()[name])}
        for place in self._places:
            try:
                place.files([name for name, holder in first.items() if holder is place])
            except HistoryError as error:
                self._told[f"{error}."] = None

    def _decoded(self, layout: Layout[Rows], name: str, wanted: Selection) -> Iterator[Rows]:
        try:
            yield from segments.rows(layout, name, self.content(name), wanted)
        except HistoryError as error:
            self._told[f"{error}."] = None

    def _described(self, name: str, place: Place | None = None, *, thoroughly: bool) -> Segment:
        try:
            content = self._content_of(name, place) if place else self.content(name)
        except HistoryError as error:
            self._told[f"{error}."] = None
            return Segment(name, segments.kind(name) or "", 0, problem=str(error))
        return segments.describe(name, content, thoroughly=thoroughly)

    def _content_of(self, name: str, place: Place) -> bytes:
        """The checked bytes as one place has them; a spoilt local copy is brought a second time."""
        problem = DamagedSegmentError(f"{name} is damaged or missing in the {place.label}")
        for _ in range(2):
            path = place.files([name]).get(name)
            if path is None:
                break
            try:
                content = path.read_bytes()
                segments.check(name, content)
            except OSError as error:
                problem = DamagedSegmentError(f"{path} cannot be read: {error.strerror or error}")
            except DamagedSegmentError as error:
                moved = place.set_aside(name)
                done = "moved to quarantine" if moved else "left out"
                problem = DamagedSegmentError(f"{error} ({place.label}; {done})")
            else:
                return content
        raise problem


def _age(segment: Segment) -> tuple[str, float]:
    """What orders segments: names tell seconds, and of two runs in one second only their heads know more."""
    second = segment.name.partition("-")[0]
    return second, segment.run.started.timestamp() if segment.run is not None else 0.0
