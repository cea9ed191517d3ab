// All functions of a JavaScript source, with the places V8 knows them by and a qualified name where one is sure.
// Runs under `node --expose-internals`: node's own parser (acorn) knows the syntax that this node runs.
"use strict";
const acorn = require("internal/deps/acorn/acorn/dist/acorn");

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/** The tree of a source, as a script or else as a module (`sourceType` tells); throws SyntaxError. */
function parse(source, tokens) {
    const common = {
        ecmaVersion: "latest", locations: true, allowHashBang: true, allowReturnOutsideFunction: true,
        onToken: tokens,
    };
    try {
        return acorn.parse(source, { ...common, sourceType: "script" });
    } catch {
        if (tokens) tokens.length = 0;
        return acorn.parse(source, { ...common, sourceType: "module", allowAwaitOutsideFunction: true });
    }
}

/** The text of `a`, `a.b`, `a["b"]` without `prototype`, `this` and `exports`; null for anything else. */
function path(node) {
    if (!node) return null;
    if (node.type === "Identifier" || node.type === "PrivateIdentifier") return node.name;
    if (node.type === "Literal") return typeof node.value === "string" ? node.value : null;
    if (node.type === "ThisExpression") return "";
    if (node.type !== "MemberExpression") return null;
    const owner = path(node.object);
    const key = keyOf(node.property, node.computed);
    if (owner === null || key === null) return null;
    if (key === "prototype" || (owner === "module" && key === "exports")) return key === "prototype" ? owner : "exports";
    return owner === "" || owner === "exports" ? key : `${owner}.${key}`;
}

function keyOf(key, computed) {
    if (!computed && key.type === "PrivateIdentifier") return `#${key.name}`;
    if (!computed && key.type === "Identifier") return key.name;
    return key.type === "Literal" ? String(key.value) : null;
}

const join = (...parts) => parts.filter(Boolean).join(".");

/** Name that a call at module level gives to what it is handed: `on("save", function)` is `on.save`. */
function registered(call, position) {
    const callee = path(call.callee);
    const names = call.arguments.slice(0, position).map((argument) => {
        return ["Identifier", "MemberExpression", "Literal"].includes(argument.type) ? path(argument) : null;
    });
    const known = names.filter(Boolean);
    return callee && known.length > 0 ? join(callee, ...known) : null;
}

/** Children of a node, each with the name it gets from this place (`hint`), if any. */
function* children(node, hint, top) {
    switch (node.type) {
        case "VariableDeclarator":
            yield [node.id, null];
            if (node.init) yield [node.init, path(node.id)];
            return;
        case "AssignmentExpression":
        case "AssignmentPattern":
            yield [node.left, null];
            yield [node.right, path(node.left)];
            return;
        case "Property": {
            const key = keyOf(node.key, node.computed);
            const kind = node.kind === "init" ? "" : `${node.kind} `;
            if (node.computed) yield [node.key, null];
            yield [node.value, key === null ? null : join(hint, kind + key)];
            return;
        }
        case "ObjectExpression":
        case "ConditionalExpression":
        case "LogicalExpression":
        case "ParenthesizedExpression":
            for (const child of direct(node)) yield [child, hint];
            return;
        case "SequenceExpression":
            for (const child of node.expressions) yield [child, child === node.expressions.at(-1) ? hint : null];
            return;
        case "ArrayExpression":
            for (const child of node.elements) if (child) yield [child, FUNCTIONS.has(child.type) ? null : hint];
            return;
        case "ExportDefaultDeclaration":
            yield [node.declaration, "default"];
            return;
        case "CallExpression":
        case "NewExpression":
            yield [node.callee, null];
            for (const [position, argument] of node.arguments.entries()) {
                const given = FUNCTIONS.has(argument.type) ? null : hint;
                yield [argument, given || (top ? registered(node, position) : null)];
            }
            return;
        default:
            for (const child of direct(node)) yield [child, null];
    }
}

function* direct(node) {
    for (const key of Object.keys(node)) {
        const value = node[key];
        if (Array.isArray(value)) {
            for (const item of value) if (item && typeof item.type === "string") yield item;
        } else if (value && typeof value.type === "string" && key !== "loc") yield value;
    }
}

/** Where V8 says that a function begins: at its parameters, an arrow at its first character. */
function parameters(node, source) {
    if (node.type === "ArrowFunctionExpression") return node.start;
    let from = node.id ? node.id.end : node.start;
    while (from < node.end && source[from] !== "(") from = next(source, from);
    return from;
}

const SPACE = /(?:\s|\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?\*\/)*/y;

/** The first place from `from` on that is neither space nor comment. */
function skip(source, from) {
    SPACE.lastIndex = from;
    SPACE.test(source);
    return SPACE.lastIndex;
}

function next(source, from) {
    const after = skip(source, from);
    return after > from ? after : from + 1;
}

/**
 * All functions of a tree that `parse` made: {node, name or null, outer (where its text begins), start (where V8 says it does)}.
 * A name holds the names of all that the function lies in; anonymous functions are transparent.
 */
function functions(source, tree) {
    const found = [];
    const work = [{ node: tree, prefix: "", hint: null, top: true, outer: null }];
    while (work.length > 0) {
        const place = work.pop();
        const { node, prefix, hint, top } = place;
        if (FUNCTIONS.has(node.type)) {
            const own = node.id?.name ?? hint;
            const name = own ? join(prefix, own) : null;
            found.push({ node, name, outer: place.outer ?? node.start, start: parameters(node, source) });
            const inside = name ? { prefix: name, top: false } : { prefix, top };
            for (const child of direct(node)) if (child !== node.id) work.push({ node: child, hint: null, ...inside });
        } else if (node.type === "ClassDeclaration" || node.type === "ClassExpression") {
            if (node.superClass) work.push({ node: node.superClass, hint: null, prefix, top });
            const owner = join(prefix, node.id?.name ?? hint);
            // Without a constructor V8 makes one, which it places where the class begins.
            if (!node.body.body.some((member) => member.kind === "constructor")) {
                found.push({ node, name: owner && join(owner, "constructor"), outer: node.start, start: node.start });
            }
            for (const member of node.body.body) work.push(...memberPlaces(member, owner, top));
        } else {
            const whole = node.type === "Property" && (node.method || node.kind !== "init") ? node.start : null;
            for (const [child, its] of children(node, hint, top)) {
                work.push({ node: child, hint: its, prefix, top, outer: child === node.value ? whole : null });
            }
        }
    }
    return found;
}

function memberPlaces(member, owner, top) {
    if (member.type === "StaticBlock") return [{ node: member, hint: null, prefix: owner, top }];
    const places = member.computed ? [{ node: member.key, hint: null, prefix: owner, top }] : [];
    if (member.value) {
        const key = keyOf(member.key, member.computed);
        const kind = member.kind === "get" || member.kind === "set" ? `${member.kind} ` : "";
        const outer = member.type === "MethodDefinition" ? member.start : null;
        places.push({ node: member.value, prefix: owner, hint: key === null ? null : kind + key, top, outer });
    }
    return places;
}

module.exports = { FUNCTIONS, direct, functions, parse };
