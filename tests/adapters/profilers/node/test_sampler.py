"""Coarse profiles of Node programs: who takes the time, how often, under which name."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bot.adapters.profilers.call_tree import CallTree, tree_costs
from bot.adapters.profilers.node.preloading import run_hooked
from bot.adapters.profilers.node.sampler import NodeSampler, SampledReport, graft, tell_sampled
from bot.adapters.profilers.node.sources import Frame
from bot.model.profiles import Method, MethodCost, Profile
from tests.adapters.profilers.node.conftest import MakeTarget

BURN = "function burn(ms) { const end = Date.now() + ms; while (Date.now() < end); }\n"


def cost(profile: Profile, name: str) -> MethodCost:
    """The cost of the one method of this name."""
    (found,) = [c for m, c in profile.methods.items() if m.name == name]
    return found


def names(profile: Profile) -> set[str]:
    return {m.name for m in profile.methods}


def test_a_profile_names_who_takes_the_time_and_counts_the_calls(make_target: MakeTarget) -> None:
    program = BURN + "\n".join(
        [
            "class Press { squeeze(n) { for (let i = 0; i < n; i++) this.turn(); } turn() { burn(15); } }",
            "function idle() { return 1; }",
            "new Press().squeeze(20); for (let i = 0; i < 7; i++) idle();",
        ]
    )
    profile = NodeSampler().profile(make_target({"lib/press.js": program}, "node", "lib/press.js"))
    assert profile.outcome == "ok"
    assert (cost(profile, "lib/press:burn").running_share or 0) > 0.5
    assert cost(profile, "lib/press:Press.turn").calls == 20
    assert cost(profile, "lib/press:idle").calls == 7
    squeeze, burn = cost(profile, "lib/press:Press.squeeze"), cost(profile, "lib/press:burn")
    assert squeeze.self_seconds is not None and burn.self_seconds is not None
    assert squeeze.self_seconds < burn.self_seconds
    assert (squeeze.total_seconds or 0) >= burn.self_seconds
    edges = {(a.name, b.name) for a, b in profile.edges}
    assert ("lib/press:Press.squeeze", "lib/press:Press.turn") in edges
    assert {m.file for m in profile.methods if m.name.startswith("lib/press:")} == {"lib/press.js"}
    assert [m.line for m in profile.methods if m.name == "lib/press:Press.turn"] == [2]
    assert 0.5 < sum(c.self_share for c in profile.methods.values()) <= 1.0001


def test_shares_are_of_all_that_the_process_costs(make_target: MakeTarget) -> None:
    program = (
        "const { pbkdf2 } = require('crypto');\n"
        "function threads() { pbkdf2('a', 'b', 1_000_000, 64, 'sha512', () => {}); }\nthreads();\n"
        "function here() { for (let i = 0; i < 3e7; i++) globalThis.x = i; }\nhere();"
    )
    profile = NodeSampler(counts=False).profile(make_target({"a.js": program}, "node", "a.js"))
    assert 0.0 < cost(profile, "a:here").self_share < 0.6


def test_on_one_core_what_waits_while_v8_compiles_and_collects_costs_that_too(
    make_target: MakeTarget,
) -> None:
    settings = {"interval": 250, "inlining": False}
    files = {"a.js": "new (require('worker_threads').Worker)('./b.js')", "b.js": BURN + "burn(5)"}
    for file, threads in (("a.js", 2), ("b.js", 1)):
        target = make_target(files, "node", file)
        hooked = run_hooked(target, "sampler.cjs", settings, tell_sampled, slowdown=5.0)
        assert [report.alone for report in hooked.reports] == [threads == 1] * threads
    target = replace(make_target({"a.js": BURN + "burn(300)"}, "node", "a.js"), one_core=True)
    known = cost(NodeSampler(counts=False).profile(target), "a:burn")
    assert 0.5 < known.self_share < 1.0001


@pytest.mark.parametrize(("bytes_", "collected"), [([0, 90, 10], (0.36, 0.04)), ([0, 0, 0], (0.1, 0.3))])
def test_collecting_garbage_counts_to_who_makes_it_and_is_not_what_runs(
    bytes_: list[int], collected: tuple[float, float]
) -> None:
    frames = [("(root)", "", -1, -1), ("fill", "a.js", 0, 0), ("burn", "a.js", 9, 0)]
    tree = {"frames": frames, "parents": [-1, 0, 0]}
    columns = {"micros": [0, 2e5, 4e5], "hits": [0, 20, 40], "collecting": [0, 1e5, 3e5]}
    report = SampledReport.model_validate(
        {"node": "v20", "cpu": 1e9, "whole": 1e9, "alone": True, "heap": {**tree, "bytes": bytes_}}
        | tree
        | columns
    )
    named = {Frame(*frame): Method(frame[0]) if frame[1] else None for frame in frames}
    grown = CallTree()
    graft(grown, report, named, trials=1, one_core=True)
    costs = tree_costs(grown)
    told = costs.own[Method("fill")], costs.own[Method("burn")]
    assert told == pytest.approx((0.2 + collected[0], 0.4 + collected[1]))
    assert costs.running == pytest.approx({Method("fill"): 1 / 3, Method("burn"): 2 / 3})


def test_each_trial_of_a_profile_is_kept(make_target: MakeTarget) -> None:
    profile = NodeSampler(counts=False).profile(make_target({"a.js": BURN + "burn(40);"}, "node", "a.js"))
    assert len(profile.trials) > 1 and {one.outcome for one in profile.trials} == {"ok"}
    assert sum(one.samples or 0 for one in profile.trials) == profile.samples
    assert any((cost(one, "a:burn").running_share or 0) > 0.5 for one in profile.trials)


def test_anonymous_functions_and_built_ins_count_to_the_nearest_named_caller(make_target: MakeTarget) -> None:
    program = (
        BURN + "function each() { [1, 2, 3].sort(() => 0).forEach((n) => { (() => burn(30))(); }); }\neach();"
    )
    profile = NodeSampler().profile(make_target({"a.js": program}, "node", "a.js"))
    assert names(profile) <= {"a:<module>", "a:each", "a:burn"}
    assert {(a.name, b.name) for a, b in profile.edges} == {("a:<module>", "a:each"), ("a:each", "a:burn")}


def test_a_function_has_the_name_it_was_given_by_assignment_property_class_or_registration(
    make_target: MakeTarget,
) -> None:
    program = """
    const arrow = () => 1;
    const table = { entry: function () {}, short() {}, get value() { return 1; }, deep: { in: () => 1 } };
    class Shape {
        static of() {} #secret() {} area = () => 1; async later() {} *walk() {}
        constructor() { this.#secret(); }
    }
    class Plain extends Shape {}
    function Old() {} Old.prototype.method = function () {}; exports.shared = function () {};
    const registry = {}; function define(name, fn) { registry[name] = fn; } define("zip", function () {});
    (function () { function inside() { function deeper() {} deeper(); } inside(); })();
    arrow(); table.entry(); table.short(); table.value; table.deep.in(); new Old().method(); exports.shared();
    Shape.of(); const s = new Plain(); s.area(); s.later(); [...s.walk()]; registry.zip();
    """
    profile = NodeSampler().profile(make_target({"m.js": program}, "node", "m.js"))
    counted = {m.name.removeprefix("m:") for m, c in profile.methods.items() if c.calls == 1}
    assert counted == {
        "arrow", "table.entry", "table.short", "table.get value", "table.deep.in",
        "Shape.of", "Shape.#secret", "Shape.area", "Shape.constructor", "Shape.later", "Shape.walk",
        "Old", "Old.method", "shared", "define", "define.zip", "inside", "inside.deeper",
    }  # fmt: skip


def test_modules_workers_forks_and_scripts_with_a_first_line_are_seen(make_target: MakeTarget) -> None:
    files = {
        "bin/tool": "#!/usr/bin/env node\nrequire('../main.js');",
        "main.js": BURN
        + "const { Worker } = require('worker_threads'); const { fork } = require('child_process');\n"
        + "function start() { new Worker('./worker.js'); fork('./child.mjs'); burn(20); }\nstart();",
        "worker.js": BURN + "function threaded() { burn(20); }\nthreaded();",
        "child.mjs": BURN + "export function forked() { burn(20); }\nforked();",
    }
    profile = NodeSampler().profile(make_target(files, "./bin/tool"))
    assert {"main:start", "worker:threaded", "child:forked"} <= names(profile)
    assert [note for note in profile.notes if not note.startswith("Only ")] == []


def test_what_the_program_set_itself_stays(make_target: MakeTarget) -> None:
    files = {
        "own hook.js": "globalThis.mine = 1;",
        "a.js": "function seen() { if (!globalThis.mine) process.exit(9); }\nseen();",
    }
    target = make_target(files, "node", "a.js", env={"NODE_OPTIONS": '--require "./own hook.js"'})
    profile = NodeSampler().profile(target)
    assert (profile.outcome, cost(profile, "a:seen").calls) == ("ok", 1)


@pytest.mark.parametrize(
    ("program", "outcome", "said"),
    [
        ("process.kill(process.pid, 'SIGKILL')", "signal", "1 of 1 Node processes and threads ended without"),
        ("process.abort()", "signal", "was ended by signal SIGABRT"),
        ("throw new Error('x')", "exit", "ended with exit code 1"),
        ("for (;;);", "timeout", "took longer than"),
    ],
)
def test_a_trial_that_ends_badly_is_an_outcome_with_a_note(
    make_target: MakeTarget, program: str, outcome: str, said: str
) -> None:
    seconds = 0.4 if outcome == "timeout" else 60.0
    profile = NodeSampler().profile(make_target({"a.js": program}, "node", "a.js", timeout=seconds))
    assert profile.outcome == outcome
    assert any(said in note for note in profile.notes)


def test_a_program_without_node_is_said(make_target: MakeTarget) -> None:
    profile = NodeSampler().profile(make_target({}, "true"))
    assert (profile.outcome, dict(profile.methods)) == ("ok", {})
    assert any("No Node process was seen" in note for note in profile.notes)


def test_without_node_it_is_missing(make_target: MakeTarget) -> None:
    target = make_target({}, "./tool", env={"PATH": "/nonexistent"})
    assert NodeSampler().missing(target) == [
        "There is no `node` on the PATH of trials, which Node programs are profiled with."
    ]


NO_HEAP: dict[str, list[int]] = {"frames": [], "parents": [], "bytes": []}
FORGED = {
    "cut": "{",
    "other": "[]",
    "deep": "[" * 100_000,
    "columns": json.dumps(
        {
            "node": "v1",
            "cpu": 1,
            "whole": 1,
            "alone": True,
            "frames": [],
            "parents": [0],
            "micros": [],
            "hits": [],
            "collecting": [],
            "heap": NO_HEAP,
        }
    ),
    "circle": json.dumps(
        {
            "node": "v1",
            "cpu": 1,
            "whole": 1,
            "alone": True,
            "frames": [["a", "", 0, 0]],
            "parents": [0],
            "micros": [1],
            "hits": [1],
            "collecting": [0],
            "heap": NO_HEAP,
        }
    ),
    "infinite": (
        '{"node": "v1", "cpu": 1, "whole": 1, "alone": true, "frames": [["a", "", 0, 0]], "parents": [-1],'
        ' "micros": [1e999], "hits": [1], "collecting": [0],'
        ' "heap": {"frames": [], "parents": [], "bytes": []}}'
    ),
}


@pytest.mark.parametrize("kind", FORGED)
def test_a_forged_report_is_left_out_with_a_note(make_target: MakeTarget, kind: str) -> None:
    program = (
        "const fs = require('fs'); const folder = process.env.NODE_OPTIONS.match(/\"(.*)\\/[^/]*\"/)[1];\n"
        f"function real() {{ fs.writeFileSync(folder + '/1-1-1.json', {json.dumps(FORGED[kind])}); }}\n"
        "real();"
    )
    profile = NodeSampler().profile(make_target({"a.js": program}, "node", "a.js"))
    assert cost(profile, "a:real").calls == 1
    assert any("1 profile files were damaged" in note for note in profile.notes)


def test_a_link_or_a_pipe_in_the_place_of_a_report_is_not_read(make_target: MakeTarget) -> None:
    program = (
        'const folder = process.env.NODE_OPTIONS.match(/"(.*)\\/[^/]*"/)[1];\n'
        "require('fs').symlinkSync('/etc/passwd', folder + '/0-link.json');\n"
        "require('child_process').execSync('mkfifo ' + folder + '/0-pipe.json');"
    )
    profile = NodeSampler().profile(make_target({"a.js": program}, "node", "a.js"))
    assert any(note.startswith("2 profile files were not read") for note in profile.notes)


def test_generated_code_counts_to_its_caller_and_unparsable_files_keep_short_names(
    make_target: MakeTarget,
) -> None:
    files = {
        "a.js": BURN
        + "function caller() {\n"
        + "eval('(function evaluated() { burn(30); })()'); new Function('f', 'f(30)')(burn); }\n"
        + "caller(); require('./translate.js'); require('./b.js'); require('./quick.js');",
        "translate.js": "const m = require('module'); const old = m.prototype._compile;\n"
        "m.prototype._compile = function (text, file) { return old.call(this, '/* x */' + text, file); };",
        "b.js": "function shifted() { const end = Date.now() + 30; while (Date.now() < end); } shifted();"
        "function other() {}",
        "quick.js": "function quick() {} quick(); quick();",
    }
    profile = NodeSampler().profile(make_target(files, "node", "a.js"))
    assert ("a:caller", "a:burn") in {(x.name, y.name) for x, y in profile.edges}
    assert not any("evaluated" in name for name in names(profile))
    assert (cost(profile, "b:shifted").calls, cost(profile, "a:burn").calls) == (None, 2)
    assert any(note.startswith("The functions of 2 files (first: b)") for note in profile.notes)
    assert "quick:quick" not in names(profile), "its calls cannot be told for sure"


def test_hostile_names_stay_in_one_line_and_within_bounds(make_target: MakeTarget) -> None:
    long = "n" * 5000
    program = (
        "const t = { ['a']() {}, 'with space\\n| `x` <b>'() {}, 'r\\u202eight'() {}, 'ünïcode'() {}, "
        f"{long}() {{}} }};\nfor (const k in t) t[k]();"
    )
    profile = NodeSampler().profile(make_target({"we ird/ü.js": program}, "node", "we ird/ü.js"))
    seen = {m.name for m, c in profile.methods.items() if c.calls}
    assert {"we ird/ü:t.with space | `x` <b>", "we ird/ü:t.right", "we ird/ü:t.ünïcode"} <= seen
    assert all(len(name) < 400 and name.isprintable() for name in seen)


def test_many_functions_are_read_in_bounded_time(make_target: MakeTarget) -> None:
    program = "".join(f"function f{i}() {{}} f{i}();\n" for i in range(100_000))
    profile = NodeSampler().profile(make_target({"a.js": program}, "node", "a.js"))
    assert sum(c.calls == 1 for c in profile.methods.values()) == 100_000


def test_nothing_of_the_checkout_is_written(make_target: MakeTarget, open_path: Path) -> None:
    NodeSampler().profile(make_target({"a.js": "1"}, "node", "a.js"))
    assert [p.name for p in (open_path / "checkout").iterdir()] == ["a.js"]


def test_time_in_a_function_that_would_be_inlined_counts_to_itself(make_target: MakeTarget) -> None:
    program = (
        "class Press { constructor(n) {"
        " let x = 0; for (let i = 0; i < n; i++) x = (x * 31 + i) | 0; this.x = x; } }\n"
        "function make(n) { return new Press(n).x; }\nlet sum = 0;\n"
        "for (let i = 0; i < 15000; i++) sum += make(20000);"
    )
    profile = NodeSampler(counts=False).profile(make_target({"a.js": program}, "node", "a.js"))
    shares = {m.name: c.self_share for m, c in profile.methods.items()}
    assert shares["a:Press.constructor"] > 0.7 > 5 * shares.get("a:make", 0.0)
