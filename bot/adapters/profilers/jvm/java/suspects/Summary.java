package suspects;

import java.lang.reflect.Array;
import java.util.Collection;
import java.util.Map;
import java.util.Set;

/** What a call was given: types, lengths and small numbers, never contents. Nothing of the program's code runs for it. */
final class Summary {
    private static final int MOST_ARGUMENTS = 8;
    private static final int SMALL = 1000;

    /** Classes whose size asks nobody else. */
    private static final Set<String> SIZED = Set.of(
            "java.util.ArrayList", "java.util.ArrayDeque", "java.util.LinkedList", "java.util.HashMap", "java.util.HashSet",
            "java.util.LinkedHashMap", "java.util.LinkedHashSet");

    private Summary() {}

    /** One line for each argument. */
    static String of(Object[] given) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < Math.min(given.length, MOST_ARGUMENTS); i++) {
            text.append(i > 0 ? "\n" : "").append(of(given[i]));
        }
        return text.toString();
    }

    private static String of(Object value) {
        if (value == null) {
            return "null";
        }
        if (value instanceof Boolean) {
            return "boolean " + value;
        }
        if (value instanceof Integer || value instanceof Long) {
            long number = ((Number) value).longValue();
            return Math.abs(number) <= SMALL && number != Long.MIN_VALUE ? "int " + number : "int ~2^" + Math.getExponent((double) number);
        }
        if (value instanceof Float || value instanceof Double) {
            double number = ((Number) value).doubleValue();
            return number == 0 || Double.isNaN(number) || Double.isInfinite(number) ? "float " + number : "float ~2^" + Math.getExponent(number);
        }
        Class<?> type = value.getClass();
        if (type == String.class) {
            return "String length " + ((String) value).length();
        }
        if (type.isArray()) {
            return type.getComponentType().isPrimitive() ? type.getComponentType() + "[] length " + Array.getLength(value)
                    : "array length " + Array.getLength(value);
        }
        if (SIZED.contains(type.getName()) && type.getClassLoader() == null) {
            int size = value instanceof Map ? ((Map<?, ?>) value).size() : ((Collection<?>) value).size();
            return name(type) + " length " + size;
        }
        return name(type);
    }

    /** Generated classes are called otherwise in each trial. */
    private static String name(Class<?> type) {
        String name = type.getName();
        return name.indexOf('/') >= 0 || name.contains("$$") ? "object" : name.substring(name.lastIndexOf('.') + 1);
    }
}
