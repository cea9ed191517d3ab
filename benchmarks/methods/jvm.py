"""JVM programs with planted slow-downs: a compressor and an HTML tidier over the distribution's libraries."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from benchmarks.methods.braces import body
from benchmarks.methods.cases import Program, Slowdown
from benchmarks.methods.pages import write_page
from bot.adapters.profilers.jvm.sampler import JvmSampler
from bot.model.profiles import Method

MAINS = Path(__file__).with_name("java")
LIBRARIES = {"press": "libcommons-compress-java", "tidy": "jsoup"}
"""Source packages."""
ANNOTATIONS = "libjsr305-java"
"""What jsoup needs to be compiled."""
PLACES = Path("/etc/apt/sources.list.d")
INPUT_BYTES = 1_200_000
ENCODING = "ISO-8859-1"
"""In which every file can be read and written back."""

_WORK = {
    "loop": "int w0 = P.x; for (int w1 = 0; w1 < AMOUNT; w1++) w0 = w0 * 31 + (w0 >>> 7) + w1; P.x = w0;",
    "allocation": "java.util.ArrayList<int[]> w0 = new java.util.ArrayList<>();"
    " for (int w1 = 0; w1 < AMOUNT; w1++) w0.add(new int[] {w1, w1}); P.kept = w0;",
    "text": "StringBuilder w0 = new StringBuilder();"
    " for (int w1 = 0; w1 < AMOUNT; w1++) w0.append((char) (97 + w1 % 26));"
    ' P.x = w0.toString().split("e").length;',
    "calls": "for (int w1 = 0; w1 < AMOUNT; w1++) P.x = workStep(P.x, 30);",
    "helper": "P.x = workStep(P.x, AMOUNT);",
}
_STEP = (
    " static int workStep(int x, int n) {"
    " for (int i = 0; i < n; i++) x = x * 31 + (x >>> 7) + i; return x; } "
)
_STATE = """package planted;
public final class State {
    public static int x = 1;
    public static int calls;
    public static Object kept;
    private static int given = -1;
    public static boolean given(String word) {
        if (given < 0) {
            given = (" " + System.getProperty("sun.java.command") + " ").contains(" " + word + " ") ? 1 : 0;
        }
        return given == 1;
    }
}
"""


class Jvm:
    """Java, compiled by the javac and run by the java on the PATH."""

    name = "jvm"
    programs = (
        Program("press", ("java", "-cp", "classes", "Press", "input", "--verify"), ("--snappy", "--tar")),
        Program("tidy", ("java", "-cp", "classes", "Tidy", "input"), ("--clean",)),
    )
    kinds = tuple(_WORK)
    prepared = frozenset({"calls"})
    profiler = JvmSampler()
    effects = (0.10, 0.30)

    def install(self, folder: Path) -> None:
        """Fetches the libraries' sources, compiles what the programs use of them, and writes the inputs."""
        if not shutil.which("javac"):
            subprocess.run(
                ["apt-get", "install", "-y", "-qq", "default-jdk-headless"], check=True, timeout=600
            )
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as name:
            place = Path(name)
            _fetch(place)
            for program in self.programs:
                root = folder / program.name
                (root / "planted").mkdir(parents=True)
                (root / "planted/State.java").write_text(_STATE, encoding=ENCODING)
                shutil.copy(MAINS / f"{program.name.capitalize()}.java", root)
                shutil.copy(place / "usr/share/java/jsr305.jar", root)
                (archive,) = place.glob(f"{LIBRARIES[program.name]}_*.orig.tar.*")
                wanted = ["--strip-components=4", "--wildcards", "*/src/main/java/*"]
                subprocess.run(["tar", "-xf", str(archive), "-C", str(root), *wanted], check=True)
                self.build(root, program)
        sources = b"".join(path.read_bytes() for path in sorted((folder / "press/org").rglob("*.java")))
        (folder / "press/input").write_bytes(sources[:INPUT_BYTES])
        write_page(folder / "tidy/input")

    def build(self, root: Path, program: Program) -> None:  # noqa: ARG002
        """Compiles what changed, the first time the program and what it uses."""
        stamp = root / "classes" / "built"
        since = stamp.stat().st_mtime_ns if stamp.exists() else 0
        changed = [str(path) for path in root.rglob("*.java") if path.stat().st_mtime_ns > since]
        if stamp.exists() and not changed:
            return
        files = changed if stamp.exists() else [str(next(root.glob("*.java"))), "planted/State.java"]
        options = ["-nowarn", "-g", "-encoding", ENCODING, "-cp", "classes:jsr305.jar", "-d", "classes"]
        if not stamp.exists():
            options += ["-sourcepath", "."]
        words = ["javac", *options, *files]
        subprocess.run(words, cwd=root, check=True, timeout=120, capture_output=True)
        stamp.touch()

    def plant(self, root: Path, method: Method, work: Slowdown) -> frozenset[str]:
        """On the line where the body begins; methods that it calls at the end of the file's class."""
        code = _WORK[work.kind].replace("AMOUNT", str(work.amount))
        gate = f'P.given("{work.only}") && ' if work.only else ""
        code = f"{{ if ({gate}++P.calls % {work.every} == 0) {{ {code} }} }}"
        file = _insert(root, method, re.sub(r"\bP\.", "planted.State.", code))
        if "workStep" not in code:
            return frozenset()
        before, brace, after = file.read_text(encoding=ENCODING).rpartition("}")
        file.write_text(f"{before}{_STEP}{brace}{after}", encoding=ENCODING)
        assert method.file is not None
        owner = method.file.removesuffix(".java").replace("/", ".")
        return frozenset({f"{owner}.workStep"} if work.kind == "helper" else ())

    def decoy(self, root: Path, method: Method) -> None:
        """A block with a variable, which the compiler drops."""
        _insert(root, method, "{ int w0 = 0; }")


def _insert(root: Path, method: Method, code: str) -> Path:
    assert method.file is not None and method.line is not None
    own = method.name.rpartition(".")[2]
    if own.startswith("<"):
        raise ValueError("a constructor begins with that of its superclass")
    file = root / method.file
    text = file.read_text(encoding=ENCODING)
    begin = sum(len(line) + 1 for line in text.split("\n")[: method.line - 1])
    named = re.compile(rf"\b{re.escape(own)}\s*(?=\()").search(text, begin)
    if named is None:
        raise ValueError("not found")
    at = body(text, named.end())
    file.write_text(f"{text[:at]} {code} {text[at:]}", encoding=ENCODING)
    return file


def _fetch(place: Path) -> None:
    """Source packages, and the unpacked package of annotations, from where the distribution comes from."""
    (place / "lists/partial").mkdir(parents=True)
    (place / "places").mkdir()
    for listed in PLACES.glob("*.sources"):
        text = re.sub(r"(?m)^Types: deb$", "Types: deb deb-src", listed.read_text(encoding="utf-8"))
        (place / "places" / listed.name).write_text(text, encoding="utf-8")
    own = ["-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={place / 'places'}"]
    own += ["-o", f"Dir::State::lists={place / 'lists'}", "-o", "APT::Sandbox::User=root", "-qq"]
    for words in (["update"], ["source", "--download-only", *LIBRARIES.values()], ["download", ANNOTATIONS]):
        subprocess.run(["apt-get", *own, *words], cwd=place, check=True, timeout=300)
    (package,) = place.glob("*.deb")
    subprocess.run(["dpkg-deb", "-x", str(package), str(place)], check=True)


RUNTIME = Jvm()
