"""Reports of ranges as real runs leave them, one per state a reader can see."""

from __future__ import annotations

import hashlib

from bot.model.report import (
    BuildFailure,
    ChangePoint,
    Environment,
    History,
    Listed,
    OptionValue,
    Point,
    Report,
    RevisionRef,
    Series,
    Spent,
    Visible,
    VisibleOption,
)
from bot.model.report_assertions import ProposedAssertions, ProposedEntry

REVISIONS = 40
DEFAULT: dict[str, OptionValue] = {"extreme": False, "threads": False, "check": "crc64", "level": 6}
SUBJECTS = {
    12: "Rewrite the buffer (#1234)",
    24: "Use `memcpy` where it pays",
    30: "Debug output",
    33: "Revert",
}
SIMULATED = "The trials are simulated or were measured elsewhere: nothing was built or run here."
CUT = "The search was cut short: changes may have been missed. Run it again with more time or trials."


def sha(place: int) -> str:
    """The id of the commit at a place of the range."""
    return hashlib.sha1(f"commit {place}".encode(), usedforsecurity=False).hexdigest()


def ref(place: int) -> RevisionRef:
    """A commit: every fourth is a release, the others go by the beginning of their id."""
    return RevisionRef(revision=sha(place), label=sha(place)[:10] if place % 4 else f"v5.{place // 4}")


def move(
    place: int, *term: str, ratio: float, first: int = -1, last: int = -1, **other: object
) -> ChangePoint:
    """A change point; `first` and `last` are the ends of its interval (itself unless told otherwise)."""
    first, last = (place if end < 0 else end for end in (first, last))
    at, low, high = ref(place), ref(first), ref(last)
    fields: dict[str, object] = {
        "revision": at.revision,
        "label": at.label,
        "subject": SUBJECTS.get(place, ""),
        "interval": (low.revision, high.revision),
        "interval_labels": (low.label, high.label),
        "before": ref(first - 1) if first else None,
        "places": (place, first, last),
        "metric": "cpu",
        "ratio_interval": (ratio - 0.01, ratio + 0.01),
        "probability": 0.998,
    } | other
    return ChangePoint.model_validate({"term": term, "ratio": ratio} | fields)


def series(
    *found: ChangePoint, start: float = 1.0, failed: tuple[int, ...] = (), **options: OptionValue
) -> Series:
    """A configuration measured at two revisions of three, which moves at these change points."""
    points = []
    for place in (p for p in range(REVISIONS) if p % 3 != 1 and p not in failed):
        value = start * (1.0 + 0.004 * (-1) ** (place % 7))
        for point in found:
            assert point.places is not None
            value *= point.ratio if place >= point.places[0] else 1.0
        points.append(Point(revision=sha(place), place=place, value=value, trials=2))
    return Series(options=DEFAULT | options, default=not options, points=tuple(points), failed=failed)


def flat() -> tuple[Series, ...]:
    """Three configurations that did not move."""
    return (series(), series(start=2.1, extreme=True), series(start=0.4, threads=True, level=0))


def bisection(**fields: object) -> Report:
    """A bisection of forty commits that found nothing, with these fields changed."""
    usual: dict[str, object] = {
        "mode": "bisect",
        "subject": "xz",
        "verdict": "none",
        "base": ref(0),
        "head": ref(REVISIONS - 1),
        "revisions": REVISIONS,
        "series": flat(),
        "spent": Spent(
            seconds=1312.0, build_seconds=204.0, trials=412, builds=31, failed_trials=0, budget_seconds=3600.0
        ),
        "environment": Environment(cpu="AMD EPYC 7763 64-Core Processor", cores=4, kernel="Linux 6.8.0"),
    }
    return Report.model_validate(usual | fields)


