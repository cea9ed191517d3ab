"""Which claims of the published approach hold on its own measurements, over seeds and readings.

python -m benchmarks.resources.quiho [--seeds 20]

Needs the published measurements beside the project (../shared/data/quiho). The faithful form is run on two
readings of what a row of its training data is: every repetition on every machine, and every machine's mean.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.resources.quiho_data import (
    ENGINES,
    MARIADB,
    PATH,
    PROXIES,
    STREAM,
    Floats,
    applications,
    campaign,
    campaigns,
    results,
)
from bot.analysis.machines.comparing import ProfileComparison
from bot.analysis.machines.profile import FEWEST, UtilisationProfile
from bot.analysis.published.utilisation import PublishedProfile, ranked_difference
from bot.model.machines import CLASSES_OF

RESULTS = Path(__file__).parent / "results" / "quiho.md"
FIVE = 5
Importances = dict[str, Floats]
"""Stressor -> importance for each seed, and last the mean of all seeds."""


def importances(name: str, benchmark: str, test: str, *, reading: str, seeds: Sequence[int]) -> Importances:
    """Of the faithful form."""
    found, values = campaign(name), results(name, benchmark, test)
    if reading == "every repetition":
        rows = [
            (np.nan_to_num(found.rates[i, :, r]), values[i, r])
            for i, r in zip(*np.nonzero(np.isfinite(values)), strict=True)
            if np.isfinite(found.rates[i, :, r]).sum() > len(found.stressors) // 2
        ]
    else:
        rows = [
            (np.nan_to_num(np.nanmean(found.rates[i], axis=1)), np.nanmean(values[i]))
            for i in np.flatnonzero(np.isfinite(values).any(axis=1))
        ]
    fitted = PublishedProfile(seeds=seeds, judged=False).fit(
        np.array([x for x, _ in rows]), np.array([y for _, y in rows])
    )
    table = np.vstack([fitted.by_seed_, fitted.importances_])
    return {name: table[:, j] for j, name in enumerate(found.stressors)}


def first(found: Importances) -> list[str]:
    """The most important stressor of each seed."""
    names = list(found)
    return [names[j] for j in np.argmax([found[name] for name in names], axis=0)]


def ranked(found: Importances, seed: int, most: int) -> list[str]:
    return sorted(found, key=lambda name: -found[name][seed])[:most]


def claims(reading: str, seeds: Sequence[int]) -> list[tuple[str, list[bool]]]:
    """Each claim, and whether it holds in each seed, and in the mean."""

    def of(name: str, benchmark: str, test: str) -> Importances:
        return importances(name, benchmark, test, reading=reading, seeds=seeds)

    new, old = (of(MARIADB, f"mysqlslap-mariadb-{v}", "innodb_load") for v in ("10.3.2", "5.5.58"))
    memory = of(MARIADB, "mysqlslap-mariadb-10.3.2", "memory_load")
    each = range(len(seeds) + 1)
    appear = [
        all(s in ranked(old, k, FIVE) and old[s][k] > new[s][k] for s in ("rmap", "stackmmap")) for k in each
    ]
    engines = [one == "msync" and "msync" not in ranked(memory, k, FIVE) for k, one in enumerate(first(new))]
    told = [
        ("MariaDB: innodb's first is msync, which is not among the memory engine's first five", engines),
        ("MariaDB: rmap, stackmmap are among the first five in 5.5.58, and more than in 10.3.2", appear),
    ]
    learn = first(of(PROXIES, "scikit-learn", "scikit-learn"))
    told += [
        *(
            (f"{benchmark}: cache first", _are(first(of(PROXIES, benchmark, benchmark)), "cache"))
            for benchmark in ("hpccg", "ssca")
        ),
        ("scikit-learn: zero first", _are(learn, "zero")),
        ("(scikit-learn: cache first, which nobody claims)", _are(learn, "cache")),
    ]
    for test in ("SET", "GET"):
        redis = of(PROXIES, "redisbench", test)
        memories = [all({"memory", "vm"} & {*CLASSES_OF[s]} for s in ranked(redis, k, 3)) for k in each]
        told.append((f"Redis {test}: the first three stress memory", memories))
    one, thirty = (of(STREAM, "stream", f"add-{n}") for n in (1, 30))
    moved = [
        bool({"memory", "vm", "cache"} & {*CLASSES_OF[a]}) and CLASSES_OF[b] == ("cpu",)
        for a, b in zip(first(one), first(thirty), strict=True)
    ]
    up = [all(thirty[s][k] > one[s][k] for s in ("bsearch", "hsearch")) for k in each]
    told.append(("STREAM with 30 additions: first is pure CPU, with one it is not", moved))
    told.append(("STREAM: bsearch and hsearch matter more with 30 additions than with one", up))
    return told


def _are(found: list[str], wanted: str) -> list[bool]:
    return [one == wanted for one in found]


def _cell(holds: list[bool]) -> str:
    return f"{sum(holds[:-1])} of {len(holds) - 1} seeds, mean: {'yes' if holds[-1] else 'no'}"


def seeds_alone(seeds: Sequence[int]) -> list[str]:
    """What another seed does to profiles of the same data: overlap, and alarms of the ranked comparison."""
    overlaps, alarms, alarms_all, noise, real = [], [], [], [], []
    rng = np.random.default_rng(11)
    for name, benchmark, test in _some():
        found = importances(name, benchmark, test, reading="every machine's mean", seeds=seeds)
        table = np.array(list(found.values())).T[:-1]
        for a, b in pairwise(table):
            overlaps.append(len(set(np.argsort(-a)[:FIVE]) & set(np.argsort(-b)[:FIVE])) / FIVE)
            alarms.append(ranked_difference(a, b) is not None)
            alarms_all.append(ranked_difference(a, b, most=None) is not None)
        rates = np.nan_to_num(np.nanmean(campaign(name).rates, axis=2))
        pure = PublishedProfile(seeds=seeds[:5], judged=False).fit(
            rates, np.exp(rng.normal(0, 0.5, len(rates)))
        )
        noise.append(np.mean(np.sort(pure.by_seed_, axis=1)[:, -2]))
        real.append(np.mean(np.sort(table, axis=1)[:, -2]))
    return [
        f"Overlap of the five largest of two seeds: {np.mean(overlaps):.2f} ({len(overlaps)} pairs).",
        f"Ranked comparison (epsilon 10) of two seeds on the same data: {100 * np.mean(alarms):.0f} % not"
        f" equivalent in the first three features, {100 * np.mean(alarms_all):.0f} % in all (as published).",
        f"Second largest importance: {np.mean(real):.0f} of 100 for applications, {np.mean(noise):.0f} for"
        " pure noise: how peaked a profile is says nothing.",
    ]


def _some() -> list[tuple[str, str, str]]:
    return [
        (MARIADB, "mysqlslap-mariadb-10.3.2", "innodb_load"),
        (MARIADB, "mysqlslap-mariadb-5.5.58", "innodb_load"),
        *((PROXIES, benchmark, benchmark) for benchmark in ("hpccg", "ssca", "scikit-learn")),
        *((PROXIES, "redisbench", test) for test in ("SET", "GET")),
        *((STREAM, "stream", f"add-{n}") for n in (1, 30)),
    ]


def ours(name: str, benchmark: str, test: str, rng: np.random.Generator) -> tuple[UtilisationProfile, str]:
    """Our default of an application, and its shares or why there are none."""
    steady = campaign(name).steady()
    rates = np.nanmedian(steady.rates, axis=2)
    values = np.nanmedian(results(name, benchmark, test), axis=1)
    rows = np.flatnonzero(np.isfinite(values) & (values > 0))
    seconds = values[rows]
    # Nothing says which results are rates: those that grow with the machine's speed are.
    if np.corrcoef(np.log(seconds), np.nanmean(np.log(rates[rows]), axis=1))[0, 1] > 0:
        seconds = 1 / seconds
    fitted = UtilisationProfile(draws=20).fit(rates[rows], seconds, rng=rng)
    shares = [
        f"{steady.stressors[fitted.stressors_[j]]} {100 * fitted.shares_[j]:.0f} %"
        for j in np.argsort(-fitted.shares_)[:4].tolist()
        if fitted.shares_[j] > 0
    ]
    refused = f" (refused, {fitted.fitting_}-fitting)" if fitted.refusal_ else ""
    return fitted, ", ".join(shares) + refused


def defaults() -> list[str]:
    """Our default on the same applications, where there are enough types of hardware."""
    rng, lines, few, kept = np.random.default_rng(5), [], 0, 0
    for found in campaigns():
        for benchmark, test in applications(found.name):
            fitted, shares = ours(found.name, benchmark, test, rng)
            few += len(fitted.types_) < FEWEST
            kept += not fitted.refusal_
            if len(fitted.types_) < FEWEST or benchmark in ("fio", "stream"):
                continue
            lines.append(
                f"| {benchmark} {test} | {len(fitted.types_)} | {100 * fitted.error_:.0f} % | {shares} |"
            )
    return [
        f"{few} are refused for fewer than {FEWEST} types; {kept} get a profile. Without fio and STREAM:",
        "",
        "| application | types | error | shares |",
        "|---|---|---|---|",
        *lines,
    ]


def engines() -> str:
    """Our comparison of MariaDB's memory engine with innodb, loading."""
    found = campaign(ENGINES).steady()
    rates = np.nanmedian(found.rates, axis=2)
    base, head = (
        np.nanmedian(results(ENGINES, "mysqlslap", f"{engine}_load"), axis=1)
        for engine in ("memory", "innodb")
    )
    rows = np.flatnonzero(np.isfinite(base) & np.isfinite(head))
    compared = ProfileComparison().fit(rates[rows], base[rows], head[rows], rng=np.random.default_rng(7))
    moved = "nothing" if compared.moved_ is None else found.stressors[compared.moved_]
    way = "grew" if compared.grew_ else "shrank"
    return (
        f"MariaDB, memory engine to innodb, {len(compared.types_)} types: {compared.ratio_:.1f} times"
        f" the time; what {way} goes with {moved} (p = {compared.probability_:.4f})."
    )


