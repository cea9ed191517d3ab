package suspects;

/** Names of methods: {@code pkg.Class.method}, nested classes with dots; null for what counts to its caller. */
public final class Names {
    private Names() {}

    /** A method's name; null for lambdas, bridges, anonymous and generated classes. */
    public static String method(String type, String method, boolean synthetic) {
        String owner = owner(type, false);
        return owner == null || synthetic || method.contains("$anonfun$") ? null : owner + "." + method;
    }

    /** What a method without a named caller is called by: a lambda by what it stands in. Null: nothing is sure. */
    public static String orphan(String type, String method) {
        String owner = owner(type, true);
        if (owner == null) {
            return null;
        }
        if (method.startsWith("lambda$") && method.lastIndexOf('$') > 7) {
            String within = method.substring(7, method.lastIndexOf('$'));
            return owner + "." + (within.equals("new") ? "<init>" : within.equals("static") ? "<clinit>" : within);
        }
        return owner + "." + method;
    }

    private static String owner(String type, boolean anonymous) {
        int start = type.lastIndexOf('.') + 1;
        String simple = type.substring(start);
        if (type.contains("$$") || type.contains("/") || type.contains("+0x") || simple.startsWith("0x")
                || simple.startsWith("$Proxy")) {
            return null; // hidden classes, proxies, and what libraries generate
        }
        StringBuilder name = new StringBuilder(type.substring(0, start));
        for (String part : simple.split("\\$")) {
            if (part.isEmpty()) {
                continue;
            }
            String text = part.replaceFirst("^\\d+", ""); // the number of a local class changes with others
            if (text.isEmpty() && !anonymous) {
                return null;
            }
            name.append(name.length() > start ? "." : "").append(text.isEmpty() ? "<anonymous>" : text);
        }
        return name.length() > start ? name.toString() : null;
    }
}
