// Keeps what watched calls took: by calling context, each duration up to a number of them, then a histogram.
"use strict";
const { performance } = require("perf_hooks");
const { types } = require("util");

const MOST_CONTEXTS = 20_000;
const MOST_KEPT_IN_ALL = 4_000_000;
const CALIBRATION_CALLS = 10_000;
const CALIBRATION_ROUNDS = 5;
const BINS_PER_OCTAVE = 32;
const MOST_ARGUMENTS = 8;
const now = performance.now.bind(performance); // milliseconds, with fractions of a nanosecond's order

/** settings: {every: of each method, which of how many calls is timed, kept: durations per context, summaries: of arguments too} */
function createRecorder({ every, kept, summaries }) {
    const methods = every.length;
    const begun = new Float64Array(methods + 2); // calls of sampled methods, timed or not
    const skip = new Float64Array(methods + 2).fill(1);
    let random = 1;
    const contexts = []; // {method, parent, calls, sum, durations, bins, given}
    const children = new Map();
    const active = new Int32Array(methods + 2);
    const [totals, selves, counted] = [new Float64Array(methods + 2), new Float64Array(methods + 2), new Float64Array(methods + 2)];
    const [stack, starts, inner, under] = [[], [], [], []]; // under: the context that calls from here belong to
    const texts = new Map();
    let [depth, keptInAll, left] = [0, 0, 0];

    /** The context of a call now. A recursion counts to the context it began in: paths stay short. */
    function contextOf(method) {
        let parent = depth > 0 ? under[depth - 1] : -1;
        if (active[method] > 0) {
            for (let at = parent; at >= 0; at = contexts[at].parent) if (contexts[at].method === method) return at;
        }
        const key = parent * (methods + 2) + method;
        const known = children.get(key);
        if (known !== undefined) return known;
        if (contexts.length >= MOST_CONTEXTS) {
            left += 1;
            parent = -1;
            const alone = children.get(-(methods + 2) + method);
            if (alone !== undefined) return alone;
        }
        const index = contexts.length;
        contexts.push({ method, parent, calls: 0, sum: 0, durations: [], bins: null, given: [] });
        children.set(parent * (methods + 2) + method, index);
        return index;
    }

    function push(context) {
        stack[depth] = context;
        // Of a sampled method most calls are not on the stack: it is no caller in any of them.
        under[depth] = every[contexts[context].method] > 1 ? contexts[context].parent : context;
        inner[depth] = 0;
        active[contexts[context].method] += 1;
        starts[depth] = now();
        depth += 1;
    }

    /** Ends what runs at this depth (and what lies above it, if anything); its time since `push`. */
    function pop(at) {
        const end = now();
        while (depth > at + 1) abandon();
        depth = at;
        const { method } = contexts[stack[at]];
        const took = end - starts[at];
        active[method] -= 1;
        if (active[method] === 0) totals[method] += took;
        selves[method] += took - inner[at];
        // What sampled methods take stays with their callers: of most of their calls it is not known.
        if (at > 0) inner[at - 1] += every[method] > 1 ? inner[at] : took;
        return took;
    }

    function abandon() {
        depth -= 1;
        active[contexts[stack[depth]].method] -= 1;
    }

    function keep(index, took) {
        const context = contexts[index];
        context.calls += 1;
        context.sum += took;
        if (context.bins === null) {
            context.durations.push(took);
            keptInAll += 1;
            if (context.durations.length <= kept && keptInAll <= MOST_KEPT_IN_ALL) return;
            context.bins = new Map();
            for (const one of context.durations) tally(context.bins, one);
            keptInAll -= context.durations.length;
            [context.durations, context.given] = [null, null];
        } else tally(context.bins, took);
    }

    function tally(bins, took) {
        const bin = binOf(Math.max(0, Math.round(took * 1e6)));
        bins.set(bin, (bins.get(bin) ?? 0) + 1);
    }

    /** The number of a short text that says what a call was given, but never the contents. */
    function summaryOf(given) {
        const text = Array.prototype.slice.call(given, 0, MOST_ARGUMENTS).map(summarised).join("\n");
        let number = texts.get(text);
        if (number === undefined) texts.set(text, (number = texts.size));
        return number;
    }

    /** Whether this call of a sampled method is none of those that are timed; the next one is drawn, so as not to fall in step. */
    function skipped(method) {
        begun[method] += 1;
        if (--skip[method] > 0) return true;
        random = (Math.imul(random, 1103515245) + 12345) & 0x7fffffff;
        skip[method] = 1 + (random >> 8) % (2 * every[method] - 1);
        return false;
    }

    const calls = {
        enter(method, given) {
            if (every[method] > 1 && skipped(method)) return -1;
            const context = contextOf(method);
            if (given !== undefined && contexts[context].given !== null) contexts[context].given.push(summaryOf(given));
            push(context);
            return depth - 1;
        },
        leave(at) {
            if (at < 0) return;
            const context = stack[at];
            keep(context, pop(at));
        },
        count(method) {
            counted[method] += 1;
        },
        begin(method, given) {
            counted[method] += 1;
            const context = contextOf(method);
            const summary = given === undefined ? -1 : summaryOf(given);
            push(context);
            return { context, at: depth - 1, took: 0, summary };
        },
        off(call, value) {
            if (call.at >= 0) call.took += pop(call.at);
            call.at = -1;
            return value;
        },
        on(call, value) {
            if (call.at < 0) {
                push(call.context);
                call.at = depth - 1;
            }
            return value;
        },
        end(call) {
            calls.off(call);
            const { given } = contexts[call.context];
            if (given !== null && call.summary >= 0) given.push(call.summary);
            keep(call.context, call.took);
        },
    };

    /** [own cost, bias]: milliseconds that a watched call adds to the run, and to its own duration. */
    function calibrate() {
        const given = summaries ? ["some", 1] : undefined;
        const watched = () => {
            const call = calls.enter(methods + 1, given);
            try {
                return 1;
            } finally {
                calls.leave(call);
            }
        };
        const plain = () => 1;
        const timeOf = (run) => {
            let best = Infinity; // other rounds wait to be compiled, or for the processor
            for (let round = 0; round < CALIBRATION_ROUNDS; round++) {
                const began = now();
                for (let i = 0; i < CALIBRATION_CALLS; i++) run();
                best = Math.min(best, (now() - began) / CALIBRATION_CALLS);
            }
            return best;
        };
        const cost = Math.max(0, timeOf(watched) - timeOf(plain));
        const own = contexts.find((context) => context.method === methods + 1);
        const durations = own.durations ?? [own.sum / own.calls];
        return [cost, durations.sort((a, b) => a - b)[durations.length >> 1]];
    }

    function report() {
        while (depth > 0) abandon();
        const seen = contexts.slice();
        const series = seen.map(({ method, parent, calls: number, sum, durations, bins, given }) => ({
            method, parent, calls: number, sum: nanoseconds(sum),
            durations: (durations ?? []).map(nanoseconds), bins: bins ? [...bins] : [],
            given: given?.length > 0 && given.length === durations?.length ? given : [],
        }));
        const watched = [totals, selves].map((list) => [...list].slice(0, methods).map(nanoseconds));
        const started = [...counted].slice(0, methods).map((number, method) => number + begun[method]);
        const [cost, bias] = calibrate();
        return {
            series, totals: watched[0], selves: watched[1], begun: started, left, cost: nanoseconds(cost), bias: nanoseconds(bias),
            texts: [...texts.keys()],
        };
    }

    return { calls, report };
}

