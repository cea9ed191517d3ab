"""Adds searches up and writes the tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.change_points.cases import CASES, NULLS, ROWS, Row
from benchmarks.change_points.matching import LARGE, Count, count
from benchmarks.rates import upper_bound

Run = Mapping[str, Any]
FEWEST = 28_000  # distinct trials of the published reference implementation, at its cheapest
OWN = Path(__file__).parent / "results" / "published.jsonl"

HEAD = """# Change points over commits and terms

`python -m benchmarks.change_points.run`. {codes}.

A step counts as found when the whole term is right (terms that hold in the same valid configurations are
one) and its revision is within 5 commits of where the change can first be measured, one to one. Steps of
one place that say the same only together (`a` slower and `b` faster, for `!a` faster and `!b` slower: the
same change of every valid configuration, in as many terms) count, too, whoever tells them. The size of a
step is the relative change of the run time in the smallest valid configuration that holds the term.
F1: all systems of the row added up; then mean, and median (quartiles) over systems. At 10 %: steps of
that size or more; a smaller true step that is found is neither right nor wrong there. Exact: share of
the found ones at the very commit. Trials: all that were made, repetitions included; `of published`: over
the 28 k distinct ones that the reference implementation needs at its cheapest. Cut: searches ended by
the benchmark's limits, or by an error."""


def markdown(runs: Mapping[str, Sequence[Run]], codes: Mapping[str, str]) -> str:
    """All tables, of the runs of each estimator."""
    ours = runs["ours"]
    lines = [HEAD.format(codes=", ".join(f"Code of {k}: {v}" for k, v in codes.items())), ""]
    lines += [
        "| systems | runs | F1 | at 10 % | exact | precision | recall | trials | of published | CPU s | MB "
        "| cut | wanted |",
        "|" + "---|" * 13,
    ]
    lines += [_row(row, own) for row in ROWS if (own := of(row, ours))]
    lines += ["", "The published algorithm on the same kinds of systems:", "", *_published(runs["published"])]
    lines += ["", "Systems in which nothing ever changes:", "", *_quiet(runs)]
    hard = [r for row in ROWS[4:7] for r in of(row, ours)]
    if hard:
        lines += ["", "Inside the hard kind (ours):", "", *_inside(hard)]
    lines += ["", "What a stated probability is worth (ours, all rows):", "", *_calibration(ours)]
    lines += _errors(ours)
    return "\n".join(lines)


def of(row: Row, runs: Sequence[Run]) -> list[Run]:
    """The runs of a row."""
    return [r for r in runs if r["row"] == row.name]


def total(runs: Iterable[Run], **kind: Any) -> Count:
    """All hits, false alarms and misses."""
    return sum((count(dict(r), **kind) for r in runs), Count(0, 0, 0))


def quartiles(values: Iterable[float], pattern: str = "{:.2f}") -> str:
    """Median (quartiles)."""
    low, middle, high = np.quantile(list(values), [0.25, 0.5, 0.75])
    return f"{pattern.format(middle)} ({pattern.format(low)}-{pattern.format(high)})"


def exact(runs: Iterable[Run]) -> float:
    """Share of the found steps that are at the very commit."""
    off = [s["off"] for r in runs for s in r["steps"] if s["off"] is not None]
    return float(np.mean([o == 0 for o in off])) if off else float("nan")


def _f1(runs: Sequence[Run], **kind: Any) -> str:
    each = [count(dict(r), **kind).f1 for r in runs]
    return f"**{total(runs, **kind).f1:.3f}**; {np.mean(each):.2f}; {quartiles(each)}"


def _row(row: Row, own: Sequence[Run]) -> str:
    all_steps = total(own)
    trials = [r["trials"] for r in own if not r.get("error")]
    wanted = [f"F1 >= {row.f1}"] if row.f1 else []
    wanted += [f"at 10 % >= {row.large}"] if row.large else []
    wanted += [f"trials <= {row.trials:.0%}"] if row.trials else []
    cells = [
        row.name,
        str(len(own)),
        _f1(own),
        _f1(own, least=LARGE),
        f"{exact(own):.3f}",
        f"{all_steps.precision:.3f}",
        f"{all_steps.recall:.3f}",
        quartiles(trials or [np.nan], "{:.0f}"),
        f"{np.median(trials or [np.nan]) / FEWEST:.1%}",
        quartiles((r["cpu"] for r in own), "{:.1f}"),
        f"{max(r['megabytes'] for r in own):.0f}",
        str(sum(r["cut"] for r in own)),
        ", ".join(wanted),
    ]
    return f"| {' | '.join(cells)} |"


def _published(runs: Sequence[Run]) -> list[str]:
    lines = [
        "| systems | runs | F1 | at 10 % | exact | distinct trials, k | CPU s | from |",
        "|" + "---|" * 8,
    ]
    for row in ROWS:
        own = of(row, runs)
        if own:
            distinct = quartiles((r["distinct"] / 1000 for r in own), "{:.0f}")
            cpu = quartiles((r["cpu"] for r in own), "{:.0f}")
            cells = [
                row.name,
                str(len(own)),
                _f1(own),
                _f1(own, least=LARGE),
                f"{exact(own):.3f}",
                distinct,
                cpu,
            ]
            lines.append(f"| {' | '.join(cells)} | this benchmark |")
        cells_of_row = {c.cell.name for c in CASES if c.row == row.name and c.cell}
        lines += _experiment(row, cells_of_row)
    return lines


