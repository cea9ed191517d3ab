"""Recognises what kind of file is to be imported, and reads it with the importer of that kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bot.adapters.importers import action_benchmark, asv, hyperfine, pytest_benchmark, tabular
from bot.adapters.importers.foreign import File, parsed
from bot.model.errors import UsageError
from bot.model.history import Measurements

IMPORTERS: Mapping[str, Callable[[File], list[Measurements]]] = {
    "csv": tabular.read_csv,
    "parquet": tabular.read_parquet,
    "github-action-benchmark": action_benchmark.read,
    "asv": asv.read,
    "pytest-benchmark": pytest_benchmark.read,
    "hyperfine": hyperfine.read,
}
_KEYS = {
    "result_columns": "asv",
    "commit_hash": "asv",
    "machine_info": "pytest-benchmark",
    "results": "hyperfine",
}
"""Keys at the top of a JSON file that tell its format, the most telling first."""
_NO_RESULTS = ("machine.json", "benchmarks.json")
MOST_BYTES = 1 << 30


def read(path: Path, *, kind: str | None = None, revision: str | None = None) -> Iterator[Measurements]:
    """The runs of a file, or of all result files below a folder of asv. `kind`: its format, when known.

    Raises:
        UsageError: it cannot be read or is of no known format; one line with file and position.
    """
    if kind is not None and kind not in IMPORTERS:
        raise UsageError(f"--format {kind}: not known; {', '.join(IMPORTERS)} are")
    if path.is_dir():
        yield from _asv_folder(path, kind)
        return
    file = _opened(path, revision)
    found = kind or _recognised(file)
    if found == "asv":
        yield from asv.read(file, _names([path.parent, path.parent.parent]))
    else:
        yield from IMPORTERS[found](file)


def _asv_folder(folder: Path, kind: str | None) -> Iterator[Measurements]:
    paths = [path for path in sorted(folder.rglob("*.json")) if path.name not in _NO_RESULTS]
    if kind not in (None, "asv") or not paths:
        raise UsageError(f"{folder}: is a folder; only one with asv's result files can be imported")
    names = _names([folder, folder.parent])
    for path in paths:
        yield from asv.read(_opened(path, None), names)


def _names(folders: Sequence[Path]) -> dict[str, Sequence[str]]:
    for folder in folders:
        if (folder / "benchmarks.json").is_file():
            return asv.parameter_names(_opened(folder / "benchmarks.json", None))
    return {}


def _opened(path: Path, revision: str | None) -> File:
    try:
        status = path.stat()
        if status.st_size > MOST_BYTES:
            raise UsageError(f"{path}: larger than {MOST_BYTES >> 20} MiB; split it")
        modified = datetime.fromtimestamp(int(status.st_mtime), UTC)
        return File(str(path), path.read_bytes(), modified, revision)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None


def _recognised(file: File) -> str:
    suffix = Path(file.name).suffix.lower()
    if suffix in {".csv", ".parquet"} or file.content.startswith(b"PAR1"):
        return "csv" if suffix == ".csv" else "parquet"
    if file.content.lstrip().startswith(action_benchmark.PREFIX.encode()):
        return "github-action-benchmark"
    if suffix in (".json", ".js"):
        value = parsed(file)
        for key, found in _KEYS.items():
            if isinstance(value, dict) and key in value:
                return found
    raise UsageError(
        f"{file.name}: its format is not recognised; name it with --format ({', '.join(IMPORTERS)})"
    )
