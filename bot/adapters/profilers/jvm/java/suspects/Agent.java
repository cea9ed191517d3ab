package suspects;

import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.nio.file.Path;
import java.util.jar.JarFile;

/**
 * -javaagent:agent.jar=FOLDER: counts all methods of a program, or times those that FOLDER/methods.txt names (first
 * line: how many durations a context keeps). What it saw is written there when the JVM ends. No error leaves it.
 */
public final class Agent {
    private Agent() {}

    public static void premain(String folder, Instrumentation instrumentation) {
        try {
            Path here = Path.of(folder);
            instrumentation.appendToBootstrapClassLoaderSearch(new JarFile(here.resolve("agent.jar").toFile()));
            Hook.install(here, instrumentation);
        } catch (IOException | RuntimeException | LinkageError error) {
            // The trial is the program's; that nothing came is noticed by who reads.
        }
    }
}
