"""Reports as real runs leave them, one per state a reader can see."""

from __future__ import annotations

from datetime import date

from bot.flows.history.accepting import Accepted, with_accepted
from bot.model.accepted import AcceptedChange
from bot.model.noise import Noise
from bot.model.report import (
    BuildFailure,
    ConfigurationChange,
    Effect,
    Environment,
    History,
    OptionValue,
    Report,
    Reproduction,
    RevisionRef,
    Spent,
    State,
    Suspects,
    Visible,
    VisibleOption,
)

BASE = RevisionRef(revision="4ac97a4b1d1a9a9b4ce1b2b1c2a4ed8d3b1b2a10", label="v5.16.6")
HEAD = RevisionRef(revision="9c6e7f10f5d06d6c3ba4f3c9f3eb0df7c7b0a7d2", label="pull request 1347")
DEFAULT: dict[str, OptionValue] = {
    "compress": True,
    "mangle": True,
    "reduce_vars": True,
    "toplevel": False,
    "unsafe": False,
    "passes": 1,
    "ecma": "es5",
    "source_map": False,
}
NO_HISTORY = "No history was read: this run stands on its own pairs, and prior probabilities are not known."
HISTORY = History(source="branch", measurements=4812, newest="2026-02-11T03:12:44Z", age_days=1.4)
ENVIRONMENT = Environment(
    cpu="AMD EPYC 7763 64-Core Processor",
    cores=4,
    kernel="Linux 6.8.0-1021-azure",
    image="ubuntu-24.04",
    tools={"node": "20.11.1", "git": "2.43.0"},
    load=(0.4, 2.2),
    noise=(
        Noise(metric="cpu", pairs=12, sd_percent=0.83, bias_percent=0.04),
        Noise(metric="max_rss", pairs=12, sd_percent=0.31, bias_percent=-0.01),
    ),
)
SPENT = Spent(
    seconds=171.2, build_seconds=38.4, trials=642, pairs=309, builds=2, failed_trials=0, budget_seconds=180.0
)
VISIBLE = Visible(
    options=(
        VisibleOption(option="compress", slow_down=0.011),
        VisibleOption(option="mangle", slow_down=0.012),
        VisibleOption(option="reduce_vars", slow_down=0.011),
        VisibleOption(option="toplevel", slow_down=0.013),
        VisibleOption(option="unsafe", slow_down=0.012),
        VisibleOption(option="passes", slow_down=0.018),
        VisibleOption(option="ecma", slow_down=0.016),
        VisibleOption(option="source_map", slow_down=0.012),
    ),
    everything=0.006,
    pairs_not_exercised=(("ecma=es2020", "passes=3"), ("!compress", "passes=3"), ("!mangle", "ecma=es2015")),
    pairs_not_exercised_count=3,
)


ACCEPTED: dict[str, object] = {
    "term": "compress+reduce_vars",
    "metric": "cpu",
    "reason": "smaller `output`, see #12",
}


def effect(*term: str, ratio: float, sure: float = 0.998, **other: object) -> Effect:
    """An effect with a plausible interval; significant and relevant unless told otherwise."""
    fields: dict[str, object] = {
        "metric": "cpu",
        "interval": (ratio - 0.004 - abs(ratio - 1) / 12, ratio + 0.004 + abs(ratio - 1) / 12),
        "significant": True,
        "relevant": True,
    } | other
    return Effect.model_validate({"term": term, "ratio": ratio, "probability": sure, **fields})


def changed(
    ratio: float | None, state: State, *, metric: str = "cpu", **options: OptionValue
) -> ConfigurationChange:
    """A configuration's outcome, given by its difference from the default one."""
    return ConfigurationChange(
        options=DEFAULT | options,
        default=not options,
        metric=metric,
        ratio=ratio,
        interval=None if ratio is None else (ratio - 0.011, ratio + 0.011),
        pairs=0 if ratio is None else 9,
        state=state,
    )


def report(**fields: object) -> Report:
    """A run of the kind most people see, with these fields changed."""
    usual: dict[str, object] = {
        "mode": "pull_request",
        "subject": "terser",
        "verdict": "none",
        "base": BASE,
        "head": HEAD,
        "spent": SPENT,
        "environment": ENVIRONMENT,
        "history": HISTORY,
        "visible": VISIBLE,
        "configurations": unchanged(),
        "notes": (),
    }
    return Report.model_validate(usual | fields)


def unchanged() -> tuple[ConfigurationChange, ...]:
    """Eight configurations that did not move."""
    return (
        changed(1.001, "same"),
        changed(0.998, "same", mangle=False),
        changed(1.003, "same", toplevel=True),
        changed(1.0, "same", unsafe=True, source_map=True),
        changed(1.002, "same", passes=3),
        changed(0.999, "same", ecma="es2020"),
        changed(1.006, "unclear", ecma="es2015", passes=2),
        changed(1.0, "same", compress=False, reduce_vars=False),
    )


