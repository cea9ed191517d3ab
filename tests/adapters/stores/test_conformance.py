"""What holds for a history wherever it lies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.adapters.stores import segments
from bot.adapters.stores.cache import Cache
from bot.adapters.stores.directory import DirectoryPlace
from bot.adapters.stores.layered import LayeredStore
from bot.adapters.stores.object import ObjectPlace
from bot.model.errors import HistoryError
from bot.model.history import Measurements, Selection
from bot.model.machines import FingerprintTable
from tests.adapters.stores.conftest import Ground
from tests.adapters.stores.samples import (
    FIRST,
    durations,
    fingerprints,
    profile_meaning,
    profiles,
    record,
    run,
    same,
    sides,
)


def test_what_is_appended_is_read_back_as_it_was(ground: Ground) -> None:
    ground.store().append(run())
    assert same(ground.store().read(), run())


def test_an_empty_history_says_so(ground: Ground) -> None:
    store = ground.store()
    assert len(store.read()) == 0 and store.source is None and list(store.segments()) == []
    (note,) = store.notes()
    assert "empty" in note


def test_a_filled_history_names_its_source_and_has_nothing_to_tell(ground: Ground) -> None:
    ground.store().append(run())
    store = ground.store()
    assert store.source == ground.kind
    assert len(store.read()) and list(store.notes()) == []


def test_appending_the_same_run_twice_changes_nothing(ground: Ground) -> None:
    first = ground.store().append(run())
    assert ground.store().append(run()) == first
    assert [s.name for s in ground.store().segments()] == [first]


def test_runs_come_back_oldest_first_whatever_the_order_of_writing(ground: Ground) -> None:
    store = ground.store()
    for number in (2, 0, 1):
        store.append(run(number))
    assert [r.id for r in ground.store().read().runs] == ["run-0", "run-1", "run-2"]
    assert [r.id for r in store.read().runs] == ["run-0", "run-1", "run-2"]


def test_a_scan_gives_the_newest_run_first(ground: Ground) -> None:
    for number in range(3):
        ground.store().append(run(number))
    assert [part.runs[0].id for part in ground.store().scan()] == ["run-2", "run-1", "run-0"]


def test_the_listing_shows_each_run(ground: Ground) -> None:
    ground.store().append(run(1))
    (segment,) = ground.store().segments()
    assert segment.run == record(1) and segment.rows == len(run(1)) and not segment.problem
    assert segment.kind == "trials" and segment.bytes > 0


class Asked(DirectoryPlace):
    """Remembers how many segments it was asked for at once."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.asked: list[int] = []

    def files(self, names: Sequence[str]) -> Mapping[str, Path]:
        self.asked.append(len(names))
        return super().files(names)


def test_a_listing_brings_many_segments_at_once(tmp_path: Path) -> None:
    place = Asked(tmp_path)
    for number in range(5):
        LayeredStore([place]).append(run(number))
    assert len(LayeredStore([place]).segments()) == 5
    assert place.asked[0] == 5


def test_selections(ground: Ground) -> None:
    for number in range(3):
        ground.store().append(run(number, program="other" if number == 1 else "xz"))
    store = ground.store()

    def ids(wanted: Selection) -> list[str]:
        return [r.id for r in store.read(wanted).runs]

    assert ids(Selection(last=2)) == ["run-1", "run-2"]
    assert ids(Selection(last=2, program="xz")) == ["run-0", "run-2"]
    assert ids(Selection(program="nothing")) == []
    assert ids(Selection(since=record(1).started)) == ["run-1", "run-2"]
    assert ids(Selection(modes=frozenset({"bisect"}))) == []
    only = store.read(Selection(revisions=frozenset({sides(2)["head"].revision})))
    assert [r.revision for r in only.revisions[only.revision[0] : only.revision[0] + 1]] == [f"{3:040x}"]
    assert set(only.revision) == {only.revision[0]} and len(only.runs) == 1


def test_a_selection_of_metrics_keeps_failed_trials(ground: Ground) -> None:
    ground.store().append(run())
    found = ground.store().read(Selection(metrics=frozenset({"max_rss"})))
    names = [found.metrics[code] if code >= 0 else None for code in found.metric]
    assert names == ["max_rss"] * 5 + [None]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda content: content[:-30], id="truncated"),
        pytest.param(lambda content: b"", id="emptied"),
        pytest.param(lambda content: content[:99] + bytes([content[99] ^ 1]) + content[100:], id="one bit"),
        pytest.param(lambda content: b"<html>" * 100, id="another file"),
    ],
)
def test_a_damaged_segment_is_told_and_the_rest_stays_usable(
    ground: Ground, damage: Callable[[bytes], bytes]
) -> None:
    writer = ground.store()
    names = [writer.append(run(number)) for number in range(3)]
    ground.spoil(names[1], damage(segments.encode(run(1)).content))
    store = ground.store()
    assert [r.id for r in store.read().runs] == ["run-0", "run-2"]
    (note,) = store.notes()
    assert names[1] in note and "damaged" in note and "\n" not in note


