"""Reports that blame methods: of a Python and a native program, of several configurations, of strangers."""

from __future__ import annotations

from bot.model.report import OptionValue, Report, Suspects
from bot.model.report_methods import ComparedProfile, FlameNode, MethodSuspect
from tests.unit.report.builders import DEFAULT, changed, effect, regression, report

REPOSITORY = "https://github.com/terser/terser"


def method(name: str, share: float, **other: object) -> MethodSuspect:
    """A method that became slower, with a plausible interval of its share."""
    usual: dict[str, object] = {
        "file": "lib/compress/index.js",
        "line": 412,
        "base_self_seconds": 0.12,
        "head_self_seconds": 0.12 + 0.38 * share,
        "calls": (10_412, 10_412),
        "interval": (share - 0.08, share + 0.07),
        "options": DEFAULT,
    }
    return MethodSuspect.model_validate(
        usual | {"method": name, "share_of_change": share, "change": "slower"} | other
    )


BLIND = "Built-in and C functions count to the Python function that calls them."


def profile(*flame: tuple[str, int, float, float], **other: object) -> ComparedProfile:
    """A flagged configuration's profile: 0.38 s slower, 12 % of it unexplained."""
    nodes = tuple(FlameNode(method=m, parent=p, base=b, head=h) for m, p, b, h in flame)
    usual: dict[str, object] = {
        "options": DEFAULT,
        "tool": "cProfile 3.12",
        "blind": (BLIND,),
        "change_seconds": 0.38,
        "unexplained": 0.12,
        "overhead": 1.42,
        "flame": nodes,
    }
    return ComparedProfile.model_validate(usual | other)


def blaming(*methods: MethodSuspect, **fields: object) -> Report:
    """The usual regression, with these methods behind it."""
    found = regression()
    suspects = Suspects(options=found.suspects.options, methods=methods)
    return regression(**{"suspects": suspects, "repository": REPOSITORY} | fields)


FLAME = (
    ("cli:main", -1, 1.22, 1.60),
    ("terser.minify:minify", 0, 1.20, 1.58),
    ("terser.parse:parse", 1, 0.40, 0.40),
    ("terser.compress:Compressor.compress", 1, 0.70, 1.07),
    ("terser.compress:Compressor.before", 3, 0.12, 0.43),
    ("terser.compress:drop_unused", 3, 0.20, 0.22),
    ("terser.output:OutputStream.print", 1, 0.08, 0.08),
)


def of_python() -> Report:
    """One method explains most, a second one is called more often; an unflagged control did not move."""
    return blaming(
        method(
            "terser.compress:Compressor.before",
            0.81,
            callers=("cli:main", "terser.minify:minify", "terser.compress:Compressor.compress"),
            terms=(("reduce_vars",), ("compress", "passes=3")),
            file="terser/compress.py",
            restored=0.93,
            restored_interval=(0.86, 1.01),
        ),
        method("terser.compress:drop_unused", 0.07, calls=(1_204, 2_408), file="terser/compress.py", line=88),
        profiles=(
            profile(*FLAME),
            profile(
                options=DEFAULT | {"reduce_vars": False}, control=True, change_seconds=0.0, unexplained=None
            ),
        ),
    )


