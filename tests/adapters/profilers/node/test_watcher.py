"""Fine profiles of Node programs: every call of chosen functions, timed, by where it came from."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bot.adapters.profilers.node.sampler import NodeSampler
from bot.adapters.profilers.node.watcher import NodeWatcher
from bot.model.profiles import CallSeries, Method, Profile
from tests.adapters.profilers.node.conftest import MakeTarget
from tests.adapters.profilers.sampled import often_called, sampled_as

BURN = "function burn(ms) { const end = Date.now() + ms; while (Date.now() < end); }\n"


def of(profile: Profile, name: str) -> list[CallSeries]:
    return [one for one in profile.series if one.method.name == name]


def method(name: str, file: str) -> Method:
    return Method(name, file)


def test_calls_are_timed_by_their_callers(make_target: MakeTarget) -> None:
    program = BURN + (
        "function slow(n) { burn(3 * n); }\n"
        "function left() { slow(1); slow(2); }\nfunction right() { slow(4); }\n"
        "left(); right();"
    )
    watched = [method("a:slow", "a.js"), method("a:left", "a.js"), method("a:right", "a.js")]
    profile = NodeWatcher().profile(make_target({"a.js": program}, "node", "a.js"), watched)
    assert profile.outcome == "ok"
    by_path = {tuple(m.name for m in one.path): one for one in of(profile, "a:slow")}
    assert {path: one.calls for path, one in by_path.items()} == {("a:left",): 2, ("a:right",): 1}
    durations = by_path["a:left",].durations
    assert min(durations) > 0.0015
    assert by_path["a:left",].seconds == pytest.approx(durations.sum())
    slow, left = profile.methods[watched[0]], profile.methods[watched[1]]
    assert slow.total_seconds is not None and left.total_seconds is not None and left.self_seconds is not None
    assert left.total_seconds > left.self_seconds
    assert profile.edges[watched[1], watched[0]].calls == 2
    assert any("watched calls cost" in note for note in profile.notes)


def test_every_kind_of_function_does_what_it_did_and_is_counted(make_target: MakeTarget) -> None:
    program = """#!/usr/bin/env node
    'use strict'
    const arrow = x => ({ x }), curried = a => b => a + b;
    class Base {}
    class Made extends Base { constructor(a) { super(); this.a = a; } get twice() { return 2 * this.a; } }
    function hoists() { return later(); function later() { return 7; } }
    function fails() { 'use strict'; throw new RangeError('as before'); }
    function* counts(n) {
        for (let i = 0; i < n; i++) { const back = yield (i, i + 1); if (back) return back; }
        yield* [8, 9];
    }
    async function waits(x) {
        try { await await Promise.reject(x); } catch (e) { return e + await(1); } finally { x = 0; }
    }
    const lazily = async x => await x + 1;
    async function loops() { let sum = 0; for await (const x of [1, 2]) sum += x; return sum; }
    const same = (a, b) => { if (JSON.stringify(a) !== JSON.stringify(b)) process.exitCode = 9; };
    same(arrow(1), { x: 1 }); same(curried(1)(2), 3); same(new Made(4).twice, 8); same(hoists(), 7);
    try { fails(); } catch (e) { same([e.name, e.message], ['RangeError', 'as before']); }
    same([...counts(2)], [1, 2, 8, 9]); const g = counts(5); g.next(); same(g.next('stop').value, 'stop');
    waits(3).then((v) => same(v, 4)); lazily(1).then((v) => same(v, 2)); loops().then((v) => same(v, 3));
    """
    wanted = [
        "arrow",
        "curried",
        "Made.constructor",
        "Made.get twice",
        "hoists",
        "hoists.later",
        "fails",
        "counts",
    ]
    wanted += ["waits", "lazily", "loops"]
    watched = [method(f"bin/t:{name}", "bin/t") for name in wanted]
    for arguments in (False, True):
        target = make_target({"bin/t": program}, "./bin/t")
        profile = NodeWatcher(arguments=arguments).profile(target, watched)
        assert profile.outcome == "ok"
        calls = {m.name.removeprefix("bin/t:"): cost.calls for m, cost in profile.methods.items()}
        assert calls == dict.fromkeys(wanted, 1) | {"counts": 2}
        assert "1 methods that wait in `for await` are counted, not timed." in profile.notes


def test_waiting_is_not_the_time_of_an_async_function(make_target: MakeTarget) -> None:
    program = BURN + (
        "async function waits() { burn(5); await new Promise((done) => setTimeout(done, 1500)); burn(5); }\n"
        "waits();"
    )
    watched = [method("a:waits", "a.js")]
    profile = NodeWatcher().profile(make_target({"a.js": program}, "node", "a.js"), watched)
    (one,) = of(profile, "a:waits")
    assert 0.008 < one.seconds < 1.4


def test_many_calls_become_a_histogram_that_holds_all_of_them(make_target: MakeTarget) -> None:
    program = (
        "let t = 0; function busy(n) { for (let i = 0; i < n; i++) t += Math.sqrt(i); }\n"
        "for (let i = 0; i < 100500; i++) busy(400);"
    )
    profile = NodeWatcher().profile(
        make_target({"a.js": program}, "node", "a.js"), [method("a:busy", "a.js")]
    )
    (cost,) = profile.methods.values()
    assert cost.calls == 100500
    for one in of(profile, "a:busy"):
        assert (len(one.durations), one.counts.sum(), len(one.edges)) == (0, 100500, len(one.counts) + 1)
        assert np.all(np.diff(one.edges) > 0)
        assert one.edges[0] * 100500 <= one.seconds


def test_a_recursive_method_has_short_paths_and_its_time_counts_once(make_target: MakeTarget) -> None:
    program = (
        BURN
        + "function down(n) { if (n) up(n); else burn(30); }\nfunction up(n) { down(n - 1); }\ndown(500);"
    )
    watched = [method("a:down", "a.js"), method("a:up", "a.js")]
    profile = NodeWatcher().profile(make_target({"a.js": program}, "node", "a.js"), watched)
    assert {tuple(m.name for m in one.path) for one in profile.series} == {(), ("a:down",)}
    total = profile.methods[watched[0]].total_seconds
    assert total is not None and total < profile.seconds + 0.1
    assert {m.name: cost.calls for m, cost in profile.methods.items()} == {"a:down": 501, "a:up": 500}


def test_arguments_are_told_by_type_and_length_never_by_content(make_target: MakeTarget) -> None:
    program = BURN + (
        "function told(...all) { burn(1); }\nconst trap = new Proxy({}, { get() { process.exit(7); } });\n"
        "told('secret', 5, 1e9, [1, 2], { get x() { process.exit(8); } }, null, trap, new Map());"
    )
    target = make_target({"a.js": program}, "node", "a.js")
    profile = NodeWatcher(arguments=True).profile(target, [method("a:told", "a.js")])
    (one,) = profile.series
    expected = ("string length 6", "number 5", "number ~2^29", "array length 2", "object", "null", "object")
    assert one.arguments == ((*expected, "collection"),)


def test_modules_workers_and_forks_are_watched(make_target: MakeTarget) -> None:
    work = BURN + "export function work() { burn(2); }\nwork();"
    files = {
        "main.mjs": "import { Worker } from 'worker_threads'; import { fork } from 'child_process';\n"
        "import { work } from './lib.mjs'; import './old.cjs';\n"
        "new Worker(new URL('./lib.mjs', import.meta.url)); fork('./old.cjs'); work();",
        "lib.mjs": work,
        "old.cjs": BURN + "function old() { burn(2); }\nold();",
    }
    watched = [method("lib:work", "lib.mjs"), method("old:old", "old.cjs")]
    profile = NodeWatcher().profile(make_target(files, "node", "main.mjs"), watched)
    assert {m.name: cost.calls for m, cost in profile.methods.items()} == {"lib:work": 3, "old:old": 2}
    assert [len(one.durations) for one in of(profile, "lib:work")] == [3]


def test_the_loading_of_a_file_is_said_to_be_no_call_that_could_be_timed(make_target: MakeTarget) -> None:
    target = make_target({"a.js": "function here() {}\nhere();"}, "node", "a.js")
    watched = [method("a:here", "a.js"), method("a:<module>", "a.js"), method("a:gone", "a.js")]
    notes = NodeWatcher().profile(target, watched).notes
    assert any(note.endswith("is not timed (first: a:<module>).") for note in notes), notes
    assert any(note == "1 method is not in the program's files (first: a:gone)." for note in notes), notes


def test_what_is_not_there_and_what_never_runs_is_said(make_target: MakeTarget) -> None:
    target = make_target({"a.js": "function here() {}", "broken.js": "function {"}, "node", "a.js")
    watched = [
        method("a:here", "a.js"),
        method("a:gone", "a.js"),
        method("b:x", "b.js"),
        method("broken:x", "broken.js"),
        Method("outside:x", None),
    ]
    profile = NodeWatcher().profile(target, watched)
    assert {m.name: cost.calls for m, cost in profile.methods.items()} == {"a:here": 0}
    assert any(note.startswith("4 methods are not in the program's files") for note in profile.notes)
    assert any(note.startswith("1 watched methods were never called") for note in profile.notes)


@pytest.mark.parametrize(
    "forged",
    [
        "{",
        json.dumps({"runtime": "v1"}),
        json.dumps(
            {
                "runtime": "v1", "totals": [0], "selves": [0], "begun": [0], "left": 0, "cost": 0, "bias": 0,
                "texts": [], "series": [{"method": 9, "parent": -1, "calls": 1, "sum": 1, "durations": [1],
                "bins": [], "given": []}],
            }
        ),
    ],
)  # fmt: skip
def test_a_forged_report_is_left_out_with_a_note(make_target: MakeTarget, forged: str) -> None:
    program = (
        "const fs = require('fs'); const folder = process.env.NODE_OPTIONS.match(/\"(.*)\\/[^/]*\"/)[1];\n"
        f"function real() {{ fs.writeFileSync(folder + '/1-1-1.json', {json.dumps(forged)}); }}\nreal();"
    )
    profile = NodeWatcher().profile(
        make_target({"a.js": program}, "node", "a.js"), [method("a:real", "a.js")]
    )
    assert [cost.calls for cost in profile.methods.values()] == [1]
    assert "1 profile files were damaged and left out." in profile.notes


def test_a_killed_trial_is_an_outcome_with_a_note(make_target: MakeTarget) -> None:
    program = "function last() { process.kill(process.pid, 'SIGKILL'); }\nlast();"
    profile = NodeWatcher().profile(
        make_target({"a.js": program}, "node", "a.js"), [method("a:last", "a.js")]
    )
    assert profile.outcome == "signal"
    assert any("ended without a profile" in note for note in profile.notes)


def test_what_is_called_too_often_for_the_overhead_is_not_watched(make_target: MakeTarget) -> None:
    program = BURN + (
        "function often() {}\nfunction rarely() { burn(1); }\n"
        "rarely(); for (let i = 0; i < 3e6; i++) often();"
    )
    target = make_target({"a.js": program}, "node", "a.js")
    coarse = NodeSampler().profile(target)
    profile = NodeWatcher(coarse, overhead=0.01).profile(target, list(coarse.methods))
    assert method("a:rarely", "a.js") in profile.methods
    assert method("a:often", "a.js") not in profile.methods
    assert any("called too often to be timed within 1% of the run: `a:often`" in n for n in profile.notes)


def test_what_is_called_often_is_timed_in_some_of_its_calls(make_target: MakeTarget) -> None:
    """Every third call of `hot` takes four times as long: timing each third one must not fall in step."""
    text = """
    function outer(i) { return hot(i % 3 === 0 ? 4 : 1) + after(1); }
    function hot(turns) { return inner(turns) + burnt(turns); }
    function inner(turns) { return burnt(turns); }
    function after(turns) { return burnt(turns); }
    function burnt(turns) { let x = 0; for (let i = 0; i < turns * 400; i++) x = Math.sqrt(x + i); return x; }
    function once() { let x = 0; for (let i = 0; i < 300000; i++) x += outer(i); return x; }
    console.log(once());
    """
    target = make_target({"a.js": text}, "node", "a.js")
    names = ("outer", "hot", "inner", "after")
    methods = [Method(f"a:{name}", "a.js") for name in names]
    once = Method("a:once", "a.js")
    profile = NodeWatcher(often_called(methods), overhead=0.05).profile(target, [once, *methods])
    sampled_as(profile, methods, (3, 4, 4, 1), (once,))
    caller = profile.methods[once]
    assert caller.calls == 1
    assert caller.self_seconds is not None and caller.self_seconds == caller.total_seconds, (
        "what sampled methods take stays with their callers"
    )
