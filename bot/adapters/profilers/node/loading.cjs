// Inserts texts into the sources of chosen files, if they are what was parsed.
"use strict";
const { createHash } = require("crypto");
const { fileURLToPath } = require("url");

/** `files`: {path: {hash, insertions: [[offset, text], ...]}} */
function createRewriter(files) {
    const plans = new Map(Object.entries(files));

    function rewritten(content, file) {
        const plan = plans.get(file);
        if (!plan || typeof content !== "string") return content;
        const source = content.replace(/^\uFEFF/, "");
        if (createHash("sha256").update(source).digest("hex") !== plan.hash) return content;
        const parts = [];
        let from = 0;
        for (const [offset, text] of plan.insertions) {
            parts.push(source.slice(from, offset), text);
            from = offset;
        }
        return parts.join("") + source.slice(from);
    }

    /** What a load hook returns, with another source where that is wanted. */
    function loaded(url, result) {
        if (!url.startsWith("file:") || result.source === null || result.source === undefined) return result;
        const file = fileURLToPath(url);
        if (!plans.has(file)) return result;
        const content = typeof result.source === "string" ? result.source : Buffer.from(result.source).toString("utf8");
        return { ...result, source: rewritten(content, file) };
    }

    return { rewritten, loaded };
}

module.exports = { createRewriter };