def _experiment(row: Row, cells: set[str]) -> list[str]:
    """The same cells in the published algorithm's own experiment, where it has them."""
    lines = OWN.read_text().splitlines() if OWN.exists() else []
    own = [r for r in map(json.loads, lines) if r["cell"] in cells]
    if not own:
        return []
    f1 = [r["exact"]["f1"] for r in own]
    distinct = quartiles((r["distinct"] / 1000 for r in own), "{:.0f}")
    cpu = quartiles((r["cpu"] for r in own), "{:.0f}")
    cells_text = [row.name, str(len(own)), f"{np.mean(f1):.2f}; {quartiles(f1)}", "", "", distinct, cpu]
    return [f"| {' | '.join(cells_text)} | published.md, {len({r['cell'] for r in own})} cells |"]


def _quiet(runs: Mapping[str, Sequence[Run]]) -> list[str]:
    lines = [
        "| systems | by | runs | with an alarm [95 % upper bound] | alarms a run | trials | CPU s |",
        "|" + "---|" * 7,
    ]
    for row in NULLS:
        for estimator, every in runs.items():
            own = of(row, every)
            if not own:
                continue
            n, alarms = len(own), [len(r["found"]) for r in own]
            some = sum(a > 0 for a in alarms)
            rate = f"{some / n:.1%} [{upper_bound(some, n):.1%}]"
            cells = [row.name, estimator, str(n), rate, f"{np.mean(alarms):.2f}"]
            cells += [
                quartiles((r["trials"] for r in own), "{:.0f}"),
                quartiles((r["cpu"] for r in own), "{:.1f}"),
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def _inside(runs: Sequence[Run]) -> list[str]:
    """Recall by what makes a step hard."""
    kinds: dict[str, Callable[[Mapping[str, Any]], bool]] = {
        "everything": lambda s: not s["term"],
        "one level": lambda s: len(s["term"]) == 1,
        "two levels": lambda s: len(s["term"]) == 2,
        "three levels": lambda s: len(s["term"]) == 3,
        "with a negated level": lambda s: any(t.startswith("!") for t in s["term"]),
        "with a value": lambda s: any("=" in t and ">=" not in t for t in s["term"]),
        "with a threshold": lambda s: any("<" in t or ">=" in t for t in s["term"]),
        "of an episode that passed": lambda s: s["passing"],
        "cancelled by another": lambda s: s["cancelled"],
        "first measurable later": lambda s: s["high"] > s["low"],
        "3-10 %": lambda s: abs(s["size"]) < 0.10,
        "10-20 %": lambda s: 0.10 <= abs(s["size"]) < 0.20,
        "20 % or more": lambda s: abs(s["size"]) >= 0.20,
    }
    steps = [s for r in runs for s in r["steps"]]
    lines = ["| steps | true | found | found of those >= 10 % |", "|---|---|---|---|"]
    for name, fits in kinds.items():
        own = [s for s in steps if fits(s)]
        large = [s for s in own if abs(s["size"]) >= LARGE]
        if own:
            rates = [_rate(s["off"] is not None for s in some) for some in (own, large)]
            lines.append(f"| {name} | {len(own)} | {rates[0]} | {rates[1]} |")
    failures = sum(r["failures"] for r in runs)
    named = sum(r["failures_named"] for r in runs)
    lasting = total(runs, least=LARGE, passing=False)
    lines += [
        "",
        f"F1 at 10 % without episodes that passed: {lasting.f1:.3f}. "
        f"Runs of failures named: {named} of {failures}, by another term: "
        f"{sum(r['failures_false'] for r in runs)}. "
        f"Found in other words: {sum(r['reworded'] for r in runs)}; "
        f"terms not in their shortest form: {sum(r['uncanonical'] for r in runs)}.",
    ]
    return lines


def _rate(flags: Iterable[bool]) -> str:
    known = list(flags)
    return f"{np.mean(known):.2f}" if known else ""


def _calibration(runs: Sequence[Run]) -> list[str]:
    claims = [(p, r) for r in runs for p in r["found"]]
    lines = [
        "| stated | n | mean stated | true | revision inside the 90 % interval |",
        "|---|---|---|---|---|",
    ]
    for low, high in ((0.0, 0.5), (0.5, 0.9), (0.9, 0.99), (0.99, 0.999), (0.999, 1.01)):
        own = [(p, r) for p, r in claims if low <= p["probability"] < high]
        if own:
            inside = [
                p["interval"][0] <= s["high"] and s["low"] <= p["interval"][1]
                for p, r in own
                if p["true"] is not None
                for s in [r["steps"][p["true"]]]
            ]
            stated = float(np.mean([p["probability"] for p, _ in own]))
            true = _rate(p["true"] is not None for p, _ in own)
            lines.append(
                f"| {low} to {min(high, 1.0)} | {len(own)} | {stated:.3f} | {true} | {_rate(inside)} |"
            )
    return lines


def _errors(runs: Sequence[Run]) -> list[str]:
    errors = [f"{r['case']}, seed {r['seed']}: {r['error']}" for r in runs if r.get("error")]
    return ["", f"Errors ({len(errors)}):", "", *(f"- {e}" for e in errors[:10])] if errors else []
