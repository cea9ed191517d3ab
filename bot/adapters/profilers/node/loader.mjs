// Where `module.registerHooks` is missing: hooks for ES modules, which Node runs in a thread of their own.
import { createRequire } from "module";

const { createRewriter } = createRequire(import.meta.url)("./loading.cjs");
let rewriter = createRewriter({});

export function initialize({ files }) {
    rewriter = createRewriter(files);
}

export async function load(url, context, next) {
    return rewriter.loaded(url, await next(url, context));
}
