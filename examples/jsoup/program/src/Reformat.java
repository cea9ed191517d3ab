import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Document.OutputSettings;
import org.jsoup.nodes.Element;
import org.jsoup.nodes.Entities.EscapeMode;
import org.jsoup.nodes.Node;
import org.jsoup.parser.Parser;
import org.jsoup.safety.Cleaner;
import org.jsoup.safety.Safelist;
import org.jsoup.select.NodeFilter;

/** Parses a page with jsoup and writes it in ASCII, as the options want it; as often as a small site has pages. */
public final class Reformat {
    private static final int PAGES = 10;
    private static final String SITE = "https://example.org/";

    private final OutputSettings output = new OutputSettings().charset(StandardCharsets.US_ASCII);
    private Parser parser = Parser.htmlParser();
    private boolean clean;
    private boolean absolute;
    private boolean contents;
    private boolean strip;

    public static void main(String[] words) throws IOException {
        Reformat reformat = new Reformat();
        for (int i = 0; i < words.length - 1; i++) {
            reformat.option(words[i]);
        }
        String page = Files.readString(Path.of(words[words.length - 1]));
        long length = 0;
        for (int i = 0; i < PAGES; i++) {
            length += reformat.apply(page).length();
        }
        System.out.println(length);
    }

    private void option(String word) {
        switch (word) {
            case "--xml" -> parser = Parser.xmlParser();
            case "--xhtml" -> output.escapeMode(EscapeMode.xhtml);
            case "--extended" -> output.escapeMode(EscapeMode.extended);
            case "--outline" -> output.outline(true);
            case "--compact" -> output.prettyPrint(false);
            case "--clean" -> clean = true;
            case "--absolute" -> absolute = true;
            case "--contents" -> contents = true;
            case "--strip" -> strip = true;
            default -> throw new IllegalArgumentException(word);
        }
    }

    private String apply(String page) {
        Document document = Jsoup.parse(page, SITE, parser);
        if (clean) {
            document = new Cleaner(Safelist.relaxed()).clean(document);
        }
        document.outputSettings(output.clone());
        if (strip) {
            document.filter(new Comments());
        }
        if (absolute) {
            for (Element link : document.select("a[href], img[src]")) {
                String key = link.hasAttr("href") ? "href" : "src";
                link.attr(key, link.absUrl(key));
            }
        }
        StringBuilder text = new StringBuilder();
        if (contents) {
            for (Element heading : document.select("div > h2, div > h3")) {
                text.append(heading.text()).append('\n');
            }
        }
        return text.append(document.outerHtml()).toString();
    }

    /** Removes comments. */
    private static final class Comments implements NodeFilter {
        @Override
        public FilterResult head(Node node, int depth) {
            return node.nodeName().equals("#comment") ? FilterResult.REMOVE : FilterResult.CONTINUE;
        }

        @Override
        public FilterResult tail(Node node, int depth) {
            return FilterResult.CONTINUE;
        }
    }
}
