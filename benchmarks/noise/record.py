"""Records real A/A noise: two identical copies of a program, measured as base and head.

python -m benchmarks.noise.record xz --configurations 32 --pairs 48
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.noise.programs import PROGRAMS, Real
from bot.adapters.trials.bench import PairBench
from bot.model.sites import Account, Site
from bot.model.space import Configuration
from bot.model.trials import Pair, Side, Wish

COLUMNS = ("program", "configuration", "pair", "log_ratio_cpu", "seconds", "base_cpu", "place")
ACCOUNTS: dict[Side, Account] = {"base": Account(63001, 63001), "head": Account(63002, 63002)}


def sites(real: Real, folder: Path) -> dict[Side, Site]:
    """Two copies, fetched once and copied, so that they are alike to the byte, at paths of equal length."""
    original = folder / "copy"
    original.mkdir()
    real.fetch(original)
    real.write_input(folder / "input")
    (folder / "input").chmod(0o644)
    made: dict[Side, Site] = {}
    for side, account in ACCOUNTS.items():
        root = folder / side
        root.mkdir()
        for item in original.iterdir():
            _copy_tree(item, root / item.name)
        made[side] = Site(side, root, account, {"input": folder / "input"})
    return made


def _copy_tree(source: Path, target: Path) -> None:
    if source.is_dir():
        target.mkdir()
        for item in source.iterdir():
            _copy_tree(item, target / item.name)
    else:
        target.write_bytes(source.read_bytes())
        target.chmod(source.stat().st_mode | 0o444)


def configurations(real: Real, count: int, rng: np.random.Generator) -> list[Configuration]:
    """The default and distinct random configurations."""
    options = real.subject.space.options
    chosen: dict[Configuration, None] = {tuple(o.default for o in options): None}
    while len(chosen) < count:
        chosen[tuple(o.values[int(rng.integers(len(o.values)))] for o in options)] = None
    return list(chosen)


def rounds(chosen: list[Configuration], pairs: int, rng: np.random.Generator) -> Iterator[Wish]:
    """Every configuration once a round, in a new order each round."""
    for _ in range(pairs):
        for index in rng.permutation(len(chosen)):
            yield Wish(chosen[index])


def rows(name: str, chosen: list[Configuration], measured: Iterator[Pair]) -> Iterator[tuple[object, ...]]:
    """One row a pair that both sides finished."""
    seen: dict[int, int] = {}
    for place, pair in enumerate(measured):
        if not pair.ok:
            print(pair)
            continue
        index = chosen.index(pair.wish.configuration)
        base, head = pair.first.metrics["cpu"], pair.second.metrics["cpu"]
        ratio = f"{np.log(head / base):.6f}"
        yield (name, index, seen.setdefault(index, 0), ratio, f"{pair.seconds:.4f}", f"{base:.6f}", place)
        seen[index] += 1


def summary(table: list[tuple[object, ...]]) -> str:
    """Noise of one pair (standard deviation and its robust form) and bias between sides, in percent."""
    ratio = 100 * np.array([float(str(row[3])) for row in table])
    label = np.array([int(str(row[1])) for row in table])
    centred = np.concatenate([ratio[label == i] - np.median(ratio[label == i]) for i in set(label)])
    error = ratio.std() / len(ratio) ** 0.5
    return (
        f"{len(ratio)} pairs of {len(set(label))} configurations: SD {ratio.std():.2f} %, robust "
        f"{1.4826 * np.median(np.abs(centred)):.2f} %, mean {ratio.mean():+.3f} +- {error:.3f} %, "
        f"median {np.median(ratio):+.3f} %"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", choices=sorted(PROGRAMS))
    parser.add_argument("--configurations", type=int, default=32)
    parser.add_argument("--pairs", type=int, default=48)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    chosen = parser.parse_args()
    rng = np.random.default_rng(chosen.seed)
    real = PROGRAMS[chosen.program]
    with tempfile.TemporaryDirectory(prefix="noise-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        sample = configurations(real, chosen.configurations, rng)
        bench = PairBench(
            subject=real.subject,
            sites=sites(real, folder),
            rng=rng,
            budget=chosen.seconds,
            scratch=folder / "scratch",
            stop=threading.Event(),
        )
        with bench:
            began = time.monotonic()
            table = list(rows(chosen.program, sample, bench.measure(rounds(sample, chosen.pairs, rng))))
            print(
                f"{chosen.program}: {summary(table)}; {time.monotonic() - began:.0f} s; {bench.environment()}"
            )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([COLUMNS, *table])
    (chosen.out / f"{chosen.program}.csv.gz").write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))


if __name__ == "__main__":
    main()
