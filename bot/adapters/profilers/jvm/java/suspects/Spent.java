package suspects;

import java.io.IOException;
import java.io.Writer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
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

    private final TreeSet<Instant> ticks = new TreeSet<>();
    private final List<RecordedEvent> loads = new ArrayList<>();
    private long collecting;
    private double compiled;
    private double compiledForUs;
    private String version = "";

    void take(RecordedEvent event) {
        switch (event.getEventType().getName()) {
            case "jdk.CPULoad":
                ticks.add(event.getStartTime());
                break;
            case "jdk.ThreadCPULoad":
                if (loads.size() < MOST_LOADS) {
                    loads.add(event);
                }
                break;
            case "jdk.Compilation":
                RecordedMethod method = event.getValue("method");
                double took = event.getDuration().toNanos();
                compiled += took;
                compiledForUs += method != null && OURS.matcher(method.getType().getName()).lookingAt() ? took : 0;
                break;
            case "jdk.GarbageCollection":
                collecting += event.getDuration("sumOfPauses").toNanos();
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
        for (RecordedEvent load : loads) {
            Instant before = ticks.lower(load.getStartTime().minus(SAME_TICK));
            if (before == null) {
                continue; // from before the recording: what starting it took
            }
            double nanoseconds = (load.getFloat("user") + load.getFloat("system"))
                    * Duration.between(before, load.getStartTime()).toNanos();
            String name = name(load.getThread("eventThread"));
            if (name.contains("CompilerThread")) {
                compilers += nanoseconds;
            } else if (!name.startsWith("JFR ")) {
                program += nanoseconds;
            }
        }
        compilers *= compiled > 0 ? 1 - compiledForUs / compiled : 1;
        out.write("[\"j\"," + Json.quoted(version) + "," + Math.round(program) + ","
                + (Math.round(compilers) + collecting) + "]\n");
    }

    private static String name(RecordedThread thread) {
        String name = thread == null ? null : thread.getJavaName() == null ? thread.getOSName() : thread.getJavaName();
        return name == null ? "" : name;
    }
}