const nanoseconds = (milliseconds) => Math.max(0, Math.round(milliseconds * 1e6));

/** Log-linear: bins of one nanosecond, then of a 32nd of each octave. */
function binOf(value) {
    if (value < BINS_PER_OCTAVE) return value;
    const octave = Math.floor(Math.log2(value)) - Math.log2(BINS_PER_OCTAVE);
    return BINS_PER_OCTAVE * octave + Math.floor(value / 2 ** octave);
}

/** Types, lengths and small numbers; nothing of a value that can run its code is touched. */
function summarised(value) {
    if (typeof value === "number") {
        if (Number.isInteger(value) && Math.abs(value) <= 1000) return `number ${value}`;
        return Number.isFinite(value) && value !== 0 ? `number ~2^${Math.floor(Math.log2(Math.abs(value)))}` : "number";
    }
    if (typeof value === "boolean") return `boolean ${value}`;
    if (typeof value === "string") return `string length ${value.length}`;
    if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
    if (types.isProxy(value)) return "object";
    if (Array.isArray(value)) return `array length ${value.length}`;
    if (ArrayBuffer.isView(value)) return `bytes length ${value.byteLength}`;
    return types.isMap(value) || types.isSet(value) ? "collection" : "object";
}

module.exports = { createRecorder };
