package suspects;

import java.io.IOException;
import java.io.Writer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedThread;

/**
 * What one recorded JVM spent: CPU time of the program's threads, of compilers and collections. A thread's load is told
 * every few milliseconds, as a part of the time since it was last asked for: at the tick before, which jdk.CPULoad tells.
 */
final class Spent {
    private static final int MOST_LOADS = 300_000;
    private static final Duration SAME_TICK = Duration.ofMillis(2);

    /** Classes that a flight recording needs and a program hardly ever. */
    private static final Pattern OURS = Pattern.compile("jdk\\.jfr\\.|jdk\\.internal\\.(org\\.objectweb\\.asm|classfile|event)\\.");

    private final int cores;
    private final TreeMap<Instant, Double> ticks = new TreeMap<>();
    private final List<RecordedEvent> loads = new ArrayList<>();
    private long machine;
    private boolean collected;
    private final Map<RecordedMethod, Double> compiled = new HashMap<>();
    private double compiling;
    private double compilingForUs;
    private String version = "";

    /** cores: that the JVM could use, of which a thread's load is a part. */
    Spent(int cores) {
        this.cores = cores;
    }

    void take(RecordedEvent event) {
        switch (event.getEventType().getName()) {
            case "jdk.CPULoad":
                ticks.put(event.getStartTime(), (double) event.getFloat("jvmUser") + event.getFloat("jvmSystem"));
                break;
            case "jdk.CPUInformation":
                machine = event.getLong("hwThreads");
                break;
            case "jdk.ThreadCPULoad":
                if (loads.size() < MOST_LOADS) {
                    loads.add(event);
                }
                break;
            case "jdk.Compilation":
                RecordedMethod method = event.getValue("method");
                double took = event.getDuration().toNanos();
                compiling += took;
                if (method == null) {
                    break;
                }
                if (OURS.matcher(method.getType().getName()).lookingAt()) {
                    compilingForUs += took;
                } else {
                    compiled.merge(method, took, Double::sum);
                }
                break;
            case "jdk.GarbageCollection":
                collected = true;
                break;
            case "jdk.JVMInformation":
                version = event.getString("jvmVersion");
                break;
            default:
        }
    }

    void tell(Writer out) throws IOException {
        double program = 0;
        double compilers = 0;
        double told = 0;
        for (RecordedEvent load : loads) {
            Instant before = ticks.lowerKey(load.getStartTime().minus(SAME_TICK));
            if (before == null) {
                continue; // from before the recording: what starting it took
            }
            double nanoseconds = (load.getFloat("user") + load.getFloat("system"))
                    * Duration.between(before, load.getStartTime()).toNanos() * cores;
            told += nanoseconds;
            String name = name(load.getThread("eventThread"));
            if (name.contains("CompilerThread")) {
                compilers += nanoseconds;
            } else if (!name.startsWith("JFR ")) {
                program += nanoseconds;
            }
        }
        // Collectors' threads are not told of: theirs is what the rest of the process spent.
        double collecting = collected ? Math.max(0, process() - told) : 0;
        compilers *= compiling > 0 ? 1 - compilingForUs / compiling : 1;
        out.write("[\"j\"," + Json.quoted(version) + "," + Math.round(program) + ","
                + Math.round(compilers) + "," + Math.round(collecting) + "]\n");
    }

    /** Nanoseconds of CPU of the whole process since the first tick. */
    private double process() {
        double sum = 0;
        for (Map.Entry<Instant, Double> tick : ticks.entrySet()) {
            Instant before = ticks.lowerKey(tick.getKey());
            sum += before == null ? 0 : tick.getValue() * machine * Duration.between(before, tick.getKey()).toNanos();
        }
        return sum;
    }

    /** Nanoseconds that compiling each method took, waiting included; without what was compiled for the recording. */
    Map<RecordedMethod, Double> compiled() {
        return compiled;
    }

    private static String name(RecordedThread thread) {
        String name = thread == null ? null : thread.getJavaName() == null ? thread.getOSName() : thread.getJavaName();
        return name == null ? "" : name;
    }
}