def of_native() -> Report:
    """A renamed, a new and a vanished function, in three flagged configurations."""
    slow = DEFAULT | {"passes": 3}
    renamed = method(
        "lzma_mf_hc4_find",
        0.44,
        file="src/liblzma/lz/lz_encoder_mf.c",
        line=522,
        was="lzma_mf_hc_find",
        instructions=(3_104_882_113, 3_904_120_008),
        callers=("main", "coder_run", "lzma_code", "lz_encode", "lzma_lzma_optimum_fast"),
    )
    new = method(
        "mf_skip_raw",
        0.51,
        change="new",
        base_self_seconds=0.0,
        head_self_seconds=0.19,
        calls=(0, 88_412),
        instructions=(0, 812_004_120),
        file="src/liblzma/lz/lz_encoder_mf.c",
        line=601,
    )
    gone = method(
        "mf_fill",
        -0.06,
        change="vanished",
        base_self_seconds=0.02,
        head_self_seconds=0.0,
        calls=(412, 0),
        instructions=(40_120_008, 0),
        file="src/liblzma/lz/lz_encoder_mf.c",
        line=77,
    )
    elsewhere = tuple(m.model_copy(update={"options": slow}) for m in (new, renamed))
    tool = "callgrind 3.19"
    options = tuple(DEFAULT | {"ecma": f"es{year}"} for year in range(2015, 2020))
    return blaming(
        new,
        renamed,
        gone,
        *elsewhere,
        *(new.model_copy(update={"options": one}) for one in options),
        profiles=(
            profile(tool=tool, overhead=41.3, unexplained=0.11),
            profile(options=slow, tool=tool, overhead=40.2, unexplained=0.05),
            *(profile(options=one, tool=tool, overhead=40.8, unexplained=0.49) for one in options),
        ),
    )


def of_depth() -> Report:
    """A deep and wide flame graph with names of many kinds."""
    names = (
        "package.module:Class.{}WIDE_METHOD",
        "std::vector<std::pair<{}, W>>::push_back(MMM)",
        "名前の長い関数{}",
        "org.example.Main{}.run",
        "f{}",
        "<module {}>",
        "(anonymous {}) in web/lib/index.js",
    )
    tree, above = [("main", -1, 64.0, 70.0)], [0]
    for depth in range(1, 7):
        row = []
        for parent in above:
            cost = tree[parent][2] / 2
            for side in range(2):
                row.append(len(tree))
                name = names[len(tree) % len(names)].format(len(tree))
                tree.append((name, parent, cost, cost * (1 + depth * side / 50)))
        above = row
    return blaming(method("f4", 0.9), profiles=(profile(*tree),))


def of_nobody() -> Report:
    """Profiles were compared and no method stands out."""
    return blaming(profiles=(profile(unexplained=1.0),))


def of_improvement() -> Report:
    """A method became faster, and with it everything."""
    named = (effect(ratio=0.81),)
    faster = method(
        "std::vector<std::pair<int, char>>::push_back",
        0.92,
        change="faster",
        base_self_seconds=0.5,
        head_self_seconds=0.15,
        file=None,
        line=None,
        calls=(None, None),
    )
    return report(
        verdict="improvement",
        effects=named,
        suspects=Suspects(options=named, methods=(faster,)),
        configurations=(changed(0.81, "faster"),),
        profiles=(profile(change_seconds=-0.38, unexplained=0.08),),
    )


def of_strangers(name: str, *, options: dict[str, OptionValue] = DEFAULT) -> Report:
    """Every name that a profile holds was chosen by somebody."""
    one = method(
        name,
        0.9,
        file=name,
        was=name,
        callers=(name,) * 12,
        terms=((name,),),
        options=options,
        calls=(1, 2),
        instructions=(1, 2),
    )
    other = one.model_copy(update={"options": options | {name: True}})
    control = one.model_copy(update={"options": options | {name: name}})
    flame = ((name, -1, 1.0, 2.0), (name, 0, 0.5, 2.0), (name, 1, 0.5, 0.0))
    return blaming(
        one,
        one.model_copy(update={"change": "new"}),
        one.model_copy(update={"change": "vanished"}),
        other,
        control,
        profiles=(
            profile(*flame, options=options, tool=name),
            profile(*flame, options=other.options, tool=name),
            profile(*flame, options=control.options, control=True),
        ),
    )


def states() -> dict[str, tuple[Report, bool]]:
    """Name of each state -> its report, and whether it came from a fork."""
    return {
        "methods_python": (of_python(), False),
        "methods_native": (of_native(), False),
        "methods_none": (of_nobody(), False),
        "methods_improvement": (of_improvement(), False),
        "methods_hostile": (
            of_strangers("std::map<`a|b`, *[x](http://evil.example)*> <img src=x> @mona #12"),
            True,
        ),
    }
