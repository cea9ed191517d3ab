package suspects;

import java.io.IOException;
import java.io.Writer;
import java.util.Arrays;

/** The little JSON that reports need. */
final class Json {
    private static final int MOST_CHARACTERS = 2000;

    private Json() {}

    /** A string, or null; what is not ASCII is escaped. */
    static String quoted(String text) {
        if (text == null) {
            return "null";
        }
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.substring(0, Math.min(text.length(), MOST_CHARACTERS)).toCharArray()) {
            if (c >= ' ' && c < 127 && c != '"' && c != '\\') {
                quoted.append(c);
            } else {
                quoted.append(String.format("\\u%04x", (int) c));
            }
        }
        return quoted.append('"').toString();
    }

    /** One thread's watched calls; the last method is the calibration's and left out. */
    static void write(Writer out, Trace trace, long[] begun, long[] own) throws IOException {
        out.write("{\"runtime\":" + quoted(System.getProperty("java.version")) + ",\"series\":[");
        String comma = "";
        for (Trace.Context one : trace.contexts) {
            out.write(comma);
            write(out, one);
            comma = ",";
        }
        out.write("],\"totals\":");
        numbers(out, trace.totals, trace.totals.length - 1);
        out.write(",\"selves\":");
        numbers(out, trace.selves, trace.selves.length - 1);
        out.write(",\"begun\":");
        numbers(out, begun, begun.length);
        out.write(",\"left\":" + trace.left + ",\"cost\":" + own[0] + ",\"bias\":" + own[1] + ",\"texts\":[");
        comma = "";
        for (String text : trace.texts.keySet()) {
            out.write(comma + quoted(text));
            comma = ",";
        }
        out.write("]}\n");
    }

    private static void write(Writer out, Trace.Context one) throws IOException {
        out.write("{\"method\":" + one.method + ",\"parent\":" + one.parent.index + ",\"calls\":" + one.calls);
        out.write(",\"sum\":" + one.sum + ",\"durations\":");
        numbers(out, one.durations == null ? new long[0] : one.durations, one.durations == null ? 0 : (int) one.calls);
        out.write(",\"bins\":[");
        String comma = "";
        for (int bin = 0; one.bins != null && bin < one.bins.length; bin++) {
            if (one.bins[bin] > 0) {
                out.write(comma + "[" + bin + "," + one.bins[bin] + "]");
                comma = ",";
            }
        }
        boolean told = one.given != null && one.durations != null;
        out.write("],\"given\":");
        numbers(out, told ? Arrays.stream(one.given).asLongStream().toArray() : new long[0], told ? (int) one.calls : 0);
        out.write("}");
    }

    private static void numbers(Writer out, long[] values, int length) throws IOException {
        StringBuilder text = new StringBuilder("[");
        for (int i = 0; i < length; i++) {
            text.append(i > 0 ? "," : "").append(values[i]);
        }
        out.write(text.append(']').toString());
    }
}
