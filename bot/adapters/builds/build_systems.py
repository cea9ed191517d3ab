"""Recognises a build system by its files, and says how it builds and where its program lies."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bot.adapters.builds.cmake_targets import executables
from bot.adapters.builds.python_recipes import python_project, setuptools_project, unpacked_wheel
from bot.adapters.builds.recipes import Recipe, at, read, toml

NO_NETWORK = "Builds have no network, unless `network: [setup, build]` stands here as well:"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


UNKNOWN = Recipe("")


def recognise(root: Path) -> Recipe:
    """The first build system that fits, or `UNKNOWN`; files are only read."""
    for marker, look in _SYSTEMS:
        recipe = look(root) if read(root / marker) else None
        if recipe is not None:
            return recipe
    return unpacked_wheel(root) or _jar(root)


def _cargo(root: Path) -> Recipe:
    manifest = toml(root / "Cargo.toml")
    binaries = manifest.get("bin")
    first = binaries[0] if isinstance(binaries, list) and binaries else None
    name = _safe(at(first, "name"))
    if name is None and (root / "src/main.rs").is_file():
        name = _safe(at(manifest, "package", "name"))
    return Recipe(
        "Cargo",
        build="cargo build --release --offline",
        run=name and f"target/release/{name}",
        hint=f"{NO_NETWORK} vendor the crates (cargo vendor).",
        cache=("target",),
    )


def _go(root: Path) -> Recipe:
    module = re.search(r"^module\s+(\S+)", read(root / "go.mod"), re.MULTILINE)
    name = _safe(re.sub(r"/v\d+$", "", module[1]).rpartition("/")[2]) if module else None
    package = "."
    if not _go_command(root):
        commands = sorted(p.parent.name for p in root.glob("cmd/*/main.go"))
        name = _safe(commands[0]) if commands else None
        package = f"./cmd/{name}"
    # `go build -o` writes into a folder of that name, and `bin` is the one that is hardly ever a package.
    program = f"bin/{name}" if name and (root / name).is_dir() else name
    # A checkout is no clone: Go would ask git for the revision, and fail on the repository around it.
    return Recipe(
        "Go",
        build=name and f"go build -buildvcs=false -o {program} {package}",
        run=name and f"./{program}",
        hint=f"{NO_NETWORK} vendor the modules (go mod vendor).",
        cache=("~/.cache/go-build",),
    )


def _go_command(root: Path) -> bool:
    """Whether a folder's package is a program, whatever its files are called."""
    files = [path for path in sorted(root.glob("*.go")) if not path.name.endswith("_test.go")]
    return any(re.search(r"^package main\b", read(path), re.MULTILINE) for path in files)


def _cmake(root: Path) -> Recipe:
    run = None
    for path in [root / "CMakeLists.txt", *sorted(root.glob("*/CMakeLists.txt"))]:
        of_users = [
            name
            for name in executables(read(path))
            if not re.search("test|bench|example|fuzz", f"{path.parent.name} {name}")
        ]
        if of_users:
            run = (Path("build") / path.parent.relative_to(root) / of_users[0]).as_posix()
            break
    build = "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build -j$(nproc)"
    return Recipe("CMake", build=build, run=run)


def _autotools(root: Path) -> Recipe:
    run = None
    for path in [root / "Makefile.am", *sorted(root.glob("*/Makefile.am"))]:
        match = re.search(r"^bin_PROGRAMS\s*\+?=\s*([A-Za-z0-9_.+-]+)", read(path), re.MULTILINE)
        if match:
            run = f"./{(path.parent.relative_to(root) / match[1]).as_posix()}"
            break
    generate = "" if (root / "configure").is_file() else "autoreconf -fi && "
    return Recipe("Autotools", build=f"{generate}./configure && make -j$(nproc)", run=run)


def _maven(root: Path) -> Recipe:
    pom = re.sub(r"<!--.*?-->", "", read(root / "pom.xml"), flags=re.DOTALL)
    own = re.sub(r"<(parent|dependencies|build|profiles)>.*?</\1>", "", pom, flags=re.DOTALL)
    artifact = re.search(r"<artifactId>\s*([A-Za-z0-9_.-]+)\s*</artifactId>", own)
    version = re.search(r"<version>\s*([A-Za-z0-9_.-]+)\s*</version>", own)
    plugins = re.findall(r"<plugin>.*?</plugin>", pom, flags=re.DOTALL)
    starts = [plugin for plugin in plugins if "<mainClass>" in plugin]
    writes = [plugin for plugin in starts if ">exec-maven-plugin<" not in plugin]  # it into the manifest
    whole = "-jar-with-dependencies" if any(">maven-assembly-plugin<" in plugin for plugin in writes) else ""
    run = jar = f"target/{artifact[1]}-{version[1]}{whole}.jar" if artifact and version else None
    named = re.search(r"<mainClass>\s*([A-Za-z0-9_.$]+)\s*</mainClass>", "".join(starts))
    if jar:
        run = f"java -cp {jar} {named[1]}" if named and not writes else f"java -jar {jar}"
    known = starts or "spring-boot-maven-plugin" in pom
    unknown = "" if known else " If the jar names no main class: `java -cp JAR CLASS` in `run`."
    if re.search(r"<packaging>\s*pom\s*</packaging>", own):
        run, unknown = None, " This pom.xml makes no jar: those of its modules lie in MODULE/target."
    return Recipe(
        "Maven",
        runtime="jvm",
        build="mvn -q -o -DskipTests package",
        run=run,
        hint=f"{NO_NETWORK} the dependencies must be there.{unknown}",
    )


