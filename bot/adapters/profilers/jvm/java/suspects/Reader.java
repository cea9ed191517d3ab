package suspects;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedClassLoader;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordingFile;

/**
 * Reader ANSWER CORES RECORDING...: the trees of sampled stacks as lines of JSON. First the methods, numbered as they come:
 * ["m", name or null, name for want of a named caller or null], and the nodes, numbered likewise, parents first:
 * ["n", parent or -1, method, line, 1 if it was inlined in its parent]; what a recording's JVM is and spent as
 * ["j", version, nanoseconds of CPU of the program's threads, of compilers, of collections] and
 * ["c", method, nanoseconds that compiling it took]; then
 * ["s", node, samples of CPU time, samples of execution, bytes allocated]; timed methods as
 * ["t", name, calls, nanoseconds in all]; at the end
 * ["e", samples of CPU time that found no stack, recordings that could not be read].
 */
public final class Reader {
    private static final int MOST_NODES = 4_000_000;
    private static final int SYNTHETIC = 0x1000;
    private static final List<String> SAMPLES =
            List.of("jdk.CPUTimeSample", "jdk.ExecutionSample", "jdk.ObjectAllocationSample");
    private static final int ALLOCATED = 2;

    private final Map<String, Integer> methods = new HashMap<>();
    private final Map<List<Integer>, Integer> nodes = new HashMap<>();
    private final List<long[]> samples = new ArrayList<>();
    private final Map<List<String>, long[]> timed = new HashMap<>();
    private final BufferedWriter out;
    private long failed;

    private Reader(BufferedWriter out) {
        this.out = out;
    }

    public static void main(String[] arguments) throws IOException {
        try (BufferedWriter out = Files.newBufferedWriter(Path.of(arguments[0]))) {
            Reader reader = new Reader(out);
            int unread = 0;
            for (int i = 2; i < arguments.length; i++) {
                Spent spent = new Spent(Integer.parseInt(arguments[1]));
                try (RecordingFile file = new RecordingFile(Path.of(arguments[i]))) {
                    while (file.hasMoreEvents()) {
                        RecordedEvent event = file.readEvent();
                        spent.take(event);
                        reader.take(event, arguments[i]);
                    }
                } catch (IOException | RuntimeException error) {
                    unread++; // damaged: what came before counts
                }
                spent.tell(out);
                for (Map.Entry<RecordedMethod, Double> one : spent.compiled().entrySet()) {
                    out.write("[\"c\"," + reader.number(one.getKey()) + "," + Math.round(one.getValue()) + "]\n");
                }
            }
            reader.finish(unread);
        }
    }

    private void take(RecordedEvent event, String recording) throws IOException {
        String name = event.getEventType().getName();
        if (name.equals("jdk.MethodTiming")) {
            time(event, recording);
            return;
        }
        int what = SAMPLES.indexOf(name);
        if (what < 0) {
            return;
        }
        RecordedStackTrace trace = event.getStackTrace();
        if (trace == null || trace.getFrames().isEmpty()) {
            failed += what == 0 ? 1 : 0;
            return;
        }
        int node = -1;
        List<RecordedFrame> frames = trace.getFrames();
        for (int i = frames.size() - 1; i >= 0 && samples.size() < MOST_NODES; i--) {
            if (frames.get(i).isJavaFrame()) {
                node = child(node, frames.get(i));
            }
        }
        if (node >= 0) {
            samples.get(node)[what] += what == ALLOCATED ? event.getLong("weight") : 1;
        }
    }

    /** Each part of a recording tells the sums so far: the last one counts. */
    private void time(RecordedEvent event, String recording) {
        RecordedMethod method = event.getValue("method");
        long calls = event.getLong("invocations");
        String name = names(method.getType(), method)[0];
        if (name == null || calls <= 0) {
            return;
        }
        List<String> key = List.of(recording, name, method.getType().getName() + method.getDescriptor());
        long nanoseconds = Math.max(0, calls * event.getDuration("average").toNanos());
        timed.merge(key, new long[] {calls, nanoseconds}, (old, now) -> now[0] >= old[0] ? now : old);
    }

    private int child(int parent, RecordedFrame frame) throws IOException {
        int method = number(frame.getMethod());
        int inlined = parent >= 0 && "Inlined".equals(frame.getType()) ? 1 : 0;
        List<Integer> key = List.of(parent, method, inlined);
        Integer known = nodes.get(key);
        if (known == null) {
            known = samples.size();
            nodes.put(key, known);
            samples.add(new long[SAMPLES.size()]);
            out.write("[\"n\"," + parent + "," + method + "," + Math.max(0, frame.getLineNumber())
                    + "," + inlined + "]\n");
        }
        return known;
    }

    private int number(RecordedMethod method) throws IOException {
        RecordedClass type = method.getType();
        String key = type.getId() + " " + type.getName() + " " + method.getName() + " " + method.getDescriptor();
        Integer known = methods.get(key);
        if (known == null) {
            known = methods.size();
            methods.put(key, known);
            String[] names = names(type, method);
            out.write("[\"m\"," + Json.quoted(names[0]) + "," + Json.quoted(names[1]) + "]\n");
        }
        return known;
    }

    /** A method of the JDK has no name: it counts to what called it. */
    private static String[] names(RecordedClass type, RecordedMethod method) {
        if (platform(type.getClassLoader())) {
            return new String[2];
        }
        boolean synthetic = (method.getModifiers() & SYNTHETIC) != 0 || method.isHidden();
        return new String[] {
            Names.method(type.getName(), method.getName(), synthetic), Names.orphan(type.getName(), method.getName())
        };
    }

    /** Whether the JDK's own classes are loaded by this loader. */
    private static boolean platform(RecordedClassLoader loader) {
        return loader == null || "bootstrap".equals(loader.getName()) || "platform".equals(loader.getName());
    }

    private void finish(int unread) throws IOException {
        for (int node = 0; node < samples.size(); node++) {
            long[] count = samples.get(node);
            if (count[0] + count[1] + count[ALLOCATED] > 0) {
                out.write("[\"s\"," + node + "," + count[0] + "," + count[1] + "," + count[ALLOCATED] + "]\n");
            }
        }
        for (Map.Entry<List<String>, long[]> one : timed.entrySet()) {
            long[] sums = one.getValue();
            out.write("[\"t\"," + Json.quoted(one.getKey().get(1)) + "," + sums[0] + "," + sums[1] + "]\n");
        }
        out.write("[\"e\"," + failed + "," + unread + "]\n");
    }
}