def several(**fields: object) -> Report:
    """A slow-down, one that may be at any of three commits, and an episode; some commits do not build."""
    slow = move(12, "extreme", ratio=1.23, aliases=(("level>=6",),))
    unsure = move(24, "check=crc64", "threads", ratio=0.9, first=22, last=25, probability=0.81)
    began = move(30, ratio=1.5, shape="transient")
    passed = move(33, ratio=1 / 1.5, shape="transient")
    failed = (8, 9, 10)
    shown = (
        series(began, passed, failed=failed),
        series(slow, began, passed, start=2.1, failed=failed, extreme=True),
        series(unsure, began, passed, start=0.4, failed=(*failed, 11, 21, 23), threads=True),
    )
    usual: dict[str, object] = {
        "verdict": "mixed",
        "change_points": (slow, unsure, began, passed),
        "series": shown,
        "notes": (f"3 of 40 revisions could not be built: {sha(9)[:10]}, {sha(10)[:10]}, v5.2.",),
    }
    return bisection(**usual | fields)


def slower() -> Report:
    """One commit made one option slower."""
    slow = move(12, "extreme", ratio=1.23)
    return bisection(
        verdict="regression", change_points=(slow,), series=(series(), series(slow, start=2.1, extreme=True))
    )


def faster(**fields: object) -> Report:
    """One commit made everything faster, another one option at the same time."""
    fast, also = move(24, ratio=0.8), move(24, "extreme", ratio=0.9)
    shown = tuple(
        s.model_copy(update={"unit": "ratio"}) for s in (series(fast), series(fast, also, extreme=True))
    )
    return bisection(**{"verdict": "improvement", "change_points": (fast, also), "series": shown} | fields)


def episode() -> Report:
    """Everything was slower for three commits."""
    began, passed = (
        move(place, ratio=ratio, shape="transient") for place, ratio in ((30, 1.5), (33, 1 / 1.5))
    )
    return bisection(verdict="mixed", change_points=(began, passed), series=(series(began, passed),))


def nothing(**fields: object) -> Report:
    """A search to its end that found nothing, and knows what it would have seen."""
    seen = (
        VisibleOption(option="extreme", slow_down=0.021),
        VisibleOption(option="threads", slow_down=0.034),
    )
    return bisection(**{"visible": Visible(options=seen)} | fields)


def cut_short() -> Report:
    """A search that ended before it found anything."""
    spent = Spent(seconds=31.0, trials=24, builds=6, build_seconds=44.0, budget_seconds=60.0)
    return bisection(verdict="inconclusive", interrupted="budget", spent=spent, notes=(CUT,))


def unmeasured() -> Report:
    """Every trial failed."""
    return bisection(
        verdict="inconclusive",
        series=(),
        spent=Spent(seconds=2.0, trials=12, failed_trials=12, budget_seconds=3600.0),
        notes=("Trials failed at 12 revisions: v5.0, v5.1 ...", CUT),
        interrupted="budget",
    )


def unbuilt() -> Report:
    """No revision could be built."""
    failure = BuildFailure(
        side="head", step="build", reason="it ended with exit code 2", log="cc: not found\n"
    )
    return bisection(
        verdict="inconclusive", series=(), spent=Spent(builds=4, build_seconds=9.0), build_failures=(failure,)
    )


def same() -> Report:
    """All revisions have the same files."""
    note = "All revisions have the same tree: nothing to measure."
    return bisection(series=(), spent=Spent(), environment=Environment(), notes=(note,))


def night() -> Report:
    """A night that confirmed one change and has plans."""
    slow = move(12, "extreme", ratio=1.23)
    return bisection(
        mode="nightly",
        verdict="regression",
        base=None,
        change_points=(slow,),
        series=(series(slow, start=2.1, extreme=True),),
        lists=(
            Listed(kind="learnt", items=("`extreme` became slower at v5.3, as last night suspected.",)),
            Listed(kind="unclear", items=("`threads` may be 1 % slower since v5.9.",)),
            Listed(
                kind="tomorrow",
                items=("Measure `threads` around v5.9.", "Try `check=none` for the first time."),
            ),
        ),
    )


def unclear_night() -> Report:
    """A night that saw something move and could not name it."""
    asked = Listed(kind="unclear", items=("`threads` may be slower since v5.6 to v5.9.",))
    return bisection(mode="nightly", verdict="inconclusive", lists=(asked,))