def additions() -> list[str]:
    """STREAM as additions move it from memory to CPU, in our default."""
    rng = np.random.default_rng(6)
    lines = ["| additions | error | shares |", "|---|---|---|"]
    found = sorted(int(t[4:]) for b, t in applications(STREAM) if b == "stream" and t.startswith("add-"))
    for count in found:
        fitted, shares = ours(STREAM, "stream", f"add-{count}", rng)
        lines.append(f"| {count} | {100 * fitted.error_:.0f} % | {shares} |")
    return lines


def main(write: Callable[[str], None] = print) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    chosen = parser.parse_args()
    if not PATH.exists():
        write(f"{PATH} is not there: nothing to do.")
        return
    np.seterr(all="ignore")
    seeds = range(chosen.seeds)
    readings = ("every repetition", "every machine's mean")
    told = [claims(reading, seeds) for reading in readings]
    lines = [f"| claim | {' | '.join(readings)} |", "|---|---|---|"]
    lines += [
        f"| {rows[0][0]} | {' | '.join(_cell(holds) for _, holds in rows)} |"
        for rows in zip(*told, strict=True)
    ]
    lines += ["", *(f"* {line}" for line in seeds_alone(seeds))]
    lines += [
        "",
        "## STREAM, ours",
        "",
        *additions(),
        "",
        "## Applications, ours",
        "",
        engines(),
        "",
        *defaults(),
    ]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(
        "\n".join(["# Published claims on the published data", "", *lines, ""]), encoding="utf-8"
    )
    write(RESULTS.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
