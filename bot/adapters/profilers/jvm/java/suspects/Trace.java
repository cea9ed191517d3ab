package suspects;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What one thread's watched calls took: by calling context, each duration up to a number, then a histogram. */
public final class Trace {
    static final int BINS_PER_OCTAVE = 32;
    private static final int MOST_CONTEXTS = 20_000;
    private static final int MOST_TEXTS = 20_000;
    private static final int MOST_LINKS = 4_000_000; // from contexts to those below them

    /** Calls of one method over one path of watched callers. */
    static final class Context {
        final int method;
        final int index;
        final Context parent;
        final Context[] children;
        long calls;
        long sum;
        long[] durations = new long[4];
        int[] given; // the text of what each kept call was given
        int[] bins;

        Context(int method, int index, Context parent, int methods) {
            this.method = method;
            this.index = index;
            this.parent = parent;
            children = new Context[methods];
        }

        void keep(long took, int kept, int text) {
            sum += took;
            if (bins == null && calls < kept) {
                if (calls == durations.length) {
                    durations = Arrays.copyOf(durations, (int) Math.min(2L * durations.length, kept));
                }
                durations[(int) calls] = took;
                if (text >= 0) {
                    given = given == null ? new int[4] : given;
                    given = given.length <= calls ? Arrays.copyOf(given, durations.length) : given;
                    given[(int) calls] = text;
                }
            } else {
                if (bins == null) {
                    bins = new int[BINS_PER_OCTAVE * 60];
                    for (int i = 0; i < calls; i++) {
                        bins[binOf(durations[i])]++;
                    }
                    durations = null;
                    given = null;
                }
                bins[binOf(took)]++;
            }
            calls++;
        }
    }

    final Context root;
    final List<Context> contexts = new ArrayList<>();
    final long[] totals;
    final long[] selves;
    final long[] begun; // calls of sampled methods, timed or not
    long left;
    final Map<String, Integer> texts = new LinkedHashMap<>();
    private final int methods;
    private final int kept;
    private final int[] active;
    private final int[] every;
    private final int[] skip; // calls until the next one that is timed
    private int random = 1;
    private Context[] stack = new Context[64];
    private Context[] under = new Context[64]; // what calls from there belong to
    private long[] starts = new long[64];
    private long[] inner = new long[64];
    private int[] given = new int[64];
    private int depth;

    Trace(int[] every, int kept) {
        this.every = every;
        methods = every.length;
        begun = new long[methods];
        skip = new int[methods];
        Arrays.fill(skip, 1);
        this.kept = kept;
        root = new Context(-1, -1, null, methods);
        totals = new long[methods];
        selves = new long[methods];
        active = new int[methods];
    }

    /** The number of a text of what a call was given; past the most of them, of none. */
    int numberOf(String text) {
        Integer known = texts.get(text);
        if (known == null) {
            if (texts.size() >= MOST_TEXTS && !text.isEmpty()) {
                return numberOf("");
            }
            known = texts.size();
            texts.put(text, known);
        }
        return known;
    }

    /** Whether this call of a sampled method is not timed; the next one is drawn, so as not to fall in step. */
    boolean skipped(int method) {
        begun[method]++;
        if (--skip[method] > 0) {
            return true;
        }
        random = (random * 1103515245 + 12345) & 0x7fffffff;
        skip[method] = 1 + (random >> 8) % (2 * every[method] - 1);
        return false;
    }

    /** text: the number of what the call was given, or -1. */
    void enter(int method, int text) {
        Context context = contextOf(method);
        if (depth == stack.length) {
            stack = Arrays.copyOf(stack, 2 * depth);
            starts = Arrays.copyOf(starts, 2 * depth);
            inner = Arrays.copyOf(inner, 2 * depth);
            given = Arrays.copyOf(given, 2 * depth);
            under = Arrays.copyOf(under, 2 * depth);
        }
        stack[depth] = context;
        // Of a sampled method most calls are not on the stack: it is no caller in any of them.
        under[depth] = every[method] > 1 ? context.parent : context;
        inner[depth] = 0;
        given[depth] = text;
        active[method]++;
        starts[depth++] = System.nanoTime();
    }

    void leave() {
        long end = System.nanoTime();
        Context context = stack[--depth];
        long took = Math.max(0, end - starts[depth]);
        if (--active[context.method] == 0) {
            totals[context.method] += took;
        }
        selves[context.method] += Math.max(0, took - inner[depth]);
        if (depth > 0) {
            // What sampled methods take stays with their callers: of most of their calls it is not known.
            inner[depth - 1] += every[context.method] > 1 ? inner[depth] : took;
        }
        context.keep(took, kept, given[depth]);
    }

    /** A recursion counts to the context it began in, so that paths stay short. */
    private Context contextOf(int method) {
        Context parent = depth == 0 ? root : under[depth - 1];
        if (active[method] > 0) {
            for (Context at = parent; at != root; at = at.parent) {
                if (at.method == method) {
                    return at;
                }
            }
        }
        Context known = parent.children[method];
        if (known == null && contexts.size() >= Math.min(MOST_CONTEXTS, MOST_LINKS / methods)) {
            left++;
            parent = root;
            known = parent.children[method];
        }
        if (known == null) {
            known = new Context(method, contexts.size(), parent, methods);
            parent.children[method] = known;
            contexts.add(known);
        }
        return known;
    }

    /** Log-linear: bins of one nanosecond, then of a 32nd of each octave. */
    static int binOf(long value) {
        if (value < BINS_PER_OCTAVE) {
            return (int) value;
        }
        int octave = 63 - Long.numberOfLeadingZeros(value) - 5;
        return BINS_PER_OCTAVE * octave + (int) (value >> octave);
    }
}