def test_verify_finds_a_damaged_segment_and_quarantines_it_where_it_can(ground: Ground) -> None:
    writer = ground.store()
    names = [writer.append(run(number)) for number in range(3)]
    ground.spoil(names[1], b"PAR1")
    found = ground.store().verify()
    assert [bool(segment.problem) for segment in found] == [False, True, False]
    left = [segment.name for segment in ground.store().verify()]
    if ground.kind == "directory":
        assert left == [names[0], names[2]]
        assert (ground.path / "quarantine" / names[1]).read_bytes() == b"PAR1"
    else:  # an append-only place keeps it, and goes on telling it
        assert left == names


def test_verify_reads_the_place_itself_and_keeps_a_good_local_copy(ground: Ground, tmp_path: Path) -> None:
    writer = ground.store()
    names = [writer.append(run(number)) for number in range(3)]
    copies = tmp_path / "copies"
    LayeredStore([ground.open(cache=copies)]).read()
    ground.spoil(names[1], b"PAR1")
    store = LayeredStore([ground.open(cache=copies)])
    found = store.verify()
    assert [bool(segment.problem) for segment in found] == [False, True, False]
    assert any(names[1] in note and "damaged" in note for note in store.notes())
    rest = LayeredStore([ground.open(cache=copies)]).read()
    if ground.kind == "directory":  # its copies are the files themselves
        assert [r.id for r in rest.runs] == ["run-0", "run-2"]
    else:
        assert "good local copy" in found[1].problem
        assert [r.id for r in rest.runs] == ["run-0", "run-1", "run-2"]


def test_a_damaged_segment_can_be_appended_again(ground: Ground) -> None:
    name = ground.store().append(run())
    ground.spoil(name, b"PAR1")
    ground.store().append(run())
    assert same(ground.store().read(), run())


def test_runs_that_began_in_the_same_second_are_listed_oldest_first(ground: Ground) -> None:
    store = ground.store()
    for number in (3, 0, 2, 1):
        found = run(number)
        started = FIRST + timedelta(milliseconds=number)
        store.append(replace(found, runs=(found.runs[0].model_copy(update={"started": started}),)))
    for listed in (ground.store().segments(), ground.store().verify()):
        assert [s.run.id for s in listed if s.run] == ["run-0", "run-1", "run-2", "run-3"]


def test_segments_of_a_later_kind_are_kept_and_not_read(ground: Ground) -> None:
    content = b"spectra of a later version"
    name = f"20240103T000000Z-spectra-{segments.digest(content)}.parquet"
    place = ground.open()
    place.add(name, content)
    ground.store().append(run())
    store = ground.store()
    assert same(store.read(), run()) and list(store.notes()) == []
    assert [s.kind for s in store.segments()] == ["trials", "spectra"]
    assert [s.problem for s in ground.store().verify()] == ["", ""]


def test_profiles_are_read_back_as_they_were_beside_the_trials_of_their_run(ground: Ground) -> None:
    ground.store().append(run())
    name = ground.store().append_profiles(profiles())
    assert ground.store().append_profiles(profiles()) == name
    store = ground.store()
    (part,) = store.profiles()
    assert profile_meaning(part) == profile_meaning(profiles())
    assert same(store.read(), run()) and list(store.notes()) == []
    listed = {segment.kind: segment for segment in store.segments()}
    assert listed["profiles"].run == listed["trials"].run == record()
    assert listed["profiles"].rows == len(profiles()) and not listed["profiles"].problem
    assert [s.problem for s in ground.store().verify()] == ["", ""]


def test_profiles_are_selected_as_trials_are(ground: Ground) -> None:
    for number in range(3):
        ground.store().append_profiles(profiles(number, program="other" if number == 1 else "xz"))
    store = ground.store()

    def ids(wanted: Selection) -> list[str]:
        return [part.runs[0].id for part in store.profiles(wanted)]

    assert ids(Selection()) == ["run-2", "run-1", "run-0"]
    assert ids(Selection(last=1)) == ["run-2"]
    assert ids(Selection(program="xz", metrics=frozenset({"cpu"}))) == ["run-2", "run-0"]
    assert ids(Selection(revisions=frozenset({sides(1)["head"].revision}))) == ["run-1"]


def test_damaged_profiles_are_told_and_the_rest_stays_usable(ground: Ground) -> None:
    names = [ground.store().append_profiles(profiles(number)) for number in range(2)]
    ground.spoil(names[0], b"PAR1")
    store = ground.store()
    assert [part.runs[0].id for part in store.profiles()] == ["run-1"]
    (note,) = store.notes()
    assert names[0] in note and "damaged" in note