def slower() -> tuple[ConfigurationChange, ...]:
    """Eight configurations of which those with reduce_vars became slower."""
    return (
        changed(1.31, "slower"),
        changed(1.342, "slower", mangle=False),
        changed(1.336, "slower", toplevel=True),
        changed(1.281, "slower", unsafe=True, source_map=True),
        changed(1.402, "slower", passes=3),
        changed(1.002, "same", reduce_vars=False),
        changed(1.006, "unclear", ecma="es2015", reduce_vars=False),
        changed(0.999, "same", compress=False, reduce_vars=False),
    )


def reproduction(**options: OptionValue) -> Reproduction:
    """The commands of one flagged configuration."""
    switches = [f" --{name}" for name, value in options.items() if value is True and name != "reduce_vars"]
    passes = f",passes={options['passes']}" if "passes" in options else ""
    arguments = f"--compress reduce_vars=true{passes}{''.join(switches)}"
    run = f"time node bin/terser {arguments} ../suspects-base/bench/bundle.js > /dev/null"
    return Reproduction(
        options=DEFAULT | options,
        commands=(
            f"git worktree add --detach ../suspects-base {BASE.revision}",
            f"git worktree add --detach ../suspects-head {HEAD.revision}",
            "(cd ../suspects-base && npm ci && npm run build)",
            "(cd ../suspects-head && npm ci && npm run build)",
            f"(cd ../suspects-base && {run})",
            f"(cd ../suspects-head && {run})",
        ),
    )


def regression(**fields: object) -> Report:
    """One pair of options became slower; memory followed."""
    named = (
        effect("compress", "reduce_vars", ratio=1.338, aliases=(("!fast", "reduce_vars"),), prior=0.06),
        effect("passes=3", ratio=1.041, sure=0.38, significant=False, prior=0.03),
        effect("reduce_vars", ratio=1.062, sure=0.93, metric="max_rss", prior=0.02),
    )
    return report(
        **{
            "verdict": "regression",
            "effects": named,
            "suspects": Suspects(options=named),
            "configurations": slower(),
            "reproduce": (reproduction(), reproduction(toplevel=True)),
        }
        | fields
    )


def accepted(*entries: dict[str, object]) -> Report:
    """The same slow-down, of which people accepted some."""
    found = tuple(AcceptedChange.model_validate({"until": "2027-03-31"} | one) for one in entries)
    return with_accepted(regression(), Accepted(date(2026, 11, 21), found))


def improvement() -> Report:
    """Everything with source maps became faster."""
    named = (effect("source_map", ratio=0.881, interval=(0.868, 0.894), prior=0.04),)
    moved = (changed(0.88, "faster", source_map=True), changed(0.884, "faster", unsafe=True, source_map=True))
    return report(
        verdict="improvement",
        effects=named,
        suspects=Suspects(options=named),
        configurations=(*unchanged()[:3], *moved, *unchanged()[4:]),
        reproduce=(reproduction(source_map=True),),
    )


def spared() -> Report:
    """All became faster but those who use neither of two options."""
    named = (effect(ratio=0.952, interval=(0.946, 0.958), spared=(("!source_map", "!unsafe"),)),)
    moved = (changed(0.948, "faster", source_map=True), changed(0.953, "faster", unsafe=True))
    return report(
        verdict="improvement",
        effects=named,
        suspects=Suspects(options=named),
        configurations=(*unchanged()[:4], *moved),
        reproduce=(reproduction(source_map=True),),
    )


def mixed() -> Report:
    """Slower without mangling, faster with several passes."""
    named = (
        effect("!mangle", ratio=1.083, sure=0.997),
        effect("passes=3", ratio=0.871, sure=0.994),
    )
    moved = (changed(1.081, "slower", mangle=False), changed(0.872, "faster", passes=3))
    return report(
        verdict="mixed",
        effects=named,
        suspects=Suspects(options=named),
        configurations=(unchanged()[0], *moved, *unchanged()[5:]),
        reproduce=(reproduction(mangle=False), reproduction(passes=3)),
    )


def inconclusive(**fields: object) -> Report:
    """Something may have moved, but the run was too short to tell."""
    doubtful = (effect("toplevel", ratio=1.029, sure=0.41, interval=(0.993, 1.066), significant=False),)
    return report(
        **{
            "verdict": "inconclusive",
            "effects": doubtful,
            "suspects": Suspects(options=doubtful),
            "visible": VISIBLE.model_copy(
                update={"options": (*VISIBLE.options[:6], VisibleOption(option="ecma", slow_down=None))}
            ),
            "notes": (
                "To settle it: about 4 more minutes, most of them on configurations with `toplevel` on.",
            ),
        }
        | fields
    )


