package suspects;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/** What woven code calls. It is loaded by the bootstrap loader, so that classes of all loaders see it. */
public final class Recorder {
    private static final int CALIBRATION_CALLS = 20_000;
    private static final Queue<long[][]> COUNTS = new ConcurrentLinkedQueue<>();
    private static final Queue<Trace> TRACES = new ConcurrentLinkedQueue<>();
    private static final Map<String, Integer> NUMBERS = new ConcurrentHashMap<>();
    private static final ThreadLocal<long[][]> COUNT = ThreadLocal.withInitial(() -> {
        long[][] mine = {new long[256]};
        COUNTS.add(mine);
        return mine;
    });
    private static int methods;
    private static int kept;
    private static boolean told;
    private static int[] every;
    private static final ThreadLocal<Trace> TRACE = ThreadLocal.withInitial(() -> {
        Trace mine = new Trace(every, kept);
        TRACES.add(mine);
        return mine;
    });

    private Recorder() {}

    /** Before the first woven class: one in how many calls of each method is timed, durations kept in each context, arguments told. */
    public static void begin(int[] every, int kept, boolean told) {
        Recorder.told = told;
        methods = every.length + 1; // one more for the calibration
        Recorder.every = Arrays.copyOf(every, methods);
        Recorder.kept = kept;
    }

    /** The number of a counted method. */
    public static int number(String name) {
        synchronized (NUMBERS) {
            return NUMBERS.computeIfAbsent(name, key -> NUMBERS.size());
        }
    }

    public static void count(int method) {
        long[][] mine = COUNT.get();
        if (method >= mine[0].length) {
            mine[0] = Arrays.copyOf(mine[0], 2 * method);
        }
        mine[0][method]++;
    }

    /** Whether only some of a method's calls are timed. */
    static boolean sampled(int method) {
        return every[method] > 1;
    }

    /** null: this call is not timed. */
    public static Trace enter(int method) {
        Trace mine = TRACE.get();
        if (every[method] > 1 && mine.skipped(method)) {
            return null;
        }
        mine.enter(method, -1);
        return mine;
    }

    public static Trace enter(int method, Object[] given) {
        Trace mine = TRACE.get();
        mine.enter(method, mine.numberOf(Summary.of(given)));
        return mine;
    }

    public static void leave(Trace trace) {
        if (trace != null) {
            trace.leave();
        }
    }

    /** Writes [name, calls] of all counted methods as lines of JSON. */
    public static void writeCounts(Path file) throws IOException {
        long[] sums = new long[NUMBERS.size()];
        for (long[][] one : COUNTS) {
            for (int i = 0; i < Math.min(sums.length, one[0].length); i++) {
                sums[i] += one[0][i];
            }
        }
        try (BufferedWriter out = Files.newBufferedWriter(file)) {
            for (Map.Entry<String, Integer> entry : NUMBERS.entrySet()) {
                if (entry.getValue() < sums.length && sums[entry.getValue()] > 0) {
                    out.write("[" + Json.quoted(entry.getKey()) + "," + sums[entry.getValue()] + "]\n");
                }
            }
        }
    }

    /** Writes the report of each thread as a line of JSON. */
    public static void writeTraces(Path file) throws IOException {
        long[] begun = new long[methods - 1];
        for (long[][] one : COUNTS) {
            for (int i = 0; i < Math.min(begun.length, one[0].length); i++) {
                begun[i] += one[0][i];
            }
        }
        Trace[] traces = TRACES.toArray(new Trace[0]);
        for (Trace trace : traces) {
            for (int i = 0; i < begun.length; i++) {
                begun[i] += trace.begun[i];
            }
        }
        long[] own = calibrated();
        try (BufferedWriter out = Files.newBufferedWriter(file)) {
            for (Trace trace : traces) {
                Json.write(out, trace, begun, own);
                Arrays.fill(begun, 0); // they are not known by thread
            }
            if (traces.length == 0) {
                Json.write(out, new Trace(every, kept), begun, own);
            }
        }
    }

    private static int given(Trace trace) {
        return told ? trace.numberOf(Summary.of(new Object[] {"some", 1})) : -1;
    }

    /** {cost, bias}: nanoseconds that a watched call adds to the run, and to its own duration. */
    private static long[] calibrated() {
        Trace trace = new Trace(every, CALIBRATION_CALLS);
        long took = Long.MAX_VALUE; // the best of the rounds: others wait to be compiled, or for the processor
        for (int round = 0; round < 10; round++) {
            long began = System.nanoTime();
            for (int i = 0; i < CALIBRATION_CALLS; i++) {
                TRACE.get();
                trace.enter(methods - 1, given(trace));
                trace.leave();
            }
            took = Math.min(took, (System.nanoTime() - began) / CALIBRATION_CALLS);
        }
        Trace fresh = new Trace(every, CALIBRATION_CALLS);
        for (int i = 0; i < CALIBRATION_CALLS - 1; i++) {
            fresh.enter(methods - 1, given(fresh));
            fresh.leave();
        }
        long[] durations = Arrays.copyOf(fresh.contexts.get(0).durations, CALIBRATION_CALLS - 1);
        Arrays.sort(durations);
        return new long[] {took, durations[durations.length / 2]};
    }
}
