// Preloaded into each process and worker thread of a profiled trial: inserts clocks into chosen functions as their
// files are loaded, and keeps the durations of their calls by calling context. No error of ours leaves this file.
"use strict";
try {
    const fs = require("fs");
    const Module = require("module");
    const { threadId } = require("worker_threads");
    const { readFileSync, writeFileSync, renameSync } = fs; // a program may replace them
    const settings = JSON.parse(readFileSync(`${__dirname}/settings.json`, "utf8"));
    const { createRecorder } = require("./recorder.cjs");
    const { createRewriter } = require("./loading.cjs");

    const mine = `${__dirname}/${process.pid}-${threadId}-${process.hrtime.bigint()}`;
    writeFileSync(`${mine}.began`, "", { flag: "wx" });

    const recorder = createRecorder(settings);
    const rewriter = createRewriter(settings.files);
    Object.defineProperty(globalThis, Symbol.for("suspects"), { value: Object.freeze(recorder.calls) });

    const compile = Module.prototype._compile;
    Module.prototype._compile = function (content, file, ...rest) {
        return compile.call(this, rewriter.rewritten(content, file), file, ...rest);
    };
    if (typeof Module.registerHooks === "function") {
        Module.registerHooks({ load: (url, context, next) => rewriter.loaded(url, next(url, context)) });
    } else if (settings.modules && typeof Module.register === "function") {
        const { pathToFileURL } = require("url");
        Module.register(pathToFileURL(`${__dirname}/loader.mjs`), { data: { files: settings.files } });
    }

    const stringify = JSON.stringify;
    process.once("exit", () => {
        try {
            writeFileSync(`${mine}.part`, stringify({ runtime: process.version, ...recorder.report() }), { flag: "wx" });
            renameSync(`${mine}.part`, `${mine}.json`);
        } catch {
            // The trial is the program's; that nothing came is noticed by who reads.
        }
    });
} catch {
    // See above.
}
