// node --expose-internals names.cjs QUESTION ANSWER: the named functions of many files, as one line of JSON a file.
"use strict";
const fs = require("fs");
const { functions, parse } = require("./functions.cjs");

const MOST_BYTES = 16e6;
const [question, answer] = process.argv.slice(2);
const out = fs.openSync(answer, "wx");

for (const file of JSON.parse(fs.readFileSync(question, "utf8"))) {
    let found;
    try {
        if (fs.statSync(file).size > MOST_BYTES) throw new Error("too large");
        const source = fs.readFileSync(file, "utf8").replace(/^\uFEFF/, "");
        const lines = lineStarts(source);
        found = functions(source, parse(source)).map(({ node, name, outer, start }) => {
            const line = lineOf(lines, start);
            return [name, outer, start, node.end, line, start - lines[line]];
        });
    } catch (error) {
        found = String(error.message).slice(0, 200);
    }
    fs.writeSync(out, `${JSON.stringify([file, found])}\n`);
}

/** Offsets at which lines begin, as V8 counts lines. */
function lineStarts(source) {
    const starts = [0];
    for (const { index, 0: end } of source.matchAll(/\r\n|[\n\r\u2028\u2029]/g)) starts.push(index + end.length);
    return starts;
}

function lineOf(starts, offset) {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (starts[middle] <= offset) low = middle;
        else high = middle;
    }
    return low;
}
