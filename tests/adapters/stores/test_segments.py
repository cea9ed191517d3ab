"""Segments: names, versions of the schema, and bytes that are not what they should be."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bot.adapters.stores import segments
from bot.adapters.stores.rows import DURATIONS, PROFILES
from bot.model.errors import DamagedSegmentError, NewerSegmentError
from bot.model.history import NO_EXIT_CODE, Measurements
from bot.model.profile_history import ProfileTable
from tests.adapters.stores.samples import durations, meaning, profile_meaning, profiles, run, same

VERSION_1 = Path(__file__).with_name("20240102T030405Z-trials-version-1.parquet")


def changed(content: bytes, **metadata: str) -> tuple[str, bytes]:
    """The same rows with other metadata, under the name that its content deserves."""
    table = pq.read_table(io.BytesIO(content))
    known = dict(table.schema.metadata)
    known |= {f"suspects.{key}".encode(): value.encode() for key, value in metadata.items()}
    return packed(table.replace_schema_metadata(known))


def packed(table: pa.Table) -> tuple[str, bytes]:
    stream = io.BytesIO()
    pq.write_table(table, stream)
    content = stream.getvalue()
    return f"20240102T030405Z-trials-{segments.digest(content)}.parquet", content


def read(name: str, content: bytes) -> Measurements:
    segments.check(name, content)
    return Measurements.concatenated(list(segments.decode(name, content)))


def test_a_segment_gives_back_what_it_was_made_of() -> None:
    assert same(read(*segments.encode(run(3, pairs=50))), run(3, pairs=50))


def test_a_segment_of_profiles_gives_back_what_it_was_made_of() -> None:
    name, content = segments.encode(profiles(3, count=50))
    segments.check(name, content)
    found = ProfileTable.concatenated(list(segments.rows(PROFILES, name, content)))
    assert profile_meaning(found) == profile_meaning(profiles(3, count=50))
    assert name == f"20240102T060405Z-profiles-{segments.digest(content)}.parquet"


@pytest.mark.parametrize("spoilt", ['["name"]', "[1, null, null]", "x"])
def test_a_method_that_is_none_is_damage(spoilt: str) -> None:
    table = pq.read_table(io.BytesIO(segments.encode(profiles()).content))
    place = table.schema.get_field_index("method")
    name, content = packed(table.set_column(place, "method", pa.array([spoilt] * table.num_rows)))
    with pytest.raises(DamagedSegmentError, match="not hold"):
        list(segments.rows(PROFILES, name, content))


def test_profiles_of_a_newer_schema_are_refused_in_one_sentence() -> None:
    name, content = changed(segments.encode(profiles()).content, schema="2")
    with pytest.raises(NewerSegmentError, match="schema 2, this one reads up to 1"):
        list(segments.rows(PROFILES, name, content))


def test_durations_of_a_newer_schema_are_refused_in_one_sentence() -> None:
    name, content = changed(segments.encode(durations()).content, schema="2")
    with pytest.raises(NewerSegmentError, match="schema 2, this one reads up to 1"):
        list(segments.rows(DURATIONS, name, content))


def test_a_name_tells_date_kind_and_content() -> None:
    name, content = segments.encode(run())
    assert name == f"20240102T030405Z-trials-{segments.digest(content)}.parquet"
    assert segments.encode(run()) == (name, content)
    assert segments.encode(run(1)).name != name


def test_values_of_options_keep_their_types() -> None:
    found = read(*segments.encode(run()))
    assert [list(map(type, c.values())) for c in found.configurations] == [
        [str, bool, int],
        [str, bool, float],
        [str, bool, int],
    ]


def test_an_older_schema_is_read() -> None:
    """The committed file was written with version 1 of the schema, from the first rows of `run()`."""
    content = VERSION_1.read_bytes()
    assert pq.read_schema(VERSION_1).names != list(
        pq.read_schema(io.BytesIO(segments.encode(run()).content)).names
    )
    found = Measurements.concatenated(list(segments.decode(VERSION_1.name, content)))
    wanted = [(*row[:7], NO_EXIT_CODE, *row[8:12], 1) for row in meaning(run())]
    assert meaning(found) == wanted


def test_a_newer_schema_is_refused_in_one_sentence() -> None:
    name, content = changed(segments.encode(run()).content, schema="3")
    with pytest.raises(
        NewerSegmentError, match=r"schema 3, this one reads up to 2.*newer suspects"
    ) as caught:
        read(name, content)
    assert "\n" not in str(caught.value)
    assert "later version" in segments.describe(name, content).problem


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({"schema": "0"}, "never was"),
        ({"schema": "two"}, "does not say"),
        ({"run": "{}"}, "does not say"),
        ({"run": '{"id": "1", "mode": "nightly", "started": "2024-01-01T00:00:00Z", "more": 1}'}, "more"),
        ({"revisions": "[]"}, "does not say"),
        ({"revisions": "{}"}, "does not hold"),
    ],
)
def test_metadata_that_is_not_ours_is_damage(metadata: Mapping[str, str], words: str) -> None:
    with pytest.raises(DamagedSegmentError, match=words):
        read(*changed(segments.encode(run()).content, **metadata))


@pytest.mark.parametrize("column", ["value", "outcome", "configuration", "trial"])
def test_a_missing_column_is_damage(column: str) -> None:
    table = pq.read_table(io.BytesIO(segments.encode(run()).content))
    if column == "value":
        with pytest.raises(DamagedSegmentError):
            read(*packed(table.drop_columns(["metric"])))
    with pytest.raises(DamagedSegmentError):
        read(*packed(table.drop_columns([column])))


def test_an_unknown_outcome_is_damage() -> None:
    table = pq.read_table(io.BytesIO(segments.encode(run()).content))
    place = table.schema.get_field_index("outcome")
    other = table.set_column(place, "outcome", pa.array(["exploded"] * table.num_rows))
    with pytest.raises(DamagedSegmentError, match="not hold"):
        read(*packed(other))


def test_no_change_of_a_byte_goes_unseen() -> None:
    name, content = segments.encode(run())
    for place in range(0, len(content), 7):
        with pytest.raises(DamagedSegmentError):
            segments.check(name, content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :])
    for length in range(0, len(content), 13):
        assert segments.describe(name, content[:length]).problem


def test_garbage_under_a_right_name_is_damage_or_harmless() -> None:
    """Somebody else's bytes may carry their own digest: they are refused, never a crash."""
    content = segments.encode(run()).content
    for place in range(4, len(content), 11):
        spoilt = content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :]
        segments.describe(
            f"20240102T030405Z-trials-{segments.digest(spoilt)}.parquet", spoilt, thoroughly=True
        )
    for rest in (b"", b"PAR1", b"PAR1PAR1", content[: len(content) // 2], b"\0" * 100):
        name = f"20240102T030405Z-trials-{segments.digest(rest)}.parquet"
        assert "not a Parquet file of trials" in segments.describe(name, rest).problem
