"""A process that appends runs and says each name once it is safe: ... KIND PATH FIRST COUNT PAIRS."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import numpy as np

from bot.adapters.stores.branch import BranchPlace, Remote
from bot.adapters.stores.cache import Cache
from bot.adapters.stores.directory import DirectoryPlace
from bot.adapters.stores.layered import LayeredStore
from bot.adapters.stores.object import ObjectPlace
from bot.adapters.stores.place import Place
from bot.model.errors import HistoryError
from tests.adapters.stores.samples import run


def main(kind: str, path: str, first: int, count: int, pairs: int) -> None:
    with tempfile.TemporaryDirectory(dir=os.environ.get("OWN")) as own:
        place: Place = DirectoryPlace(Path(path))
        if kind == "branch":
            place = BranchPlace(
                Remote(path, "refs/heads/suspects-history"),
                home=Path(own, "git"),
                cache=Cache(Path(own, "cache")),
                rng=np.random.default_rng(first),
            )
        elif kind == "object":
            place = ObjectPlace(path, cache=Cache(Path(own, "cache")))
        store = LayeredStore([place])
        for number in range(first, first + count):
            try:
                print(store.append(run(number, pairs=pairs)), flush=True)  # noqa: T201
            except HistoryError as error:
                print("refused:", error, flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