def short_night() -> Report:
    """A night whose budget ended before it had found anything."""
    return cut_short().model_copy(update={"mode": "nightly"})


def unexplained() -> Report:
    """A finished search in which configurations moved, each by itself."""
    note = "At `v5.6` something moved that no change above explains: 7 of 21 configurations by 8.7 %."
    return bisection(verdict="inconclusive", notes=(note, SIMULATED))


def quiet_night() -> Report:
    """A night without news, which compared its tip with an earlier commit."""
    return bisection(
        mode="nightly",
        visible=Visible(options=(VisibleOption(option="extreme", slow_down=0.03),), everything=0.02),
        lists=(Listed(kind="learnt", items=("Nothing new moved.",)), Listed(kind="unclear", items=())),
        proposed_assertions=proposal("parser:read", "store:Table.get"),
        history=History(source="branch", measurements=4812, newest="2026-02-11T03:12:44Z", age_days=1.4),
    )


def proposal(*methods: str) -> ProposedAssertions:
    """A change of the file of assertions: a new entry for each method, and one that is gone."""
    table = "{id}  {method}\n  e1: {method} > {method}\n  behavior  when  t < 1 ms  calls\n"
    entries = [
        ProposedEntry(id=f"{i:010}", method=m, change="new", table=table.format(id=i, method=m))
        for i, m in enumerate(methods)
    ]
    gone = ProposedEntry(id="ffffffffff", method=methods[0], change="gone", table="as it was\n")
    return ProposedAssertions(
        path=".github/suspects.assertions.yml",
        entries=(*entries, gone),
        text="version: 1\n",
        difference="".join(["--- a/file\n", "+++ b/file\n", *(f"+  method: {m}\n" for m in methods)]),
    )


def hostile(name: str) -> Report:
    """A range whose author chose every name, label, subject and note it could choose."""
    low, high = name, f"{name}2"
    point = ChangePoint(
        revision=name,
        label=name,
        subject=name,
        interval=(low, high),
        interval_labels=(low, high),
        before=RevisionRef(revision=name, label=name),
        places=(5, 4, 6),
        term=(name, f"!{name}x", f"{name}=3"),
        aliases=((name,),),
        metric=name[:100],
        ratio=1.3,
        probability=0.9,
    )
    whole = point.model_copy(update={"interval": (name, name), "term": (), "shape": "transient"})
    shown = (
        series().model_copy(update={"options": {name: name, f"{name}2": True, f"{name}3": False}}),
        series(),
    )
    return bisection(
        subject=name,
        verdict="regression",
        base=RevisionRef(revision=name, label=name),
        head=RevisionRef(revision=name, label=name),
        primary_metric=name[:100],
        change_points=(point, whole, point),
        series=shown,
        lists=tuple(Listed(kind=kind, items=(name[:4000],)) for kind in ("learnt", "unclear", "tomorrow")),
        proposed_assertions=proposal(name),
        notes=(name[:4000], f"cut short {name[:3900]}"),
        environment=Environment(cpu=name, kernel=name, image=name, tools={name: name}),
    )


def states() -> dict[str, Report]:
    """Name of each state -> its report."""
    return {
        "bisect_several": several(),
        "bisect_slower": slower(),
        "bisect_faster": faster(),
        "bisect_faster_but_cut_short": faster(interrupted="budget", notes=(CUT,)),
        "bisect_episode": episode(),
        "bisect_nothing": nothing(),
        "bisect_cut_short": cut_short(),
        "bisect_unexplained": unexplained(),
        "bisect_found_and_cut_short": several(interrupted="signal", notes=(CUT, SIMULATED)),
        "bisect_unmeasured": unmeasured(),
        "bisect_unbuilt": unbuilt(),
        "bisect_same_files": same(),
        "bisect_hostile": hostile(
            "`</td>`|@mona #12 <script>alert(1)</script> [a](http://b.example) \u202e$x$\n# a"
        ),
        "nightly": night(),
        "nightly_nothing": quiet_night(),
        "nightly_unclear": unclear_night(),
        "nightly_cut_short": short_night(),
    }
