// node --expose-internals rewriting.cjs QUESTION ANSWER: what to insert where, so that chosen functions are timed.
// QUESTION: {file: {qualified name: number of the method}}. ANSWER: one line of JSON a file:
// [file, {hash, module, found: [number, ...], untimed: [number, ...], insertions: [[offset, text], ...]}]
"use strict";
const fs = require("fs");
const crypto = require("crypto");
const { FUNCTIONS, direct, functions, parse } = require("./functions.cjs");

const [question, answer] = process.argv.slice(2);
const { files, summaries } = JSON.parse(fs.readFileSync(question, "utf8"));
const out = fs.openSync(answer, "wx");
for (const [file, wanted] of Object.entries(files)) {
    let plan = null;
    try {
        const source = fs.readFileSync(file, "utf8").replace(/^\uFEFF/, "");
        plan = { hash: crypto.createHash("sha256").update(source).digest("hex"), ...insertions(source, wanted) };
    } catch (error) {
        plan = String(error.message).slice(0, 200);
    }
    fs.writeSync(out, `${JSON.stringify([file, plan])}\n`);
}

function insertions(source, wanted) {
    const tokens = [];
    const tree = parse(source, tokens);
    const [found, untimed, list] = [new Set(), new Set(), []];
    for (const { node, name } of functions(source, tree)) {
        if (!Object.hasOwn(wanted, name ?? "") || !FUNCTIONS.has(node.type)) continue;
        const method = wanted[name];
        found.add(method);
        const waits = node.async || node.generator ? suspensions(node) : [];
        if (waits === null) untimed.add(method);
        list.push(...timed(source, tokens, node, method, waits));
    }
    if (found.size > 0) {
        list.unshift(opening(source, tree.body, 0, 'const $suspects=globalThis[Symbol.for("suspects")];'));
    }
    return { module: tree.sourceType === "module", found: [...found], untimed: [...untimed], insertions: inOrder(list) };
}

/** Outer openings come before inner ones at the same place, outer closings after inner ones. */
function inOrder(list) {
    const ranked = list.map(([offset, text, closes], rank) => [offset, text, closes ? -1 - rank : rank]);
    return ranked.sort((a, b) => a[0] - b[0] || order(a[2], b[2])).map(([offset, text]) => [offset, text]);
}

function order(a, b) {
    return a < 0 === b < 0 ? a - b : a < 0 ? -1 : 1;
}

/** Insertions around a function's body; `waits`: its suspensions, or null when they cannot be followed. */
function timed(source, tokens, node, method, waits) {
    const given = summaries ? `,${parametersOf(node)}` : "";
    const [begin, end] = node.async || node.generator ? ["begin", "end"] : ["enter", "leave"];
    let [open, close] = [`const $suspectsCall=$suspects.${begin}(${method}${given});try{`, `}finally{$suspects.${end}($suspectsCall);}`];
    if (waits === null) [open, close] = [`$suspects.count(${method});`, ""];
    if (node.body.type !== "BlockStatement") {
        const arrow = tokens.findLast((token) => token.type.label === "=>" && token.end <= node.body.start);
        return [[arrow.end, `{${open}return(`], [node.end, `);${close}}`, true], ...(waits ?? [])];
    }
    const first = opening(source, node.body.body, node.body.start + 1, open);
    return [first, [node.body.end - 1, close, true], ...(waits ?? [])];
}

/** An insertion before the first statement of a body, but behind its directives ("use strict"). */
function opening(source, body, start, text) {
    const last = body.filter((statement) => statement.directive !== undefined).at(-1);
    if (last) return [last.end, `;${text}`];
    return [start === 0 && source.startsWith("#!") ? source.search(/[\n\r\u2028\u2029]|$/) + 1 : start, text];
}

/** What a call was given, as an expression without effects. Arrows have no `arguments` of their own. */
function parametersOf(node) {
    if (node.type !== "ArrowFunctionExpression") return "arguments";
    return `[${node.params.filter((p) => p.type === "Identifier").map((p) => p.name).join(",")}]`;
}

/** Insertions that stop the clock while an async function or a generator waits; null: it cannot be followed. */
function suspensions(node) {
    const list = [];
    const work = [node.body];
    while (work.length > 0) {
        const here = work.pop();
        if (FUNCTIONS.has(here.type)) continue;
        if (here.type === "ForOfStatement" && here.await) return null;
        if (here.type === "VariableDeclaration" && here.kind === "await using") return null;
        if (here.type === "AwaitExpression" || here.type === "YieldExpression") {
                        list.push([here.start, "$suspects.on($suspectsCall,"]);
            if (here.argument) {
                list.push([here.argument.start, "$suspects.off($suspectsCall,("]);
                list.push([here.end, ")", true], [here.argument.end, "))", true]);
            } else list.push([here.end, " $suspects.off($suspectsCall))", true]);
        }
        if (here.type === "TryStatement") {
            // After a failed wait nothing has started the clock again.
            for (const block of [here.handler?.body, here.finalizer]) {
                if (block) list.push([block.start + 1, "$suspects.on($suspectsCall);"]);
            }
        }
        work.push(...direct(here));
    }
    return list;
}
