"""Frida around real programs: the calls it is asked for, whatever way they end."""

from __future__ import annotations

import numpy as np
import pytest

from bot.adapters.profilers.native.frida_watcher import FridaWatcher
from bot.model.profiles import Method
from tests.adapters.profilers.native.conftest import Forge
from tests.adapters.profilers.native.test_uftrace import LEAF, MAIN, MIDDLE, PROGRAM, one

SPIN = """
__attribute__((noinline)) int leaf(int n) {
  volatile int s = n; for (int i = 0; i < 20000; i++) s += i; return s;
}
"""
JUMPS = (
    "#include <setjmp.h>\nstatic jmp_buf back;"
    + SPIN
    + """
#define KEPT __attribute__((noinline)) int
KEPT inner(int n) { int s = leaf(n); if (n % 3 == 0) longjmp(back, 1); return s; }
KEPT middle(int n) { volatile int s = n; s += inner(n); return s + leaf(n); }
KEPT outer(int n) { return setjmp(back) ? 1 : middle(n) + 1; }
int main(void) { int s = 0; for (int n = 0; n < 300; n++) s += outer(n); return s == 1; }
"""
)
THROWS = (
    '#include <stdexcept>\n#define KEPT __attribute__((noinline)) int\nextern "C" {'
    + SPIN
    + """
KEPT released(int n) { volatile int s = n; s += 2; return leaf(s); }
struct Held { int n; ~Held() { released(n); } };
KEPT inner(int n) { volatile int s = leaf(n); if (n % 3 == 0) throw std::runtime_error("third"); return s; }
KEPT middle(int n) { Held held{n}; volatile int s = n; s += inner(n); return s + leaf(n); }
KEPT outer(int n) {
  volatile int s = n; s += 2;
  try { return middle(n) + s; } catch (const std::exception &) { return leaf(5); }
}
}
int main() { int s = 0; for (int n = 0; n < 300; n++) s += outer(n); return s == 1; }
"""
)


@pytest.fixture(scope="module")
def watcher() -> FridaWatcher:
    """Calibrated once."""
    return FridaWatcher()


def test_each_call_has_a_duration_and_its_callers(forge: Forge, watcher: FridaWatcher) -> None:
    forge.make("-g", "-O1", main_c=PROGRAM)
    assert watcher.missing(forge.target()) == ()
    profile = watcher.profile(forge.target(), [LEAF, MIDDLE, MAIN])
    assert (profile.outcome, profile.notes) == ("ok", ())
    leaf, middle = one(profile, LEAF, MAIN, MIDDLE), one(profile, MIDDLE, MAIN)
    assert (leaf.calls, middle.calls) == (100, 50)
    assert (leaf.method.file, leaf.method.line) == ("main.c", 3)
    # Every second call of the leaf has twice the work of the one before.
    assert np.median(leaf.durations[1::2] / leaf.durations[::2]) == pytest.approx(2, rel=0.25)
    assert profile.methods[LEAF].calls == 100
    assert 0 < profile.tool.bias < profile.tool.seconds_per_call
    assert list(forge.scratch.iterdir()) == []


def test_calls_left_by_a_jump_do_not_disturb_the_others(forge: Forge, watcher: FridaWatcher) -> None:
    forge.make("-O1", "-g", main_c=JUMPS)
    names = [Method(name, "main.c") for name in ("leaf", "inner", "middle", "outer")]
    leaf, inner, middle, outer = names
    profile = watcher.profile(forge.target(), names)
    assert profile.outcome == "ok"
    assert one(profile, outer).calls == 300
    assert one(profile, middle, outer).calls == 200
    assert one(profile, inner, outer, middle).calls == 200
    assert one(profile, leaf, outer, middle, inner).calls == 300
    assert one(profile, leaf, outer, middle).calls == 200
    assert len(profile.series) == 5


def test_exceptions_pass_through_watched_calls(forge: Forge, watcher: FridaWatcher) -> None:
    forge.make("-O1", "-g", compiler="g++", main_cpp=THROWS)
    names = [Method(name, "main.cpp") for name in ("leaf", "inner", "middle", "outer", "released")]
    leaf, _, middle, outer, released = names
    profile = watcher.profile(forge.target(), names)
    assert profile.outcome == "ok"
    assert profile.notes == ()
    assert one(profile, outer).calls == 300
    assert one(profile, middle, outer).calls == 200
    assert one(profile, leaf, outer, middle).calls == 200
    assert one(profile, leaf, outer).calls == 100
    assert sum(s.calls for s in profile.series if s.method == released) == 300
