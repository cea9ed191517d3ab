"""Utilisation profiles for people: lines for a terminal, a page with bars coloured by class of stressor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from bot.model.machines import CLASSES, CLASSES_OF, StressorClass
from bot.model.utilisation import ProfileChange, StressorShare, Utilisation
from bot.report.formats import clean, fraction, percent, probability_number, shorten
from bot.report.media import html
from bot.report.render import rendered
from bot.report.svg import drawn

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS: dict[StressorClass, str] = {
    "cpu": "#0072b2",
    "cache": "#56b4e9",
    "memory": "#009e73",
    "vm": "#e69f00",
    "device": "#8c8c8c",
    "ipc": "#cc79a7",
    "filesystem": "#d55e00",
    "network": "#8e5ac8",
    "scheduler": "#b0a000",
}
"""Of Okabe and Ito (2008) as far as they go: told apart with any colour vision, on light and on dark."""
MOST_BARS = 14
MOST_MACHINES = 30
WIDTH = 7.6
"""Inches."""
Bar = tuple[str, float, Sequence[StressorClass]]
"""Label, length and classes."""


def utilisation_text(found: Utilisation) -> str:
    """What is known, in lines."""
    return "\n".join(clean(line) for line in _lines(found)) + "\n"


def utilisation_page(found: Utilisation, *, name: str) -> str:
    """A self-contained HTML page: no script, no request."""
    pictures = [
        (caption, Markup(_drawn(bars, caption)))  # noqa: S704  escaped by matplotlib
        for caption, bars in _pictures(found)
        if bars
    ]
    lines = [clean(line) for line in _lines(found)]
    classes = {one for _, bars in _pictures(found) for _, _, of in bars for one in of}
    legend = [(one, COLOURS[one]) for one in CLASSES if one in classes]
    machines = found.machines[:MOST_MACHINES]
    return rendered(
        "profiles.html.j2",
        html,
        name=clean(name),
        lines=lines,
        pictures=pictures,
        legend=legend,
        machines=machines,
        more=len(found.machines) - len(machines),
        notes=found.notes,
    )


def _lines(found: Utilisation) -> Iterator[str]:
    profile = found.profile
    where = f"{len(found.machines)} machines of {found.types} types of hardware"
    of = found.revision or "all revisions"
    yield f"Utilisation profile of {of} ({found.metric}) over {where}"
    if profile.refusal:
        yield f"No profile. {profile.refusal}"
    else:
        yield f"error on hardware that was left out: {fraction(profile.error or 0.0)}"
        for share in profile.shares:
            yield f"  {fraction(share.share):>6}  {_stressor(share)}, in {fraction(share.selected)} of draws"
        yield "with what goes together on these machines taken as one:"
        for cluster in profile.clusters:
            if cluster.share > 0:
                low, high = (fraction(bound) for bound in cluster.interval)
                yield f"  {fraction(cluster.share):>6} ({low} to {high})  {', '.join(cluster.stressors)}"
        yield "by class: " + ", ".join(f"{name} {fraction(part)}" for name, part in profile.classes.items())
        factors = [f"{f.weight:+.2f} on ({f.stressors})" for f in profile.factors]
        yield "in terms of factors: " + "; ".join(factors)
    if found.published is not None:
        told = found.published
        yield (
            f"Published form (gradient boosting, mean of {told.seeds} seeds):"
            f" errors of {fraction(told.own_error)} where it was learnt, {fraction(told.error)} elsewhere"
        )
        for stressor, importance in list(told.importances.items())[:MOST_BARS]:
            yield f"  {importance:5.0f}  {stressor}"
    if found.change is not None:
        yield from _change(found.change)


def _change(change: ProfileChange) -> Iterator[str]:
    yield f"{change.base} -> {change.head}"
    if change.refusal:
        yield f"  Not compared. {change.refusal}"
    elif change.stressor is None:
        yield (
            f"  {percent(change.ratio or 1.0)} over {change.types} types of hardware;"
            f" the profile did not move (so much by chance: {probability_number(change.probability or 1.0)})"
        )
    else:
        low, high = (f"{100 * bound:+.0f}" for bound in change.interval)
        yield (
            f"  {percent(change.ratio or 1.0)} over {change.types} types of hardware; what moved goes with"
            f" {_stressor(change.stressor)}: {100 * change.stressor.share:+.0f} % of base's time"
            f" ({low} to {high}; by chance: {probability_number(change.probability or 1.0)})"
        )
    if change.ranked is not None:
        yield f"  Published comparison (for reference): not equivalent, first in {change.ranked}"


def _stressor(share: StressorShare) -> str:
    alike = f" or {', '.join(share.alike)}" if share.alike else ""
    return f"{share.stressor}{alike} [{', '.join(share.classes)}]"


def _pictures(found: Utilisation) -> list[tuple[str, list[Bar]]]:
    """Captions and bars."""
    profile = found.profile
    shares: list[Bar] = [(s.stressor, 100 * s.share, s.classes) for s in profile.shares]
    classes: list[Bar] = [(name, 100 * part, (name,)) for name, part in profile.classes.items()]
    told = found.published.importances if found.published else {}
    boosted: list[Bar] = [(n, value, CLASSES_OF.get(n, ())) for n, value in told.items()]
    return [
        ("Share of the time that goes with each stressor, %", shares),
        ("Share of the time by class, %", classes),
        ("Published form: importance relative to the largest", boosted[:MOST_BARS]),
    ]


def _drawn(bars: Sequence[Bar], caption: str) -> str:
    """Horizontal bars; a stressor of several classes has a stripe in the colour of each."""

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        for row, (_, length, classes) in enumerate(bars):
            stripes = classes or ("device",)
            height = 0.7 / len(stripes)
            for k, one in enumerate(stripes):
                axes.barh(row - 0.35 + height * (k + 0.5), length, height=height, color=COLOURS[one])
        axes.set_yticks(range(len(bars)), [shorten(label, 30) for label, _, _ in bars])
        axes.invert_yaxis()
        axes.set_xlabel(caption)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)

    spoken = "; ".join(f"{label} {length:.0f}" for label, length, _ in bars)
    return drawn((WIDTH, 0.7 + 0.28 * len(bars)), draw, alt=f"{caption}. {spoken}")
