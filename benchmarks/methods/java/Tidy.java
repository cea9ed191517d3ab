import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Entities;
import org.jsoup.parser.Parser;
import org.jsoup.safety.Safelist;

/** Tidy FILE [--xml] [--outline] [--plain] [--extended] [--clean] [--select]: parses a page many times and prints lengths. */
public final class Tidy {
    private static final int TIMES = 9;

    public static void main(String[] words) throws IOException {
        List<String> given = List.of(words);
        String page = Files.readString(Path.of(words[0]));
        long length = 0;
        for (int time = 0; time < TIMES; time++) {
            Parser parser = given.contains("--xml") ? Parser.xmlParser() : Parser.htmlParser();
            Document document = Jsoup.parse(page, "https://example.org/", parser);
            document.outputSettings().outline(given.contains("--outline")).prettyPrint(!given.contains("--plain"));
            if (given.contains("--extended")) {
                document.outputSettings().escapeMode(Entities.EscapeMode.extended);
            }
            if (given.contains("--select")) {
                length += document.select("p > a[href], li code").size();
            }
            if (given.contains("--clean")) {
                length += Jsoup.clean(document.body().html(), Safelist.relaxed()).length();
            }
            length += document.outerHtml().length();
        }
        System.out.println(length);
    }
}
