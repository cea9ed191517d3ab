"""The agent that times chosen functions, on every interpreter there is."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

from bot.adapters.profilers.call_budget import call_budget
from bot.adapters.profilers.call_series import bin_of
from bot.adapters.profilers.launching import launch
from bot.adapters.profilers.python.agent import suspects_timing
from bot.adapters.profilers.python.cprofile import CProfile
from bot.adapters.profilers.python.fine import COSTS, PythonFine
from bot.model.profiles import CallSeries, Method, MethodCost, Profile, Tool
from tests.adapters.profilers.python.programs import Checkout

MAIN = """
    import threading, time
    class Shop:
        def open(self, days, goods=()):
            "Documented."
            return [self.sell(day) for day in range(days)]
        def sell(self, day):
            time.sleep(0.002)
            return day
        @staticmethod
        def shut(*rest, **options):
            def bolt():
                return rest
            return bolt()
    def stock(n):
        for i in range(n):
            got = yield i
            if got: time.sleep(0.002)
    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)
    def fails():
        raise ValueError("secret")
    def caller(n):
        for _ in range(n): tiny()
    def tiny(): pass
    def main():
        shop = Shop()
        shop.open(5, goods=["x"] * 7)
        shop.shut(1, 2, key="secret")
        for _ in stock(3): time.sleep(0.01)
        closed = stock(3); next(closed); closed.close()
        thrown = stock(3); next(thrown)
        try: thrown.throw(KeyError())
        except KeyError: pass
        factorial(4)
        for _ in range(3):
            try: fails()
            except ValueError: pass
        thread = threading.Thread(target=factorial, args=(3,))
        thread.start()
        thread.join()
    """
FILES = {"shop.py": MAIN, "main.py": "import shop\nshop.main()\n"}


def timed(checkout: Checkout, *names: str, main: str = "main.py", fine: PythonFine | None = None) -> Profile:
    methods = [Method(f"shop:{name}", "shop.py") for name in names]
    return (fine or PythonFine()).profile(checkout.target(main), methods)


def of(profile: Profile, name: str) -> list[CallSeries]:
    return [series for series in profile.series if series.method.name == f"shop:{name}"]


def test_each_call_is_timed_with_what_it_calls(any_checkout: Checkout) -> None:
    any_checkout.write(FILES)
    profile = timed(any_checkout, "Shop.open", "Shop.sell")
    assert profile.outcome == "ok"
    (opened,), (sold,) = of(profile, "Shop.open"), of(profile, "Shop.sell")
    assert (opened.calls, sold.calls) == (1, 5)
    assert sold.durations.shape == (5,)
    assert (sold.durations > 0.002).all()
    assert opened.durations[0] > 0.01
    assert sold.seconds == pytest.approx(sold.durations.sum())


def test_a_path_leads_from_the_outermost_caller(any_checkout: Checkout) -> None:
    any_checkout.write(FILES)
    (sold,) = of(timed(any_checkout, "Shop.sell"), "Shop.sell")
    assert [m.name for m in sold.path] == ["main:<module>", "shop:main", "shop:Shop.open"]


def test_recursion_has_a_path_for_each_depth_in_each_thread(any_checkout: Checkout) -> None:
    any_checkout.write(FILES)
    series = of(timed(any_checkout, "factorial"), "factorial")
    depths = sorted(sum(m.name == "shop:factorial" for m in one.path) for one in series)
    assert depths == [0, 0, 1, 1, 2, 2, 3]
    assert {one.calls for one in series} == {1}


def test_a_generator_is_one_call_without_the_time_it_is_suspended(any_checkout: Checkout) -> None:
    any_checkout.write(FILES)
    series = of(timed(any_checkout, "stock"), "stock")
    assert sum(one.calls for one in series) == 3
    assert max(one.durations.max() for one in series) < 0.01


def test_calls_that_raise_are_calls(any_checkout: Checkout) -> None:
    any_checkout.write(FILES)
    (failed,) = of(timed(any_checkout, "fails"), "fails")
    assert failed.calls == 3


def test_functions_in_functions_and_static_methods_are_found(any_checkout: Checkout) -> None:
    any_checkout.write(FILES)
    profile = timed(any_checkout, "Shop.shut", "Shop.shut.<locals>.bolt")
    assert len(of(profile, "Shop.shut")) == len(of(profile, "Shop.shut.<locals>.bolt")) == 1


def test_arguments_are_types_lengths_and_small_numbers_never_contents(any_checkout: Checkout) -> None:
    any_checkout.write(FILES)
    profile = timed(any_checkout, "Shop.open", "Shop.shut", "factorial")
    (opened,), (shut,) = of(profile, "Shop.open"), of(profile, "Shop.shut")
    assert opened.arguments == (("self=Shop", "days=int 5", "goods=list[7]"),)
    assert shut.arguments == (("rest=tuple[2]", "options=dict[1]"),)
    assert "secret" not in repr(profile)


def test_the_script_itself_can_be_timed(any_checkout: Checkout) -> None:
    any_checkout.write({"shop.py": MAIN + "\n    if __name__ == '__main__': main()\n"})
    profile = timed(any_checkout, "Shop.sell", main="shop.py")
    assert profile.outcome == "ok"
    assert sum(one.calls for one in of(profile, "Shop.sell")) == 5


def test_many_calls_become_a_histogram(any_checkout: Checkout) -> None:
    any_checkout.write({**FILES, "main.py": "import shop\nshop.caller(100_500)\n"})
    (tiny,) = of(timed(any_checkout, "tiny"), "tiny")
    assert tiny.calls == 100_500
    assert tiny.durations.size == 0
    assert tiny.counts.sum() == 100_500
    assert tiny.edges.shape == (tiny.counts.size + 1,)
    assert (np.diff(tiny.edges) > 0).all()
    assert tiny.arguments == ()


def test_forks_are_followed(any_checkout: Checkout) -> None:
    main = """
        import os, shop
        shop.caller(2)
        if os.fork() == 0:
            shop.caller(3)
            os._exit(0)
        os.wait()
        """
    any_checkout.write({**FILES, "main.py": main})
    assert sum(one.calls for one in of(timed(any_checkout, "tiny"), "tiny")) == 5


def test_coroutines_end_once(any_checkout: Checkout) -> None:
    main = """
        import asyncio
        async def nap():
            await asyncio.sleep(0.001)
        async def main():
            await asyncio.gather(nap(), nap(), nap())
        asyncio.run(main())
        """
    any_checkout.write({"shop.py": main})
    profile = timed(any_checkout, "nap", main="shop.py")
    assert profile.outcome == "ok"
    assert sum(one.calls for one in of(profile, "nap")) == 3


def coarse(calls: int, seconds: float) -> Profile:
    tool = Tool(name="x", version="1", grain="coarse", quantities=frozenset({"calls"}), slowdown=1.0)
    method = Method("shop:tiny", "shop.py")
    return Profile(tool=tool, outcome="ok", seconds=seconds, methods={method: MethodCost(1.0, calls=calls)})


def test_frequent_methods_are_sampled_to_keep_the_overhead(any_checkout: Checkout) -> None:
    any_checkout.write({**FILES, "main.py": "import shop\nshop.caller(20_000)\n"})
    profile = timed(any_checkout, "tiny", fine=PythonFine(coarse(20_000, seconds=0.35)))
    (tiny,) = of(profile, "tiny")
    assert tiny.calls == 20_000
    assert 1_000 < tiny.durations.size < 4_000
    assert any(note.startswith("One in 12 calls was timed") for note in profile.notes)


def test_methods_that_are_called_too_often_are_left_out_and_told(checkout: Checkout) -> None:
    checkout.write({**FILES, "main.py": "import shop\nshop.caller(20_000)\n"})
    profile = timed(checkout, "tiny", "caller", fine=PythonFine(coarse(20_000, seconds=0.01)))
    assert of(profile, "tiny") == []
    assert len(of(profile, "caller")) == 1
    assert any(note.startswith("Not timed, because called too often") for note in profile.notes)


def test_the_rarest_methods_are_timed_first_and_the_rest_within_the_budget() -> None:
    rare, often, hot = Method("m:rare"), Method("m:often"), Method("m:hot")
    budget = call_budget({hot: 10_000_000, rare: 500, often: 50_000}, costs=COSTS, seconds=1.0, target=0.1)
    assert budget.too_many == (hot,)
    assert budget.every[rare] == 1
    assert budget.every[often] == 5
    assert budget.overhead <= 0.1
    assert call_budget({hot: 10_000_000}, costs=COSTS, seconds=100.0, target=0.1).every[hot] == 12
    assert call_budget({rare: 500}, costs=COSTS, seconds=0.0, target=0.1).too_many == (rare,)


def test_a_method_that_is_not_there_is_told_and_no_other_takes_its_place(any_checkout: Checkout) -> None:
    files = {
        "other/shop.py": MAIN,
        "main.py": "import sys; sys.path[0] += '/other'; import shop; shop.main()",
    }
    any_checkout.write(files)
    profile = timed(any_checkout, "Shop.sell")
    assert profile.outcome == "ok"
    assert profile.series == ()
    assert "1 of 1 chosen methods were not seen: `shop:Shop.sell`." in profile.notes


def test_a_program_behaves_the_same_under_it(any_checkout: Checkout) -> None:
    main = """
        import sys, shop
        shop.main()
        modules = sorted(sys.modules)
        import inspect, json, traceback
        try:
            shop.fails()
        except ValueError:
            told = traceback.format_exc()
        seen = [
            told, modules, sys.path, list(vars(shop)), str(inspect.signature(shop.Shop.open)),
            shop.Shop.open.__doc__, shop.Shop.open.__code__.co_firstlineno,
            inspect.getsource(shop.stock), shop.stock(1).gi_code.co_name,
        ]
        with open(sys.argv[1], "w") as file:
            file.write(json.dumps(seen))
        """
    any_checkout.write({**FILES, "main.py": main})
    path = any_checkout.scratch / "told"
    target = any_checkout.target("-B", "-c", "import main", str(path))
    assert launch(target, target.words).outcome == "ok"
    alone = json.loads(path.read_text())
    methods = [Method(f"shop:{name}", "shop.py") for name in ("fails", "stock", "Shop.open")]
    profile = PythonFine().profile(target, methods)
    assert profile.outcome == "ok"
    assert len({series.method for series in profile.series}) == 3
    watched = json.loads(path.read_text())
    watched[1] = [name for name in watched[1] if name not in {"atexit", "_ast"} - set(alone[1])]  # built in
    assert [(a, w) for a, w in zip(alone, watched, strict=True) if a != w] == []


def test_cprofile_and_the_agent_count_the_same_calls(any_checkout: Checkout) -> None:
    any_checkout.write(FILES)
    counted = CProfile().profile(any_checkout.target("main.py"))
    profile = timed(any_checkout, "factorial", "Shop.sell", "fails")
    for method in ("factorial", "Shop.sell", "fails"):
        calls = counted.methods[Method(f"shop:{method}", "shop.py")].calls
        assert sum(series.calls for series in of(profile, method)) == calls


@pytest.mark.parametrize("duration", [0, 1, 31, 32, 63, 64, 65, 1000, 123_456_789, (1 << 40) + 1])
def test_the_agents_bins_are_those_of_all_profilers(duration: int) -> None:
    source = Path(suspects_timing.__file__).read_text()  # the file runs in the program: nothing to import
    space: dict[str, Callable[[int], int]] = {}
    exec(source[source.index("def bin_of") : source.index("class Timing")], space)
    assert space["bin_of"](duration) == bin_of(np.array([duration]))[0]


def test_a_call_lasts_as_long_as_those_in_it_when_the_tool_was_calibrated_in_a_slower_moment() -> None:
    recorder = suspects_timing.Recorder(2, lambda frame: None)
    recorder.edge[0] = 1_000_000  # ns, more than all but the innermost call takes

    def new_frame() -> FrameType:
        return sys._getframe()

    def call(frames: list[FrameType]) -> None:
        row = recorder.rows.setdefault(len(frames), suspects_timing.Row(frames[0].f_code, 1, arguments=False))
        recorder.enter(row, frames[0], time.perf_counter_ns())
        if frames[1:]:
            call(frames[1:])
        else:
            time.sleep(0.002)
        recorder.leave(id(frames[0]), time.perf_counter_ns())

    call([new_frame() for _ in range(20)])
    ((innermost,), *around) = [
        [duration for series in recorder.rows[depth].series.values() for duration in series.durations]
        for depth in range(1, 21)
    ]
    assert innermost >= 2_000_000
    assert all(innermost <= duration <= 2 * innermost for (duration,) in around)


def test_the_end_of_the_stack_belongs_to_the_program(any_checkout: Checkout) -> None:
    main = """
        import sys
        def deep(n):
            return 0 if n == 0 else 1 + deep(n - 1)
        def main():
            try:
                deep(10 ** 6)
            except RecursionError:
                pass
            assert deep(50) == 50
        main()
        """
    any_checkout.write({"shop.py": main})
    profile = timed(any_checkout, "deep", "main", main="shop.py")
    assert profile.outcome == "ok"
    (outer,) = of(profile, "main")
    assert outer.calls == 1
    # Whatever was missed at the end of the stack, no call is longer than the one around it.
    assert max(series.durations.max(initial=0.0) for series in of(profile, "deep")) <= outer.durations[0]


def test_a_generator_that_catches_what_is_thrown_in_goes_on(any_checkout: Checkout) -> None:
    main = """
        import time
        def stubborn():
            for _ in range(3):
                try:
                    yield
                except KeyError:
                    time.sleep(0.001)
        def around():
            generator = stubborn()
            next(generator)
            generator.throw(KeyError())
            next(generator)
            for _ in generator: pass
        around()
        """
    any_checkout.write({"shop.py": main})
    profile = timed(any_checkout, "stubborn", "around", main="shop.py")
    (around,) = of(profile, "around")
    assert around.calls == 1
    assert around.durations[0] >= 0.001
    assert sum(one.calls for one in of(profile, "stubborn")) == 1