def _node(root: Path) -> Recipe | None:
    try:
        package = json.loads(read(root / "package.json"))
    except (ValueError, RecursionError):
        return None
    programs = at(package, "bin")
    if isinstance(programs, dict):  # npm sorts them: the one called like the package is the package's
        own = str(at(package, "name")).rpartition("/")[2]
        program = programs.get(own) or next(iter(programs.values()), None)
    else:
        program = programs
    if not isinstance(program, str) or not re.fullmatch(r"[\w./-]+", program):
        return None
    script = isinstance(at(package, "scripts", "build"), str) and not _built(root, package, program)
    wanted = ("dependencies", "devDependencies") if script else ("dependencies",)
    missing = any(at(package, key) for key in wanted) and not _committed(root, "node_modules")
    locked = (root / "package-lock.json").is_file() or (root / "npm-shrinkwrap.json").is_file()
    steps = [("npm ci" if locked else "npm install")] if missing else []
    return Recipe(
        "npm",
        runtime="node",
        build=" && ".join([*steps, *["npm run build"] * script]),
        run=f"node {program.removeprefix('./')}",
        hint=f"{steps[0]} downloads what it needs."
        if missing
        else f"{NO_NETWORK} what it needs is committed.",
        network=missing,
    )


def _built(root: Path, package: Any, program: str) -> bool:
    """Whether the program and what the package exports lie there already, so that nothing is built."""
    main = at(package, "main")
    names = [main, f"{main}.js", f"{main}/index.js"] if isinstance(main, str) else [program]
    return (root / program).is_file() and any((root / name).is_file() for name in names)


def _committed(root: Path, folder: str) -> bool:
    """Whether a folder is part of a checkout: it is there, and `.gitignore` does not leave it out."""
    ignored = {line.strip().strip("/") for line in read(root / ".gitignore").splitlines()}
    return (root / folder).is_dir() and not ignored & {folder, f"**/{folder}"}


def _gradle(root: Path) -> Recipe:
    command = "./gradlew" if (root / "gradlew").is_file() else "gradle"
    hint = f"{NO_NETWORK} the dependencies must be there."
    return Recipe("Gradle", runtime="jvm", build=f"{command} --offline -q assemble", hint=hint)


def _jar(root: Path) -> Recipe:
    """A program that was committed as its jar; `UNKNOWN` without one."""
    found = [p for place in _JARS for p in sorted(root.glob(place)) if not _NO_PROGRAM.search(p.name)]
    if not found:
        return UNKNOWN
    name = found[0].relative_to(root).as_posix()
    known = len(found) == 1 and re.fullmatch(r"[\w./+-]+", name)
    return Recipe("a jar", runtime="jvm", build="", run=f"java -jar {name}" if known else None)


_JARS = ("*.jar", "bin/*.jar", "dist/*.jar", "lib/*.jar")
_NO_PROGRAM = re.compile(r"[-.](sources|javadoc|tests)\.jar$")


def _make(root: Path) -> Recipe:
    text = read(root / "Makefile") or read(root / "GNUmakefile")
    names = "PROG|PROGRAM|TARGET|BIN|EXE|EXECUTABLE|NAME"
    match = re.search(rf"^(?:{names})\s*[:?]?=[ \t]*([A-Za-z0-9_./+-]+)\s*$", text, re.MULTILINE)
    run = f"./{match[1].removeprefix('./')}" if match else None
    if re.search(r"\bjavac\b", text):
        run = f"java -jar {match[1]}" if match and match[1].endswith(".jar") else None
        return Recipe("Make", runtime="jvm", build="make", run=run)
    return Recipe("Make", build="make -j$(nproc)", run=run)


def _ant(_root: Path) -> Recipe:
    return Recipe("Ant", runtime="jvm", build="ant -q")


def _safe(name: object) -> str | None:
    """A name that can stand in a command as it is."""
    return name if isinstance(name, str) and _NAME.fullmatch(name) else None


_SYSTEMS: tuple[tuple[str, Callable[[Path], Recipe | None]], ...] = (
    ("Cargo.toml", _cargo),
    ("go.mod", _go),
    ("CMakeLists.txt", _cmake),
    ("configure.ac", _autotools),
    ("configure", _autotools),
    ("pom.xml", _maven),
    ("build.xml", _ant),
    ("build.gradle", _gradle),
    ("build.gradle.kts", _gradle),
    ("pyproject.toml", python_project),
    ("setup.cfg", setuptools_project),
    ("setup.py", setuptools_project),
    ("package.json", _node),
    ("Makefile", _make),
    ("GNUmakefile", _make),
)
"""The first that fits counts: makefiles are last, because they often wrap one of the others."""