def test_durations_are_read_back_as_they_were_beside_the_rest_of_their_run(ground: Ground) -> None:
    ground.store().append(run())
    ground.store().append_profiles(profiles())
    name = ground.store().append_durations(durations())
    assert ground.store().append_durations(durations()) == name
    store = ground.store()
    (part,) = store.durations()
    assert profile_meaning(part) == profile_meaning(durations())
    assert profile_meaning(next(store.durations_of(name))) == profile_meaning(durations())
    assert same(store.read(), run()) and len(list(store.profiles())) == 1 and list(store.notes()) == []
    listed = {segment.kind: segment for segment in store.segments()}
    assert listed["durations"].run == record() and listed["durations"].rows == len(durations())
    assert [s.problem for s in ground.store().verify()] == ["", "", ""]


def test_durations_are_selected_as_profiles_are(ground: Ground) -> None:
    for number in range(3):
        ground.store().append_durations(durations(number, program="other" if number == 1 else "xz"))
    store = ground.store()

    def ids(wanted: Selection) -> list[str]:
        return [part.runs[0].id for part in store.durations(wanted)]

    assert ids(Selection(last=1)) == ["run-2"]
    assert ids(Selection(program="xz", metrics=frozenset({"cpu"}))) == ["run-2", "run-0"]
    assert ids(Selection(revisions=frozenset({sides(1)["head"].revision}))) == ["run-1"]


def test_damaged_durations_are_told_and_the_rest_stays_usable(ground: Ground) -> None:
    names = [ground.store().append_durations(durations(number)) for number in range(2)]
    ground.spoil(names[0], b"PAR1")
    store = ground.store()
    assert [part.runs[0].id for part in store.durations()] == ["run-1"]
    (note,) = store.notes()
    assert names[0] in note and "damaged" in note


def test_fingerprints_are_read_back_as_they_were_beside_the_rest_of_their_run(ground: Ground) -> None:
    ground.store().append(run())
    name = ground.store().append_fingerprints(fingerprints())
    assert ground.store().append_fingerprints(fingerprints()) == name
    store = ground.store()
    (part,) = store.fingerprints()
    assert profile_meaning(part) == profile_meaning(fingerprints())
    assert profile_meaning(next(store.fingerprints_of(name))) == profile_meaning(fingerprints())
    assert same(store.read(), run()) and list(store.notes()) == []
    listed = {segment.kind: segment for segment in store.segments()}
    assert listed["fingerprints"].run == record() and listed["fingerprints"].rows == len(fingerprints())
    assert [s.problem for s in ground.store().verify()] == ["", ""]


def test_fingerprints_are_selected_by_run_and_have_no_revisions(ground: Ground) -> None:
    for number in range(3):
        ground.store().append_fingerprints(fingerprints(number, program="other" if number == 1 else "xz"))
    store = ground.store()

    def ids(wanted: Selection) -> list[str]:
        return [part.runs[0].id for part in store.fingerprints(wanted)]

    assert ids(Selection(last=1)) == ["run-2"]
    assert ids(Selection(since=record(1).started)) == ["run-2", "run-1"]
    assert ids(Selection(program="xz", metrics=frozenset({"cpu"}))) == ["run-2", "run-0"]
    assert ids(Selection(revisions=frozenset({sides(1)["head"].revision}))) == []


def test_fingerprints_of_several_runs_are_one_table(ground: Ground) -> None:
    for number in range(2):
        ground.store().append_fingerprints(fingerprints(number))
    whole = FingerprintTable.concatenated(list(ground.store().fingerprints()))
    assert [(run.id, rates["cpu"].tolist()) for _, run, rates in whole.machines()] == [
        ("run-1", [9.5, 10.75]),
        ("run-0", [9.5, 9.75]),
    ]


def test_damaged_fingerprints_are_told_and_the_rest_stays_usable(ground: Ground) -> None:
    names = [ground.store().append_fingerprints(fingerprints(number)) for number in range(2)]
    ground.spoil(names[0], b"PAR1")
    store = ground.store()
    assert [part.runs[0].id for part in store.fingerprints()] == ["run-1"]
    (note,) = store.notes()
    assert names[0] in note and "damaged" in note


def test_nothing_but_one_run_can_be_appended(ground: Ground) -> None:
    with pytest.raises(ValueError, match="one run, not 0"):
        ground.store().append(Measurements.empty())
    with pytest.raises(ValueError, match="one run, not 2"):
        ground.store().append(Measurements.concatenated([run(0), run(1)]))


def test_a_place_out_of_reach_is_told_and_not_called_empty(tmp_path: Path) -> None:
    store = LayeredStore([ObjectPlace("s3://bucket/folder?nonsense=1", cache=Cache(tmp_path))])
    assert len(store.read()) == 0 and store.source is None
    first, second = store.notes()
    assert "s3://bucket/folder cannot be opened" in first and second == "No history could be read."
    with pytest.raises(HistoryError, match="cannot be opened"):
        store.append(run())


def test_a_missing_segment_is_told(ground: Ground) -> None:
    with pytest.raises(HistoryError, match="in no place"):
        ground.store().content("20240103T000000Z-trials-00000000000000000000000000000000.parquet")
