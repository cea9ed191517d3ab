"""Java programs whose costs are known."""

from __future__ import annotations

BURN = """
    static double burn(int milliseconds) {
        double x = 0; // clocks are native code, in which JFR does not sample
        for (int i = 0; i < milliseconds * 200_000; i++) x = Math.sqrt(x + i);
        return x;
    }
"""
PRESS = {
    "shop/Press.java": f"""package shop;
import java.util.List;
import java.util.function.Function;

public class Press {{
    interface Part<T extends Comparable<T>> extends Comparable<Part<T>> {{ T turn(T given); }}

    static class Wheel implements Part<Integer> {{
        public Integer turn(Integer given) {{ burn(10); return given; }}
        public int compareTo(Part<Integer> other) {{ return 0; }}
    }}
{BURN}
    static double each(List<Integer> all) {{
        double[] sum = {{0}};
        all.forEach(one -> sum[0] += Press.<Integer>same(one, x -> x + 1) + burn(10));
        return sum[0];
    }}

    static <T> T same(T given, Function<T, T> how) {{ return how.apply(given); }}

    public static void main(String[] arguments) throws Exception {{
        Part<Integer> part = new Wheel();
        for (int i = 0; i < 30; i++) part.turn(i);
        each(List.of(1, 2, 3, 4, 5, 6, 7));
        Thread thread = new Thread(() -> burn(50));
        thread.start();
        thread.join();
        new Runnable() {{ public void run() {{ burn(20); }} }}.run();
    }}
}}
"""
}
RUN_PRESS = ("java", "-cp", "classes", "shop.Press")


def program(body: str, *, more: str = "") -> dict[str, str]:
    """A class `Small` in no package with this body of main."""
    return {
        "Small.java": f"public class Small {{ {BURN} {more}\n"
        f"public static void main(String[] arguments) throws Exception {{ {body} }} }}\n"
    }


RUN_SMALL = ("java", "-cp", "classes", "Small")
