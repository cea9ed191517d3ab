"""`suspects history` on real places: what is stored, checked, shown, exported and imported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from bot.adapters.stores import segments
from tests.adapters.importers import files
from tests.adapters.stores.samples import ONE, TWO, durations, fingerprints, profiles, run
from tests.end_to_end.builders import CONFIG, Place, config

OWN = ".suspects/history"


def fill(place: Place, *numbers: int, folder: str = OWN) -> list[Path]:
    paths = []
    for number in numbers:
        name, content = segments.encode(run(number))
        paths.append(place.repository / folder / name)
        paths[-1].parent.mkdir(parents=True, exist_ok=True)
        paths[-1].write_bytes(content)
    return paths


def with_profiles(place: Place, number: int) -> None:
    """The run `number`, which measured trials and profiles."""
    fill(place, number)
    name, content = segments.encode(profiles(number))
    (place.repository / OWN / name).write_bytes(content)


def with_durations(place: Place, number: int) -> None:
    """The run `number`, which measured all there is."""
    with_profiles(place, number)
    name, content = segments.encode(durations(number))
    (place.repository / OWN / name).write_bytes(content)


def listed(place: Place, *arguments: str) -> dict[str, Any]:
    ended = place.suspects("history", "list", "--json", "-", *arguments)
    assert ended.code == 0, ended.said
    found: dict[str, Any] = json.loads(ended.out)
    return found


def ids(found: dict[str, Any]) -> list[str]:
    return [segment["run"]["id"] for segment in found["segments"]]


def test_an_empty_history_is_told(place: Place) -> None:
    ended = place.suspects("history", "list")
    assert ended.code == 0 and "0 segments" in ended.out
    assert "History is empty" in ended.err


def test_the_list_has_every_run(place: Place) -> None:
    fill(place, 0, 1)
    ended = place.suspects("history", "list")
    assert "run-0" in ended.out and "run-1" in ended.out and "2 segments" in ended.out and not ended.err
    found = listed(place)
    assert ids(found) == ["run-0", "run-1"] and found["source"] == "directory" and found["notes"] == []


def test_show_has_the_medians_of_a_run(place: Place) -> None:
    fill(place, 0, 1)
    ended = place.suspects("history", "show", "run-1")
    assert ended.code == 0 and "cpu" in ended.out and "1 failed" in ended.out and "a processor" in ended.out
    as_json = json.loads(place.suspects("history", "show", "run-1", "--json", "-").out)
    assert as_json["run"]["id"] == "run-1" and len(as_json["medians"]) > 3
    place.suspects("history", "show", "run").refused("2 runs of the history begin so")
    place.suspects("history", "show", "nothing").refused("0 runs")


def test_the_list_tells_profiles_from_trials(place: Place) -> None:
    with_profiles(place, 0)
    ended = place.suspects("history", "list")
    assert "2 segments, 11 measurements, 5 profiled costs" in ended.out
    assert {s["kind"] for s in listed(place)["segments"]} == {"trials", "profiles"}
    assert "2 of 2 segments are whole" in place.suspects("history", "verify").out


def test_show_has_the_costliest_methods_of_a_run(place: Place) -> None:
    with_profiles(place, 0)
    ended = place.suspects("history", "show", "run-0")
    assert ended.code == 0 and "50.0 %  shop.cart:Cart.price: self_seconds 0.3, calls 7.5" in ended.out
    assert "cpu" in ended.out and "-profiles-" in ended.out
    told = json.loads(place.suspects("history", "show", "run-0", "--json", "-").out)
    assert [m["line"] for m in told["methods"]] == [3, None] and told["medians"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_profiles_go_out_as_a_table(place: Place, suffix: str) -> None:
    with_profiles(place, 0)
    target = place.out / f"methods.{suffix}"
    ended = place.suspects("history", "export", str(target), "--profiles")
    assert "1 runs, 5 profiled costs" in ended.out
    found = (pacsv.read_csv if suffix == "csv" else pq.read_table)(target).to_pylist()
    assert [row["method"] for row in found[:2]] == ["shop.cart:Cart.price", "lzma_mf_hc4_find::<a, b>"]
    assert found[0]["file"] == "shop/cart.py" and found[0]["calls"] == 7 and found[1]["calls"] is None
    assert str(found[0]["option.extreme"]).lower() == "false" and found[-1]["outcome"] == "timeout"


def test_trials_and_profiles_of_a_run_move_together(place: Place) -> None:
    with_profiles(place, 0)
    folder = place.out / "all"
    assert "1 runs, 11 measurements, 5 profiled costs" in place.suspects("history", "export", str(folder)).out
    words = ("history", "import", str(folder), "--history", "elsewhere")
    assert "1 runs, 11 measurements, 5 profiled costs imported" in place.suspects(*words).out
    assert "0 runs, 0 measurements imported, 1 were there already" in place.suspects(*words).out
    assert len(listed(place, "--history", "elsewhere")["segments"]) == 2
    place.suspects("history", "export", str(folder), "--profiles").refused("a folder gets all")


def test_durations_are_listed_shown_exported_and_imported(place: Place) -> None:
    with_durations(place, 0)
    ended = place.suspects("history", "list")
    assert "3 segments, 11 measurements, 5 profiled costs, 10 bins of durations" in ended.out
    assert "3 of 3 segments are whole" in place.suspects("history", "verify").out
    shown = place.suspects("history", "show", "run-0").out
    assert "watched  shop.cart:Cart.price: 9 calls of 417 ms in the mean, 90 % below 5" in shown
    told = json.loads(place.suspects("history", "show", "run-0", "--json", "-").out)
    assert [(m["method"], m["calls"]) for m in told["watched"]] == [(ONE.name, 9), (TWO.name, 11)]
    target = place.out / "calls.csv"
    ended = place.suspects("history", "export", str(target), "--durations")
    assert "1 runs, 10 bins of durations" in ended.out
    rows = pacsv.read_csv(target).to_pylist()
    first = next(row for row in rows if row["arguments"] == "self=Cart, n=int 0")
    assert first["from"] <= 0.25 < first["below"] and (first["calls"], first["path"]) == (1, TWO.name)
    assert [row["from"] for row in rows if row["calls"] == 0] == [None, None]
    folder = place.out / "all"
    words = "1 runs, 11 measurements, 5 profiled costs, 10 bins of durations"
    assert words in place.suspects("history", "export", str(folder)).out
    assert words in place.suspects("history", "import", str(folder), "--history", "elsewhere").out


def test_fingerprints_are_listed_shown_exported_and_imported(place: Place) -> None:
    fill(place, 0)
    name, content = segments.encode(fingerprints(0))
    (place.repository / OWN / name).write_bytes(content)
    words = "11 measurements, 6 rates of stressors"
    assert words in place.suspects("history", "list").out
    assert "2 of 2 segments are whole" in place.suspects("history", "verify").out
    shown = place.suspects("history", "show", "run-0").out
    assert "stressed  cpu: 9.625 operations per CPU second (2)" in shown
    assert "stressed  af-alg: nothing (2)" in shown
    target = place.out / "machines.csv"
    ended = place.suspects("history", "export", str(target), "--fingerprints")
    assert "1 runs, 6 rates of stressors" in ended.out
    rows = pacsv.read_csv(target).to_pylist()
    assert [row["rate"] for row in rows] == [9.5, 9.75, None, None, None, 2.5]
    assert {(row["cpu"], row["cores"], row["tool"]) for row in rows} == {
        ("a processor", 4, "stress-ng 0.15.06")
    }
    folder = place.out / "all"
    assert words in place.suspects("history", "export", str(folder)).out
    assert words in place.suspects("history", "import", str(folder), "--history", "elsewhere").out


def test_verify_quarantines_what_is_damaged_and_the_rest_stays_usable(place: Place) -> None:
    paths = fill(place, 0, 1, 2)
    paths[1].write_bytes(paths[1].read_bytes()[:-20])
    ended = place.suspects("history", "verify", "--fail-on", "damaged")
    assert ended.code == 1 and paths[1].name in ended.out and "2 of 3 segments are whole" in ended.out
    assert not paths[1].exists() and (paths[1].parent / "quarantine" / paths[1].name).exists()
    found = listed(place)
    assert ids(found) == ["run-0", "run-2"]
    assert "1 damaged segment lies in" in found["notes"][0]
    assert place.suspects("history", "verify", "--fail-on", "damaged").code == 0


def test_damage_fails_a_check_only_where_that_was_asked_for(place: Place) -> None:
    (path,) = fill(place, 0)
    path.write_bytes(path.read_bytes()[:-20])
    ended = place.suspects("history", "verify")
    assert ended.code == 0 and "0 of 1 segments are whole" in ended.out
    place.suspects("history", "verify", "--fail-on", "regression").refused("damaged is allowed")


def test_a_later_versions_segment_is_told_and_left_alone(place: Place) -> None:
    from tests.adapters.stores.test_segments import changed

    fill(place, 0)
    name, content = changed(segments.encode(run(1)).content, schema="9")
    later = place.repository / OWN / name
    later.write_bytes(content)
    ended = place.suspects("history", "verify")
    assert ended.code == 0 and "later version" in ended.out
    assert later.exists()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_goes_out_and_comes_back(place: Place, suffix: str) -> None:
    fill(place, 0, 1)
    target = place.out / f"all.{suffix}"
    assert "2 runs" in place.suspects("history", "export", str(target)).out
    ended = place.suspects("history", "import", str(target), "--history", "elsewhere")
    assert "2 runs" in ended.out
    assert ids(listed(place, "--history", "directory:elsewhere")) == ["run-0", "run-1"]
    again = place.suspects("history", "import", str(target), "--history", "elsewhere")
    assert "0 runs, 0 measurements imported, 2 were there already" in again.out


@pytest.mark.parametrize("name", ["x.txt", "x.csv.gz", "x.JSON", "x.xlsx"])
def test_an_export_to_an_unknown_ending_is_refused_and_leaves_nothing(place: Place, name: str) -> None:
    target = place.out / name
    place.suspects("history", "export", str(target)).refused("no known ending", ".csv or .parquet")
    assert not target.exists()


@pytest.mark.parametrize("name", ["plain", "v1.0", "history.d"])
def test_an_export_to_a_folder_may_be_called_after_a_version_or_be_there(place: Place, name: str) -> None:
    fill(place, 0)
    if name == "history.d":
        (place.out / name).mkdir()
    assert place.suspects("history", "export", str(place.out / name)).code == 0
    assert (place.out / name).is_dir()


def test_a_selection_is_exported(place: Place) -> None:
    fill(place, 0, 1, 2)
    target = place.out / "some.csv"
    place.suspects("history", "export", str(target), "--last", "1", "--metric", "cpu")
    lines = target.read_text().splitlines()
    assert len(lines) == 1 + 5 + 1 and all("run-2" in line for line in lines[1:])
    assert [path.name for path in place.out.iterdir()] == ["some.csv"]
    place.suspects("history", "export", str(target), "--revision", "unknown").refused("nothing to export")
    nowhere = target.parent / "nowhere" / target.name
    place.suspects("history", "export", str(nowhere)).refused(f"there is no folder {nowhere.parent}")
    place.suspects("history", "export", str(place.out / "folder"), "--last", "1").refused("gets all segments")


def test_segments_move_between_places(place: Place) -> None:
    fill(place, 0, 1)
    place.commit({"a": "b"})
    folder = place.out / "union"
    assert place.suspects("history", "export", str(folder)).code == 0
    assert "2 runs" in place.suspects("history", "import", str(folder), "--history", "branch:old").out
    found = listed(place, "--history", "branch:old")
    assert ids(found) == ["run-0", "run-1"] and found["source"] == "branch"
    assert place.git("status", "--porcelain") == ""
    assert place.git("rev-list", "--count", "old") == "2"


def test_the_configured_places_are_read_in_order_as_one(place: Place) -> None:
    fill(place, 0, 1, folder="first")
    fill(place, 1, 2, folder="second")
    places = [{"store": "directory", "path": "first"}, {"store": "directory", "path": "second"}]
    place.commit({CONFIG: config(history=places)})
    assert ids(listed(place)) == ["run-0", "run-1", "run-2"]
    (place.out / "data.js").write_text(files.data_js())
    assert "2 runs" in place.suspects("history", "import", str(place.out / "data.js")).out
    assert len(listed(place, "--history", "first")["segments"]) == 4
    assert len(listed(place, "--history", "second")["segments"]) == 2


def test_the_contracts_places_are_accepted_outside_github(place: Place) -> None:
    places = [{"store": "branch", "ref": "suspects-history"}, {"store": "artifact"}]
    place.commit({CONFIG: config(history=places)})
    found = listed(place)
    assert found["segments"] == []
    assert any("artifact" in note and "GITHUB_TOKEN" in note for note in found["notes"])


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"store": "object"}, "history.0.url: an address such as s3://"),
        ({"store": "object", "url": "http://x/y"}, "history.0.url: an address such as s3://"),
        ({"store": "branch", "path": "x"}, "history.0.path: does not go with branch; it takes ref"),
        ({"store": "branch", "ref": "a..b"}, "history.0.ref: 'a..b' is no name of a branch"),
        ({"store": "branch", "ref": "-f"}, "history.0.ref: '-f' is no name of a branch"),
        ({"store": "tape"}, "history.0.store"),
        ({"ref": "x"}, "history.0: store is missing"),
    ],
)
def test_a_wrong_place_in_the_file_is_one_line(place: Place, entry: dict[str, str], words: str) -> None:
    place.commit({CONFIG: config(history=[entry])})
    place.suspects("history", "list").refused(words)


@pytest.mark.parametrize("text", ["tape:x", "directory:", "object:http://x", ""])
def test_a_wrong_place_on_the_command_line_is_one_line(place: Place, text: str) -> None:
    place.suspects("history", "list", "--history", text).refused("--history", "directory:PATH")


def test_importing_nonsense_is_one_line(place: Place) -> None:
    (place.out / "x.json").write_text("{")
    place.suspects("history", "import", str(place.out / "x.json")).refused("x.json:1:2: not JSON")
    place.suspects("history", "import", str(place.out / "missing.csv")).refused(
        "cannot be read: No such file"
    )
    assert not (place.repository / OWN).exists()


def test_a_full_disk_while_exporting_is_one_line(place: Place) -> None:
    fill(place, 0)
    ended = place.suspects("history", "list", "--json", "/dev/full")
    assert ended.code == 3 and ended.err.count("\n") == 1 and "No space left" in ended.err
