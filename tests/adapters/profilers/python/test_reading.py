"""What a hostile program may leave in place of a profile."""

from __future__ import annotations

import pytest

from bot.adapters.profilers.python.cprofile import CountedBody, CProfile
from bot.adapters.profilers.python.reading import parse
from bot.model.profiles import Profile
from tests.adapters.profilers.python.programs import Checkout, calls

HEAD = b'{"version":1,"pid":1,"parent":0,"forked":false,"python":"3.12.1","cwd":"/"}\n'
BODY = b'{"files":["a.py"],"methods":[[0,1,"f",1,0,0.1,0.1]],"edges":[],"notes":[]}'


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"nonsense\n",
        b"\x80\x04cos\nsystem\n",
        HEAD.replace(b'"version":1', b'"version":2'),
        HEAD.replace(b'"pid":1', b'"pid":-1'),
        HEAD.replace(b"3.12.1", b"<b>"),
        b"[" * 1_000_000,
    ],
)
def test_a_file_that_is_not_the_agents_is_foreign(data: bytes) -> None:
    assert parse({"x.report": data}, CountedBody) == parse({}, CountedBody).__class__((), 1)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        BODY,  # its line is not complete
        b"{}{}\n",
        BODY.replace(b"0.1", b"NaN") + b"\n",
        BODY.replace(b"0.1", b"-1") + b"\n",
        BODY.replace(b"0.1", b"1e999") + b"\n",
        BODY.replace(b'"f",1', b'"f","1"') + b"\n",
        BODY.replace(b'"f"', b'"' + b"f" * 5000 + b'"') + b"\n",
        BODY.replace(b'"notes"', b'"more"') + b"\n",
        b"[" * 1_000_000 + b"\n",
    ],
)
def test_a_body_that_cannot_be_read_is_missing(body: bytes) -> None:
    (process,) = parse({"x.report": HEAD + body}, CountedBody).each
    assert process.body is None


def test_the_last_complete_line_counts() -> None:
    twice = HEAD + BODY + b"\n" + BODY.replace(b'"f"', b'"g"') + b"\n" + BODY[:20]
    (process,) = parse({"x.report": twice}, CountedBody).each
    assert process.body is not None
    assert process.body.methods[0][2] == "g"


def _forged(checkout: Checkout, forge: str) -> Profile:
    """A program that finds the agent's folder and writes there."""
    main = f"""
        import glob, os, sys
        def honest(): pass
        honest()
        folder = os.path.dirname(glob.glob({str(checkout.scratch)!r} + "/*/sitecustomize.py")[0])
        {forge}
        """
    checkout.write({"main.py": main})
    return CProfile().profile(checkout.target("main.py"))


@pytest.mark.parametrize(
    "forge",
    [
        "os.mkfifo(folder + '/a.report')",
        "os.symlink('/etc/passwd', folder + '/a.report')",
        "os.mkdir(folder + '/a.report')",
        "open(folder + '/a.report', 'w').write('nonsense')",
        "os.truncate(os.open(folder + '/a.report', os.O_CREAT | os.O_WRONLY), 1 << 28)",
    ],
)
def test_planted_files_are_left_alone_with_a_note(checkout: Checkout, forge: str) -> None:
    profile = _forged(checkout, forge)
    assert profile.outcome == "ok"
    assert calls(profile) == {"main:honest": 1}
    assert any("not" in note and "read" in note for note in profile.notes)


def test_a_profile_that_contradicts_itself_is_not_used(checkout: Checkout) -> None:
    body = BODY.replace(b"[[0,", b"[[9,").decode()
    profile = _forged(
        checkout, f"open(folder + '/a.report', 'w').write({HEAD.decode()!r} + {body!r} + '\\n')"
    )
    assert calls(profile) == {"main:honest": 1}
    assert "1 Python processes left a profile that contradicts itself; it was not used." in profile.notes


def test_a_program_that_removes_the_agent_costs_its_profile_only(checkout: Checkout) -> None:
    profile = _forged(checkout, "import shutil; shutil.rmtree(folder)")
    assert profile.outcome == "ok"
    assert profile.methods == {}
    assert any("No Python process" in note for note in profile.notes)


@pytest.mark.parametrize("options", [(), ("-S",)])
def test_an_agent_that_cannot_begin_is_nothing_the_program_hears_of(
    checkout: Checkout, options: tuple[str, ...]
) -> None:
    main = f"""
        import glob, os, subprocess, sys
        folder = os.path.dirname(glob.glob({str(checkout.scratch)!r} + "/*/sitecustomize.py")[0])
        os.remove(folder + "/settings.json")
        again = [sys.executable, *{options!r}]
        if again[1:]:
            again += [folder + "/suspects_start.py", "c", "print(1)"]
        else:
            again += ["-c", "print(1)"]
        done = subprocess.run(again, capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, "1\\n", ""), done
        """
    checkout.write({"main.py": main})
    assert CProfile().profile(checkout.target("main.py")).outcome == "ok"


def test_a_hundred_thousand_methods_are_bounded_and_told(checkout: Checkout) -> None:
    main = """
        lines = "\\n".join("def f%d(): pass\\nf%d()" % (i, i) for i in range(120_000))
        exec(compile(lines, "many.py", "exec"))
        """
    checkout.write({"main.py": main, "many.py": "\n"})
    profile = CProfile().profile(checkout.target("main.py"))
    assert profile.outcome == "ok"
    assert 90_000 < len(profile.methods) <= 100_001
    assert any("the cheapest are missing" in note for note in profile.notes)


def test_a_scratch_that_is_gone_is_an_error_of_ours(checkout: Checkout) -> None:
    target = checkout.target("-c", "pass")
    checkout.scratch.rmdir()
    profile = CProfile().profile(target)
    assert profile.outcome == "not-started"
    assert any("could not be put" in note for note in profile.notes)
