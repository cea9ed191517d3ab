import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorOutputStream;
import org.apache.commons.compress.compressors.snappy.FramedSnappyCompressorInputStream;
import org.apache.commons.compress.compressors.snappy.FramedSnappyCompressorOutputStream;
import org.apache.commons.compress.compressors.snappy.SnappyCompressorOutputStream;

/** Press FILE [--snappy] [--tar] [--verify] [--small] [--thorough]: compresses a file and prints the length. */
public final class Press {
    public static void main(String[] words) throws IOException {
        List<String> given = List.of(words);
        byte[] data = Files.readAllBytes(Path.of(words[0]));
        if (given.contains("--tar")) {
            data = archived(data);
        }
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (OutputStream out = compressor(given, packed)) {
            out.write(data);
        }
        System.out.println(packed.size());
        if (given.contains("--verify")) {
            try (InputStream in = expander(given, new ByteArrayInputStream(packed.toByteArray()))) {
                System.out.println(in.readAllBytes().length);
            }
        }
    }

    private static byte[] archived(byte[] data) throws IOException {
        ByteArrayOutputStream archive = new ByteArrayOutputStream();
        try (TarArchiveOutputStream tar = new TarArchiveOutputStream(archive)) {
            for (int part = 0; part < 2000; part++) {
                int length = data.length / 2000;
                TarArchiveEntry entry = new TarArchiveEntry("part" + part);
                entry.setSize(length);
                tar.putArchiveEntry(entry);
                tar.write(data, part * length, length);
                tar.closeArchiveEntry();
            }
        }
        return archive.toByteArray();
    }

    private static OutputStream compressor(List<String> given, OutputStream out) throws IOException {
        if (given.contains("--snappy")) {
            var search = SnappyCompressorOutputStream.createParameterBuilder(1 << 15);
            var tuned = given.contains("--thorough") ? search.tunedForCompressionRatio() : search.tunedForSpeed();
            return new FramedSnappyCompressorOutputStream(out, tuned.build());
        }
        return new BZip2CompressorOutputStream(out, given.contains("--small") ? 1 : 9);
    }

    private static InputStream expander(List<String> given, InputStream in) throws IOException {
        return given.contains("--snappy") ? new FramedSnappyCompressorInputStream(in) : new BZip2CompressorInputStream(in);
    }
}
