"""The metrics that are decided on, and the leading candidate of any of them in a few words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bot.analysis.candidates import Candidates
from bot.analysis.watch import Watch


@dataclass(frozen=True)
class Rule:
    """A metric, which direction is better, and the margin as a ratio minus one."""

    name: str
    better: Literal["lower", "higher"]
    threshold: float


def leader(rules: Sequence[Rule], watches: Mapping[str, Watch]) -> str:
    """The best candidate so far, once it is ten times likelier than chance; else nothing."""
    best, text = math.log(10.0), ""
    for rule in rules:
        watch = watches[rule.name]
        score = watch.bettor.log_evidence[:, :2] + np.log(watch.found.prior)[:, None]
        row, column = np.unravel_index(int(np.argmax(score)), score.shape)
        if score[row, column] > best:
            best = float(score[row, column])
            text = _sentence(rule, watch.found, int(row), harm=column == 0)
    return text


def _sentence(rule: Rule, found: Candidates, row: int, *, harm: bool) -> str:
    """`slower with extreme`, `throughput lower in one configuration`, ..."""
    if rule.name in ("cpu", "wall"):
        text = "slower" if harm else "faster"
    else:
        text = f"{rule.name} {'higher' if harm == (rule.better == 'lower') else 'lower'}"
    match found.kinds[row]:
        case "everything":
            return f"{text} everywhere"
        case "configuration":
            return f"{text} in one configuration"
    return f"{text} with {' and '.join(found.terms[row])}"
