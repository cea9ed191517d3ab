// Preloaded into each process and worker thread of a profiled trial: samples its stacks, or counts its calls.
// Not both at once: the counters in loops move time between functions and keep code from being optimised.
// What it saw is written beside this file when the thread ends. It never disturbs the program: no error leaves it.
"use strict";
const MAGLEV = 22; // the first version in which V8's middle compiler is on, and inlines
const TELLS_GARBAGE = 20; // the first one in which its sampling of allocations keeps what was collected
const BYTES = 65536; // between samples of allocations
const PROFILER = "v8:ProfEvntProc"; // the thread that walks the sampled stacks
try {
    const fs = require("fs");
    const inspector = require("inspector");
    const { isMainThread, threadId } = require("worker_threads");
    const { interval, inlining } = JSON.parse(fs.readFileSync(`${__dirname}/settings.json`, "utf8"));

    const major = Number(process.versions.node.split(".")[0]);
    const mine = `${__dirname}/${process.pid}-${threadId}-${process.hrtime.bigint()}`;
    const { readFileSync, readdirSync, writeFileSync, renameSync } = fs; // a program may replace them
    const stringify = JSON.stringify;
    writeFileSync(`${mine}.began`, "", { flag: "wx" });

    /** Nanoseconds that this thread had a core; 0 where the kernel does not say. */
    const onCore = () => {
        try {
            return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[0]);
        } catch {
            return 0;
        }
    };
    /** Nanoseconds that all threads of the process had a core, without those that walked stacks. */
    const { cpuUsage } = process;
    const inAll = () => {
        const { user, system } = cpuUsage();
        let walking = 0;
        try {
            for (const task of readdirSync("/proc/self/task")) {
                const read = (what) => readFileSync(`/proc/self/task/${task}/${what}`, "utf8");
                if (read("comm").trim() === PROFILER) walking += Number(read("schedstat").split(" ")[0]);
            }
        } catch {
            // It is counted, then.
        }
        return Math.max(0, (user + system) * 1000 - walking);
    };
    const [before, own] = [onCore(), inAll()];
    let loading = 0;
    const session = new inspector.Session();
    session.connect();
    const ask = (method, parameters) => {
        let [failure, answer] = [null, null];
        session.post(method, parameters, (error, result) => ([failure, answer] = [error, result]));
        if (failure) throw new Error(failure.message);
        return answer;
    };
    ask("Profiler.enable");
    if (interval > 0) {
        // Inlined code has gaps in V8's table of positions: time in them counts to the caller.
        const flags = ["--no-turbo-inlining"];
        if (major >= MAGLEV) flags.push("--no-maglev-inlining");
        if (inlining) flags.length = 0;
        // Helping threads would hide what it costs to collect the garbage that a function makes.
        for (const flag of [...flags, "--no-parallel-scavenge"]) require("v8").setFlagsFromString(flag);
        if (major >= TELLS_GARBAGE) {
            const all = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true };
            ask("HeapProfiler.startSampling", { samplingInterval: BYTES, ...all });
        }
        ask("Profiler.setSamplingInterval", { interval });
        ask("Profiler.start");
        loading = inAll() - own;
    } else {
        // Without detail the resumptions of generators and async functions count as calls.
        ask("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    }

    const spent = () => ({ cpu: onCore() - before, whole: isMainThread ? Math.max(0, inAll() - loading) : 0, alone: alone() });
    /** Whether no other thread of this process runs JavaScript, or did. */
    const alone = () => {
        const mates = readdirSync(__dirname).filter((name) => name.startsWith(`${process.pid}-`) && name.endsWith(".began"));
        return mates.length === 1;
    };
    process.once("exit", () => {
        try {
            const seen = interval > 0
                ? { ...spent(), ...tree(ask("Profiler.stop").profile, interval), heap: allocated(ask) }
                : { counts: calls(ask("Profiler.takePreciseCoverage").result) };
            writeFileSync(`${mine}.part`, stringify({ node: process.version, ...seen }), { flag: "wx" });
            renameSync(`${mine}.part`, `${mine}.json`);
        } catch {
            // The trial is the program's; that nothing came is noticed by who reads.
        }
    });
} catch {
    // See above.
}

/** Frames in an order in which parents come first, the parent of each, and visit(node, its place) of each node. */
function ordered(root, childrenOf, visit) {
    const [frames, parents, work] = [[], [], [[root, -1]]];
    while (work.length > 0) {
        const [node, parent] = work.pop();
        const { functionName, url, lineNumber, columnNumber } = node.callFrame;
        visit(node, frames.length);
        for (const child of childrenOf(node)) work.push([child, frames.length]);
        frames.push([functionName.slice(0, 500), url.slice(0, 4000), lineNumber, columnNumber]);
        parents.push(parent);
    }
    return { frames, parents };
}

/** What each node has itself: microseconds, samples, and microseconds of collecting garbage when it was there. */
function tree({ nodes, samples, timeDeltas }, interval) {
    const [byId, index] = [new Map(nodes.map((node) => [node.id, node])), new Map()];
    const children = (node) => (node.children ?? []).map((id) => byId.get(id));
    const { frames, parents } = ordered(nodes[0], children, (node, at) => index.set(node.id, at));
    const [micros, hits, collecting] = [frames.map(() => 0), frames.map(() => 0), frames.map(() => 0)];
    let working = 0; // the node that ran last
    for (const [at, id] of samples.entries()) {
        // A longer wait was for a core, not work.
        const took = Math.max(0, Math.min(timeDeltas[at + 1] ?? interval, 10 * interval));
        if (byId.get(id).callFrame.functionName === "(garbage collector)") {
            collecting[working] += took;
        } else {
            working = index.get(id);
            micros[working] += took;
            hits[working] += 1;
        }
    }
    return { frames, parents, micros, hits, collecting };
}

/** Bytes that each node allocated itself, what was collected since included; none where V8 does not tell. */
function allocated(ask) {
    const bytes = [];
    try {
        const { head } = ask("HeapProfiler.stopSampling").profile;
        return { ...ordered(head, (node) => node.children, (node) => bytes.push(node.selfSize)), bytes };
    } catch {
        return { frames: [], parents: [], bytes };
    }
}

/** [url, [[start, end, calls, V8's own name], ...]] of each script, without functions that were never called. */
function calls(scripts) {
    const found = [];
    for (const { url, functions } of scripts) {
        if (!url.startsWith("file:") && !url.startsWith("/")) continue;
        const called = functions.map(({ functionName, ranges: [{ startOffset, endOffset, count }] }) => {
            return [startOffset, endOffset, count, functionName.slice(0, 500)];
        });
        found.push([url, called.filter(([, , count]) => count > 0)]);
    }
    return found;
}
