package suspects;

import java.io.IOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Weaves the program's classes as they are loaded, and writes the report at the end. */
public final class Hook implements ClassFileTransformer {
    private final Map<String, Integer> timed; // null: all methods are counted

    private final boolean told;

    private Hook(Map<String, Integer> timed, boolean told) {
        this.timed = timed;
        this.told = told;
    }

    /** Begins in this JVM; `folder` has the settings and takes the report. */
    public static void install(Path folder, Instrumentation instrumentation) throws IOException {
        String mine = ProcessHandle.current().pid() + "-" + System.nanoTime();
        Files.createFile(folder.resolve(mine + ".began"));
        Path settings = folder.resolve("methods.txt");
        List<String> lines = Files.exists(settings) ? Files.readAllLines(settings) : null;
        Map<String, Integer> timed = lines == null ? null : named(lines);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                Path part = folder.resolve(mine + ".part");
                if (timed == null) {
                    Recorder.writeCounts(part);
                } else {
                    Recorder.writeTraces(part);
                }
                Files.move(part, folder.resolve(mine + ".json"));
            } catch (IOException | RuntimeException error) {
                // As in Agent.
            }
        }));
        instrumentation.addTransformer(new Hook(timed, lines != null && told(lines)));
    }

    private static boolean told(List<String> lines) {
        return lines.get(0).endsWith(" arguments");
    }

    private static Map<String, Integer> named(List<String> lines) {
        Map<String, Integer> numbers = new HashMap<>();
        int[] every = new int[lines.size() - 1];
        for (String line : lines.subList(1, lines.size())) {
            int space = line.indexOf(' ');
            every[numbers.size()] = Integer.parseInt(line.substring(0, space));
            numbers.put(line.substring(space + 1), numbers.size());
        }
        Recorder.begin(every, Integer.parseInt(lines.get(0).split(" ")[0]), told(lines));
        return numbers;
    }

    @Override
    public byte[] transform(
            ClassLoader loader, String name, Class<?> again, ProtectionDomain domain, byte[] bytes) {
        if (loader == null || loader == ClassLoader.getPlatformClassLoader() || name == null || again != null
                || name.startsWith("suspects/")) {
            return null;
        }
        try {
            String type = name.replace('/', '.');
            return Weaver.woven(bytes, (method, synthetic) -> number(type, method, synthetic), timed != null,
                    method -> told && !Recorder.sampled(method));
        } catch (IOException | RuntimeException error) {
            return null; // this class stays as it is
        }
    }

    private int number(String type, String method, boolean synthetic) {
        String name = Names.method(type, method, synthetic);
        if (name == null) {
            return -1;
        }
        return timed == null ? Recorder.number(name) : timed.getOrDefault(name, -1);
    }
}