def pointed() -> Report:
    """Its pairs are too few for an alarm, and point at a pair of options."""
    seen = (effect("compress", "unsafe", ratio=1.162, sure=0.994, significant=False),)
    return inconclusive(effects=(), suspects=Suspects(options=seen))


def unbuilt(*sides: str) -> Report:
    """Neither or one side could be built, so nothing was measured."""
    error = "\x1b[31m[!] Error: Unexpected token (142:7)\x1b[0m\nlib/compress/index.js (142:7)\n"
    log = f"> terser@5.16.8 build\n> rollup -c\n\n{error}"
    failures = tuple(
        BuildFailure.model_validate(
            {"side": s, "step": "build", "reason": "it ended with exit code 1", "log": log}
        )
        for s in sides
    )
    return report(
        verdict="inconclusive",
        build_failures=failures,
        spent=Spent(build_seconds=21.3, builds=2),
        environment=Environment(),
        visible=Visible(),
        configurations=(),
    )


def failing() -> Report:
    """Some configurations crash at head."""
    crash = changed(None, "failed", unsafe=True).model_copy(
        update={
            "failed_pairs": 4,
            "failure": "head ended with exit code 1: TypeError: node.expand is not a function",
        }
    )
    return report(
        spent=SPENT.model_copy(update={"failed_trials": 4}),
        configurations=(*unchanged()[:2], crash, *unchanged()[4:]),
    )


def head_broken() -> Report:
    """Head crashes where two values meet, and nothing is slower elsewhere."""
    broken = {"failed_pairs": 2, "failed_sides": ("head",), "failure": "head: killed by SIGSEGV"}
    meet = [
        changed(None, "failed", unsafe=True, passes=3, level=n).model_copy(update=broken) for n in (1, 2, 3)
    ]
    apart = [
        changed(1.0, "same", unsafe=unsafe, passes=passes, level=n)
        for n in range(8)
        for unsafe, passes in ((True, 1), (False, 3))
    ]
    return report(
        spent=SPENT.model_copy(update={"failed_trials": 6}),
        configurations=(*unchanged()[:1], *meet, *apart),
    )


def unmeasured() -> Report:
    """Every trial failed."""
    crash = changed(None, "failed").model_copy(
        update={"failed_pairs": 3, "failure": "both sides ended with exit code 127: node: not found"}
    )
    return report(
        verdict="inconclusive",
        spent=Spent(
            seconds=4.2, build_seconds=38.4, trials=6, failed_trials=6, builds=2, budget_seconds=180.0
        ),
        environment=ENVIRONMENT.model_copy(update={"noise": ()}),
        visible=Visible(),
        configurations=(crash,),
    )


def equal() -> Report:
    """Base and head have the same tree."""
    return report(
        spent=Spent(),
        environment=Environment(),
        visible=Visible(),
        configurations=(),
        notes=("Base and head have the same tree: nothing to measure.",),
    )


TAKEN_BACK = (
    "History: this pull request takes back what made base 12.4 % worse in cpu (source_map) since `v5.30.1`."
)


def states() -> dict[str, tuple[Report, bool]]:
    """Name of each state -> its report, and whether it came from a fork."""
    few = SPENT.model_copy(update={"pairs": 34, "trials": 72, "seconds": 21.8})
    return {
        "regression": (regression(), False),
        "improvement": (improvement(), False),
        "spared": (spared(), False),
        "mixed": (mixed(), False),
        "none": (report(), False),
        "inconclusive": (inconclusive(), False),
        "inconclusive_pointed": (pointed(), False),
        "no_history": (report(history=History(), notes=(NO_HISTORY,)), False),
        "base_unbuilt": (unbuilt("base"), False),
        "head_unbuilt": (unbuilt("head"), False),
        "both_unbuilt": (unbuilt("base", "head"), False),
        "trials_failed": (failing(), False),
        "head_broken": (head_broken(), False),
        "nothing_measured": (unmeasured(), False),
        "budget_spent": (inconclusive(interrupted="budget", spent=few), False),
        "interrupted": (report(interrupted="signal", spent=few), False),
        "fork": (regression(), True),
        "equal_trees": (equal(), False),
        "accepted": (
            accepted({**ACCEPTED, "at_most": "40%"}, {"term": "reduce_vars", "metric": "max_rss"}),
            False,
        ),
        "accepted_partly": (accepted(ACCEPTED), False),
        "taken_back": (improvement().model_copy(update={"notes": (TAKEN_BACK,)}), False),
    }
