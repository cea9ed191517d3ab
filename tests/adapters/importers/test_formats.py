"""Series that people already have become measurements; bad files are one line with file and position."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.adapters.importers import formats, tabular
from bot.adapters.stores import segments
from bot.model.errors import UsageError
from bot.model.history import Measurements
from tests.adapters.importers import files
from tests.adapters.stores.samples import meaning, run

Told = list[tuple[dict[str, object], str | None, float | None]]


def written(tmp_path: Path, name: str, text: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def told(part: Measurements) -> Told:
    """Options, metric and value of each row."""
    return [
        (
            dict(part.configurations[part.configuration[i]]),
            part.metrics[part.metric[i]] if part.metric[i] >= 0 else None,
            None if math.isnan(part.value[i]) else float(part.value[i]),
        )
        for i in range(len(part))
    ]


def one(path: Path, **more: str) -> Measurements:
    (part,) = formats.read(path, **more)
    segments.encode(part)  # it can be stored
    return part


def test_data_js_gives_a_run_for_each_entry(tmp_path: Path) -> None:
    first, second = formats.read(written(tmp_path, "data.js", files.data_js()))
    assert [r.revision for r in (*first.revisions, *second.revisions)] == [files.COMMIT, "b" * 40]
    assert first.runs[0].started == datetime(2019, 11, 9, 15, 9, 0, 323000, UTC)
    assert first.runs[0].program == "github-action-benchmark:Rust" and first.runs[0].subject == "Rust"
    assert first.runs[0].id != second.runs[0].id
    assert told(first) == [
        ({"benchmark": "fib_10"}, "wall", pytest.approx(254e-9)),
        ({"benchmark": "fib_20"}, "wall", pytest.approx(34001.5e-9)),
        ({"benchmark": "rate"}, "iter_sec", 12.5),
    ]
    assert first.runs[0].metrics == {"iter_sec": "iter/sec"}


def test_asv_gives_samples_failures_and_parameters_by_name(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    written(tmp_path, "benchmarks.json", files.BENCHMARKS)
    written(tmp_path, "m/machine.json", "{}")
    written(tmp_path, "m/45d78258-py3.11.json", files.asv())
    part = one(tmp_path)
    assert told(part) == [
        ({"benchmark": "sorting.Suite.time_sort", "size": 10, "how": "fast"}, "wall", 0.4),
        ({"benchmark": "sorting.Suite.time_sort", "size": 10, "how": "fast"}, "wall", 0.5),
        ({"benchmark": "sorting.Suite.time_sort", "size": 10, "how": "fast"}, "wall", 0.6),
        ({"benchmark": "sorting.Suite.time_sort", "size": 10, "how": "slow"}, None, None),
        ({"benchmark": "sorting.Suite.time_sort", "size": 20, "how": "fast"}, "wall", 0.25),
        ({"benchmark": "sorting.peakmem_sort"}, "max_rss", 1048576.0),
        ({"benchmark": "broken.time_never"}, None, None),
    ]
    assert list(part.repetitions[:5]) == [2, 2, 2, 1, 3]
    assert part.runs[0].started == datetime.fromtimestamp(1700000000, UTC)
    assert part.runs[0].environment.cores == 8
    assert part.runs[0].options["size"].kind == "number" and part.runs[0].options["how"].kind == "choice"
    assert told(one(tmp_path / "m/45d78258-py3.11.json")) == told(part)


@pytest.mark.parametrize("rounds", [True, False])
def test_pytest_benchmark_gives_rounds_or_the_median(tmp_path: Path, rounds: bool) -> None:
    part = one(written(tmp_path, "out.json", files.pytest_benchmark(rounds=rounds)))
    options = {"benchmark": "test_x.py::test_a", "n": 10, "mode": "fast"}
    assert told(part) == [(options, "wall", value) for value in ([0.1, 0.2, 0.3] if rounds else [0.2])]
    assert set(part.repetitions) == {24 if rounds else 72}
    assert part.runs[0].started == datetime(2024, 1, 2, 3, 4, 5, 9810, UTC)
    assert part.runs[0].environment.cpu == "a processor" and part.runs[0].ref == "main"


def test_hyperfine_gives_all_times_and_failed_runs(tmp_path: Path) -> None:
    part = one(written(tmp_path, "out.json", files.hyperfine()), revision="v5.4")
    assert told(part) == [
        ({"level": "6"}, "wall", 0.1),
        ({"level": "6"}, "max_rss", 1000.0),
        ({"level": "6"}, "wall", 0.2),
        ({"level": "6"}, "max_rss", 1001.0),
        ({"level": "6"}, None, None),
        ({"benchmark": "xz -9 file"}, "wall", 0.5),
    ]
    assert part.revisions[0].revision == "v5.4"


def test_version_2_of_hyperfine_is_read(tmp_path: Path) -> None:
    part = one(written(tmp_path, "out.json", files.hyperfine_2()), revision="v5.4")
    named = {"benchmark": "one"}
    assert told(part) == [
        (named, "wall", 1.5),
        (named, "cpu", 1.25),
        (named, "max_rss", 4096.0),
        (named, None, None),
    ]
    assert part.runs[0].started == datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_the_same_file_has_the_same_runs(tmp_path: Path) -> None:
    path = written(tmp_path, "data.js", files.data_js())
    first, second = ([part.runs[0].id for part in formats.read(path)] for _ in range(2))
    assert first == second and len(set(first)) == 2


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_table_gives_back_what_was_exported(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    options = {"extreme", "check", "level"}
    assert tabular.write([run(0, pairs=9), run(1)], path, options=options) == len(run(0, pairs=9)) + len(
        run(1)
    )
    first, second = formats.read(path)

    def kept(part: Measurements) -> list[tuple[object, ...]]:
        runs = [part.runs[code] for code in part.run]
        return [
            (run.id, run.started, run.program, run.environment.cpu, *row[1:])
            for run, row in zip(runs, meaning(part), strict=True)
        ]

    assert kept(first) == kept(run(0, pairs=9)) and kept(second) == kept(run(1))


def test_a_small_table_of_ones_own_is_enough(tmp_path: Path) -> None:
    text = (
        'revision,value,option.level,option.check,option.fast\nabc,1.5,6,"""64""",true\nabc,,9,crc32,false\n'
    )
    part = one(written(tmp_path, "mine.csv", text))
    assert told(part) == [
        ({"level": 6, "check": "64", "fast": True}, "wall", 1.5),
        ({"level": 9, "check": "crc32", "fast": False}, None, None),
    ]
    assert {name: option.kind for name, option in part.runs[0].options.items()} == {
        "level": "number",
        "check": "choice",
        "fast": "flag",
    }


CSV = "revision,metric,value,trial,outcome\n"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("x.csv", "", r"x\.csv:1: column revision is missing"),
        ("x.csv", "revision,metric\n", r"x\.csv:1: column value is missing"),
        ("x.csv", "revision,value,colour\n", r"x\.csv:1: column colour is not known"),
        ("x.csv", "revision,value,value\n", r"x\.csv:1: column value stands twice"),
        ("x.csv", CSV, r"x\.csv: there is no row"),
        ("x.csv", CSV + "a,cpu,1,0,ok\na,cpu,1\n", r"x\.csv:3: 3 cells under 5 columns"),
        ("x.csv", CSV + "a,cpu,fast,0,ok\n", r"x\.csv:2: value: .*'fast'"),
        ("x.csv", CSV + "a,cpu,nan,0,ok\n", r"x\.csv:2: value: "),
        ("x.csv", CSV + ",cpu,1,0,ok\n", r"x\.csv:2: revision: "),
        ("x.csv", CSV + "a,cpu,1,-1,ok\n", r"x\.csv:2: trial: "),
        ("x.csv", CSV + "a,cpu,1,0,exploded\n", r"x\.csv:2: outcome: "),
        (
            "x.csv",
            CSV + "a,cpu,1,0,timeout\n",
            r"x\.csv:2: outcome: a trial that failed \(timeout\) has no value",
        ),
        ("x.csv", CSV + 'a,"cpu,1,0,ok\n', r"x\.csv:\d: not CSV: "),
        ("x.csv", b"revision,value\n\xff,1\n", r"x\.csv: not UTF-8 text at byte 15"),
        ("x.parquet", b"PAR1 and no more", r"x\.parquet: not Parquet: "),
        ("x.parquet", b"", r"x\.parquet: not Parquet: "),
        ("data.js", 'window.BENCHMARK_DATA = {\n "entries": {,}}', r"data\.js:2:14: not JSON: "),
        ("data.js", "window.BENCHMARK_DATA = []", r"data\.js: at the top: "),
        ("data.js", files.data_js(commit={}), r"data\.js: entries\.Rust\.0\.commit\.id: Field required"),
        ("data.js", files.data_js(date=1e300), r"data\.js: 1e\+300 is no time"),
        (
            "data.js",
            files.data_js(benches=[{"name": "x", "value": "fast"}]),
            r"entries\.Rust\.0\.benches\.0\.value: ",
        ),
        ("a.json", files.asv(version=1), r"a\.json: version 1 of asv's results is not known"),
        ("a.json", files.asv(commit_hash=None), r"a\.json: commit_hash: "),
        ("a.json", files.asv(results={"x.time_y": ["much"]}), r"a\.json: .*result"),
        ("p.json", files.pytest_benchmark(commit_info={}), r"p\.json: commit_info\.id is missing"),
        ("p.json", files.pytest_benchmark(benchmarks=[{}]), r"p\.json: benchmarks\.0\.fullname: "),
        ("p.json", files.pytest_benchmark(datetime="soon"), r"p\.json: datetime: "),
        ("h.json", files.hyperfine(), r"h\.json: hyperfine does not say which commit .* --revision"),
        ("h.json", "[" * 100_000, r"h\.json: nested too deeply"),
        ("h.json", "{", r"h\.json:1:2: not JSON"),
        ("h.json", "{}", r"h\.json: its format is not recognised; name it with --format"),
        ("h.json", files.hyperfine(exit_codes=[10**30]), r"h\.json: a whole number has more than 63 bits"),
        ("a.json", files.asv(commit_hash="\ud800"), r"a\.json: a text is no Unicode"),
        ("a.json", files.asv(version="x" * 5000), r"a\.json: version x+ of asv's results is not known"),
        ("h.txt", "1 2 3", r"h\.txt: its format is not recognised"),
    ],
)
def test_a_bad_file_is_one_line(tmp_path: Path, name: str, text: str | bytes, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        list(formats.read(written(tmp_path, name, text)))
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path / "missing.csv", "cannot be read: No such file"),
        (lambda path: path, "is a folder"),
    ],
)
def test_a_missing_file_or_an_empty_folder_is_one_line(
    tmp_path: Path, make: Callable[[Path], Path], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        list(formats.read(make(tmp_path)))


def test_an_unknown_format_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--format xml: not known; csv, parquet"):
        list(formats.read(written(tmp_path, "x.csv", CSV), kind="xml"))


def test_a_full_disk_while_exporting_is_an_os_error() -> None:
    with pytest.raises(OSError, match="No space left"):
        tabular.write([run(0, pairs=2000)], Path("/dev/full"), options=())
