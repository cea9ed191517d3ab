"""Programs that fork, exec, crash, close, delete, redefine: profiled as far as possible, never disturbed."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from bot.adapters.profilers.launching import launch
from bot.adapters.profilers.python.cprofile import CProfile
from bot.model.profiles import Profile, Target
from bot.model.sites import Account
from tests.adapters.profilers.python.programs import Checkout, calls, told

WORK = """
    def work(n):
        return [step(i) for i in range(n)]

    def step(i):
        return i
    """


def profiled(checkout: Checkout, main: str, *options: str) -> Profile:
    checkout.write({"work.py": WORK, "main.py": main})
    return CProfile().profile(checkout.target(*options, "main.py"))


def test_forks_are_followed_and_add_up(any_checkout: Checkout) -> None:
    profile = profiled(
        any_checkout,
        """
        import os, work
        work.work(10)
        child = os.fork()
        if child == 0:
            work.work(5)
            os._exit(0)
        os.waitpid(child, 0)
        """,
    )
    assert (profile.outcome, told(profile)) == ("ok", ())
    assert calls(profile) == {"work:work": 2, "work:step": 15}


def test_worker_processes_that_are_killed_leave_what_they_did(any_checkout: Checkout) -> None:
    profile = profiled(
        any_checkout,
        """
        import multiprocessing, work
        if __name__ == "__main__":
            with multiprocessing.get_context("fork").Pool(2) as pool:
                pool.map(work.work, [3, 4], 1)
        """,
    )
    assert profile.outcome == "ok"
    assert all("killed" in note or "without a profile" in note for note in told(profile))
    # A worker may be killed before it waits again; then that is said, and nothing is invented.
    assert set(calls(profile)) <= {"work:work", "work:step"}
    assert (calls(profile).get("work:step") or 0) <= 7


def test_a_worker_process_is_seen_up_to_when_it_last_waited(any_checkout: Checkout) -> None:
    profile = profiled(
        any_checkout,
        """
        import multiprocessing, os, signal, work
        def served(tasks, done):
            while True:
                work.work(tasks.get())
                done.put(None)
        if __name__ == "__main__":
            context = multiprocessing.get_context("fork")
            tasks, done = context.SimpleQueue(), context.SimpleQueue()
            worker = context.Process(target=served, args=(tasks, done), daemon=True)
            worker.start()
            for n in (2, 3):
                tasks.put(n)
                done.get()
            while open("/proc/%d/stat" % worker.pid).read().split()[2] != "S":
                pass
            worker.terminate()
            worker.join()
            assert worker.exitcode == -signal.SIGTERM
        """,
    )
    assert profile.outcome == "ok"
    (note,) = told(profile)
    assert note.startswith("1 of 2 Python processes were killed while they waited for work")
    assert calls(profile) == {"work:work": 2, "work:step": 5}


def test_children_started_anew_are_watched_too(any_checkout: Checkout) -> None:
    profile = profiled(
        any_checkout,
        """
        import subprocess, sys, work
        work.work(1)
        subprocess.run([sys.executable, "-c", "import work; work.work(2)"], check=True)
        """,
    )
    assert (profile.outcome, told(profile)) == ("ok", ())
    assert calls(profile) == {"work:work": 2, "work:step": 3}


def test_what_ran_before_an_exec_is_not_lost(any_checkout: Checkout) -> None:
    profile = profiled(
        any_checkout,
        """
        import os, sys, work
        work.work(1)
        try:
            os.execv("/nowhere", ["nowhere"])
        except OSError:
            work.work(1)
        os.execv(sys.executable, [sys.executable, "-c", "import work; work.work(2)"])
        """,
    )
    assert (profile.outcome, told(profile)) == ("ok", ())
    assert calls(profile) == {"work:work": 3, "work:step": 4}


def test_a_daemon_that_outlives_the_trial_is_told(checkout: Checkout) -> None:
    profile = profiled(
        checkout,
        """
        import os, time, work
        ready, tell = os.pipe()
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.write(tell, b"!")
                time.sleep(60)
            os._exit(0)
        os.read(ready, 1)
        work.work(2)
        """,
    )
    assert profile.outcome == "ok"
    assert calls(profile) == {"work:work": 1, "work:step": 2}
    assert any("1 of 3 Python processes ended without a profile" in note for note in profile.notes)


def test_a_crash_is_an_outcome_with_a_note(any_checkout: Checkout) -> None:
    profile = profiled(any_checkout, "import os, work\nwork.work(1)\nos.kill(os.getpid(), 11)")
    assert profile.outcome == "signal"
    assert profile.methods == {}
    assert any("SIGSEGV" in note for note in profile.notes)
    assert any("ended without a profile" in note for note in profile.notes)


def test_a_terminated_program_still_dies_of_the_signal(any_checkout: Checkout) -> None:
    profile = profiled(
        any_checkout, "import os, time, work\nwork.work(2)\nos.kill(os.getpid(), 15)\ntime.sleep(9)"
    )
    assert profile.outcome == "signal"
    assert calls(profile) == {"work:work": 1, "work:step": 2}


def test_an_exit_code_and_an_uncaught_exception_stay_what_they_are(any_checkout: Checkout) -> None:
    any_checkout.write({"work.py": WORK, "main.py": "import work\nwork.work(2)\nraise SystemExit(7)"})
    profile = CProfile().profile(any_checkout.target("main.py"))
    assert profile.outcome == "exit"
    assert any("exit code 7" in note for note in profile.notes)
    assert calls(profile) == {"work:work": 1, "work:step": 2}
    failing = CProfile().profile(any_checkout.target("-S", "-c", "1 / 0"))
    assert failing.outcome == "exit"


def test_a_profiler_of_the_programs_own_works_or_is_told(any_checkout: Checkout) -> None:
    profile = profiled(
        any_checkout,
        """
        import sys, work
        work.work(1)
        seen = []
        sys.setprofile(lambda frame, event, argument: seen.append(event))
        work.work(2)
        sys.setprofile(None)
        assert seen.count("call") >= 3, seen
        """,
    )
    assert profile.outcome == "ok"
    if told(profile):
        assert told(profile) == ("The program set a profiler of its own: what ran under that is missing.",)
    else:
        assert calls(profile)["work:step"] == 3


def test_a_program_that_deletes_os_and_closes_everything_is_profiled(any_checkout: Checkout) -> None:
    profile = profiled(
        any_checkout,
        """
        import os, sys, work
        work.work(2)
        os.closerange(0, 256)
        os.chdir("/")
        for name in list(vars(os)):
            if name not in ("fsencode", "fspath"):
                delattr(os, name)
        del sys.modules["os"], sys.modules["posix"]
        """,
    )
    assert profile.outcome == "ok"
    assert calls(profile) == {"work:work": 1, "work:step": 2}


def test_a_sitecustomize_of_the_programs_own_is_run(any_checkout: Checkout) -> None:
    any_checkout.write(
        {
            "work.py": WORK,
            "site/sitecustomize.py": "import sys\nsys.marked = 'theirs'",
            "main.py": """
                import sys, work
                import sitecustomize
                assert sys.marked == "theirs"
                assert sitecustomize.__file__.endswith("site/sitecustomize.py"), sitecustomize.__file__
                work.work(1)
                """,
        }
    )
    place = str(any_checkout.root / "site")
    profile = CProfile().profile(any_checkout.target("main.py", env={"PYTHONPATH": place}))
    assert (profile.outcome, told(profile)) == ("ok", ())
    assert calls(profile)["work:step"] == 1


SEEN = """
    import sys
    def show():
        import __main__
        modules = sorted(sys.modules)
        warnings = sys.modules.get("warnings")
        main = {k: "there" if k.startswith("__b") else repr(v) for k, v in vars(__main__).items()}
        seen = {
            "argv": sys.argv, "path": sys.path, "flags": repr(sys.flags), "options": sys.warnoptions,
            "given": getattr(sys, "orig_argv", None), "modules": modules, "main": main,
            "filters": repr(warnings.filters) if warnings else None, "executable": sys.executable,
            "finders": sorted(map(repr, sys.meta_path)), "hooks": repr(sys.excepthook),
            "places": sorted(sys.path_importer_cache),
        }
        import json, re
        text = re.sub("0x[0-9a-f]+", "0x", json.dumps(seen))
        with open(sys.argv[1], "w") as file:
            file.write(text)
    """


@pytest.mark.parametrize("options", [(), ("-S",), ("-I",), ("-E", "-W", "error")])
@pytest.mark.parametrize("way", ["script", "module", "code"])
def test_a_program_sees_nothing_of_it(any_checkout: Checkout, options: tuple[str, ...], way: str) -> None:
    any_checkout.write(
        {
            "seen.py": SEEN,
            "main.py": "import sys; sys.path.append('.'); from seen import show; show()",
            "pkg/__init__.py": "",
            "pkg/__main__.py": "from seen import show; show()",
        }
    )
    code = "import sys; sys.path.append('.'); from seen import show; show()"
    words = {"script": ("main.py",), "module": ("-m", "pkg"), "code": ("-c", code)}[way]
    if way == "module" and "-I" in options:
        pytest.skip("-I does not look for modules in the working directory")
    path = any_checkout.scratch / "told"
    target = any_checkout.target("-B", *options, *words, str(path))
    assert launch(target, target.words).outcome == "ok"
    alone = json.loads(path.read_text())
    profile = CProfile().profile(target)
    assert profile.outcome == "ok"
    assert "seen:show" in calls(profile)
    watched = json.loads(path.read_text())
    for seen in (alone, watched):
        # Built in, and needed to hear of the end; and what -c leaves for tracebacks from 3.13 on.
        seen["modules"] = [name for name in seen["modules"] if name not in ("atexit", "linecache")]
        # Which folders were looked into depends on the order of imports; ours is not among them.
        assert not any("python-" in place for place in seen.pop("places"))
    assert {key: (alone[key], watched[key]) for key in alone if alone[key] != watched[key]} == {}


def test_a_shell_script_and_a_script_with_a_first_line_are_watched(any_checkout: Checkout) -> None:
    any_checkout.write(
        {
            "work.py": WORK,
            "direct": f"#!{any_checkout.interpreter} -S\nimport sys\nimport work\nwork.work(2)\n",
            "shell": f'#!/bin/sh\nexec {any_checkout.interpreter} -m work2 "$@"\n',
            "work2.py": "import work; work.work(3)",
        }
    )
    for name, steps in (("direct", 2), ("shell", 3)):
        (any_checkout.root / name).chmod(0o755)
        target = any_checkout.target()
        profile = CProfile().profile(
            Target(
                words=(f"./{name}",), env=target.env, root=target.root, cwd=target.cwd, scratch=target.scratch
            )
        )
        assert (profile.outcome, told(profile)) == ("ok", ())
        assert calls(profile)["work:step"] == steps


def test_a_program_without_python_is_said_to_be_none(checkout: Checkout) -> None:
    target = checkout.target()
    profile = CProfile().profile(
        Target(words=("true",), env=target.env, root=target.root, cwd=target.cwd, scratch=target.scratch)
    )
    assert profile.outcome == "ok"
    assert any("No Python process" in note for note in profile.notes)


def test_names_with_unicode_and_markup_stay_one_line(checkout: Checkout) -> None:
    main = """
        import types
        def größe(): pass
        größe()
        def odd(): pass
        odd.__code__ = odd.__code__.replace(co_name="a`|<b>\\n# x", **QUAL)
        odd()
        bad = odd.__code__.replace(co_name="\\ud800\\u202e", **BAD)
        types.FunctionType(bad, {})()
        """
    qualified = 'QUAL = {"co_qualname": "a`|<b>\\n# x"} if hasattr(main_code(), "co_qualname") else {}\n'
    bad = 'BAD = {"co_qualname": "\\ud800\\u202e"} if hasattr(main_code(), "co_qualname") else {}\n'
    checkout.write(
        {"main.py": "def main_code(): return main_code.__code__\n" + qualified + bad + _dedented(main)}
    )
    profile = CProfile().profile(checkout.target("main.py"))
    assert profile.outcome == "ok"
    assert "main:größe" in calls(profile)
    assert "main:a`|<b> # x" in calls(profile)
    assert all(name.isprintable() for name in calls(profile))


def _dedented(text: str) -> str:
    import textwrap

    return textwrap.dedent(text)


def test_waiting_is_told_since_it_looks_like_work(checkout: Checkout) -> None:
    profile = profiled(checkout, "import time\ndef nap(): time.sleep(0.5)\nnap()")
    assert any("waited" in note for note in profile.notes)


def test_a_generator_counts_once_a_resumption(any_checkout: Checkout) -> None:
    profile = profiled(any_checkout, "def g():\n    yield 1\n    yield 2\nlist(g())")
    assert calls(profile) == {"main:g": 3}


def test_threads_that_still_run_at_the_end_are_counted(any_checkout: Checkout) -> None:
    profile = profiled(
        any_checkout,
        """
        import threading, work
        def served(ready):
            work.work(3)
            ready.set()
            threading.Event().wait()
        for _ in range(3):
            ready = threading.Event()
            threading.Thread(target=served, args=(ready,), daemon=True).start()
            ready.wait()
        """,
    )
    assert (profile.outcome, told(profile)) == ("ok", ())
    assert calls(profile) == {"main:served": 3, "work:work": 3, "work:step": 9}


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("python3", path="/usr/bin"), reason="needs root")
def test_it_works_under_an_account_of_its_own(open_path: Path) -> None:
    checkout = Checkout(open_path, "/usr/bin/python3")
    checkout.write({"work.py": WORK, "main.py": "import os, work\nwork.work(2)\nassert os.getuid() == 64999"})
    target = checkout.target("main.py")
    account = Account(64999, 64999)
    profile = CProfile().profile(
        Target(
            words=target.words,
            env=target.env,
            root=target.root,
            cwd=target.cwd,
            scratch=target.scratch,
            account=account,
        )
    )
    assert (profile.outcome, told(profile)) == ("ok", ())
    assert calls(profile) == {"work:work": 1, "work:step": 2}


def test_a_program_that_profiles_itself_still_can_from_3_12_on(any_checkout: Checkout) -> None:
    profile = profiled(
        any_checkout,
        """
        import cProfile, pstats, work
        work.work(1)
        own = cProfile.Profile()
        own.runcall(work.work, 3)
        assert any(key[2] == "step" and row[0] == 3 for key, row in pstats.Stats(own).stats.items())
        work.work(1)
        """,
    )
    assert profile.outcome == "ok"
    if not told(profile):
        assert calls(profile)["work:step"] == 5
