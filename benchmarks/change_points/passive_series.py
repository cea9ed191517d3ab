"""Change points of single series by a passive peer, in the peer's own interpreter.

python passive_series.py ruptures|otava series.npy found.json; series: (n, commits), NaN: not known.
"""

from __future__ import annotations

import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

PENALTY = 2.5  # times the variance and the logarithm of the length: between BIC (2) and modified BIC (3)
LEAST_NOISE = 1e-6  # relative, where the series has none


def ruptures(values: Any) -> list[int]:
    """Exact segmentation of the logarithms (PELT in C, Gaussian mean), noise from neighbours' differences."""
    from ruptures import KernelCPD  # type: ignore[import-not-found]

    # Not a robust scale: it would call every outlier of heavy-tailed noise two change points.
    noise = float(np.std(np.diff(values))) / math.sqrt(2.0)
    penalty = PENALTY * max(noise, LEAST_NOISE) ** 2 * math.log(len(values))
    return [int(i) for i in KernelCPD(kernel="linear", min_size=2).fit(values).predict(pen=penalty)[:-1]]


def otava(values: Any) -> list[int]:
    """Its defaults: windows of 50, p < .001."""
    from otava.series import AnalysisOptions, Metric, Series  # type: ignore[import-not-found]

    series = Series(
        "s", None, list(range(len(values))), {"m": Metric()}, {"m": [float(v) for v in values]}, {}
    )
    return [int(p.index) for p in series.analyze(AnalysisOptions()).change_points["m"]]


def main() -> None:
    name, source, target = sys.argv[1:]
    method = {"ruptures": ruptures, "otava": otava}[name]
    found, started = [], time.process_time()
    for row in np.load(source):
        known = np.flatnonzero(~np.isnan(row))
        places = method(np.log(row[known])) if len(known) > 10 else []
        found.append([int(known[i]) for i in places])
    Path(target).write_text(json.dumps({"found": found, "cpu": time.process_time() - started}))


if __name__ == "__main__":
    main()
