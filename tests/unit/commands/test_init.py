"""What `suspects init` writes into strangers' repositories, and what becomes of it."""

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from bot.adapters.builds.scout import documented_switches
from bot.adapters.documents.subject_file import load_subject
from bot.commands.init import ACTION, CONFIG, TODO_RUN, WORKFLOWS, init
from bot.model.errors import UsageError
from bot.model.invocation import invocation
from bot.model.subject import Program, Subject

PROJECTS: dict[str, tuple[dict[str, str], str, str, str | None]] = {
    "a crate": (
        {"Cargo.toml": '[package]\nname = "fastgrep"\n', "src/main.rs": "fn main() {}\n"},
        "native",
        "target/release/fastgrep",
        "cargo build --release --offline",
    ),
    "a crate with a named binary": (
        {"Cargo.toml": '[package]\nname = "ripgrep"\n[[bin]]\nname = "rg"\n'},
        "native",
        "target/release/rg",
        "cargo build --release --offline",
    ),
    "a Go module": (
        {"go.mod": "module example.org/jane/yq/v4\n\ngo 1.20\n", "main.go": "package main\n"},
        "native",
        "./yq",
        "go build -buildvcs=false -o yq .",
    ),
    "a Go program that is not in main.go": (
        {
            "go.mod": "module example.org/jane/awk\n",
            "awk.go": "// Package main is awk.\npackage main\n",
            "awk_test.go": "package main_test\n",
            "lexer/lexer.go": "package lexer\n",
        },
        "native",
        "./awk",
        "go build -buildvcs=false -o awk .",
    ),
    "a Go module with commands": (
        {"go.mod": "module example.org/jane/tools\n", "cmd/sorter/main.go": "package main\n"},
        "native",
        "./sorter",
        "go build -buildvcs=false -o sorter ./cmd/sorter",
    ),
    "a Go module with a folder that is called like its command": (
        {
            "go.mod": "module example.org/m/v2\n",
            "cmd/minify/main.go": "",
            "minify/lib.go": "package minify\n",
        },
        "native",
        "./bin/minify",
        "go build -buildvcs=false -o bin/minify ./cmd/minify",
    ),
    "CMake": (
        {
            "CMakeLists.txt": "project(x)\nadd_subdirectory(src)\n",
            "src/CMakeLists.txt": "add_executable(pack a.c)\n",
        },
        "native",
        "build/src/pack",
        "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build -j$(nproc)",
    ),
    "CMake, where variables name the program": (
        {
            "CMakeLists.txt": "set(LIB_NAME tidy)\nset ( name ${LIB_NAME} )\n"
            "add_executable( ${unknown} b.c )\nadd_executable( ${name} a.c )\n",
        },
        "native",
        "build/tidy",
        "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build -j$(nproc)",
    ),
    "autotools": (
        {"configure.ac": "AC_INIT\n", "src/Makefile.am": "bin_PROGRAMS = zipper\n"},
        "native",
        "./src/zipper",
        "autoreconf -fi && ./configure && make -j$(nproc)",
    ),
    "a release of an autotools program": (
        {"configure.ac": "AC_INIT\n", "configure": "#!/bin/sh\n", "Makefile.am": "bin_PROGRAMS = zipper\n"},
        "native",
        "./zipper",
        "./configure && make -j$(nproc)",
    ),
    "Maven": (
        {
            "pom.xml": "<project><parent><artifactId>all</artifactId><version>9</version></parent>"
            "<artifactId>sorter</artifactId><version>1.2</version></project>"
        },
        "jvm",
        "java -jar target/sorter-1.2.jar",
        "mvn -q -o -DskipTests package",
    ),
    "a Maven project that only says how it is started": (
        {
            "pom.xml": "<project><artifactId>sorter</artifactId><version>1.2</version><build><plugins>"
            "<plugin>"
            "<artifactId>exec-maven-plugin</artifactId><configuration><mainClass>org.Sorter</mainClass>"
            "</configuration></plugin></plugins></build></project>"
        },
        "jvm",
        "java -cp target/sorter-1.2.jar org.Sorter",
        "mvn -q -o -DskipTests package",
    ),
    "a Maven project with a jar that holds everything": (
        {
            "pom.xml": "<project><artifactId>sorter</artifactId><version>1.2</version><build><plugins>"
            "<plugin>"
            "<artifactId>maven-assembly-plugin</artifactId><configuration><archive><manifest>"
            "<mainClass>org.Sorter</mainClass></manifest></archive></configuration></plugin></plugins>"
            "</build></project>"
        },
        "jvm",
        "java -jar target/sorter-1.2-jar-with-dependencies.jar",
        "mvn -q -o -DskipTests package",
    ),
    "a Python package": (
        {
            "pyproject.toml": '[project.scripts]\nmd = "md.cli:main"\n',
            "md/__main__.py": "",
            "Makefile": "all:\n",
        },
        "python",
        "python3 -m md",
        "python3 -m compileall -q md",
    ),
    "a Python package without a main module": (
        {"pyproject.toml": '[project.scripts]\nmd = "md.cli:main"\n', "src/md/cli.py": ""},
        "python",
        "python3 -c 'import sys; from md.cli import main; sys.exit(main())'",
        "python3 -m compileall -q src/md",
    ),
    "npm": (
        {"package.json": '{"bin": {"mini": "./bin/mini.js"}, "scripts": {"build": "rollup"}}'},
        "node",
        "node bin/mini.js",
        "npm run build",
    ),
    "npm that is built with what it has to download": (
        {
            "package.json": '{"bin": "cli.js", "main": "dist/x.js", "scripts": {"build": "rollup"}, '
            '"devDependencies": {"rollup": "4"}}',
            "cli.js": "",
            "package-lock.json": "{}",
        },
        "node",
        "node cli.js",
        "npm ci && npm run build",
    ),
    "npm with dependencies that were installed here, and are no part of a checkout": (
        {
            "package.json": '{"bin": "cli.js", "dependencies": {"a": "1"}}',
            "package-lock.json": "{}",
            "node_modules/a/index.js": "",
            ".gitignore": "*.log\n/node_modules/\n",
        },
        "node",
        "node cli.js",
        "npm ci",
    ),
    "npm that is not built, with dependencies": (
        {"package.json": '{"bin": "cli.js", "dependencies": {"a": "1"}, "devDependencies": {"b": "1"}}'},
        "node",
        "node cli.js",
        "npm install",
    ),
    "a package from the registry, which was built before it was published": (
        {
            "package.json": '{"bin": "bin/cli.js", "main": "./dist/x", "scripts": {"build": "rollup"}, '
            '"devDependencies": {"rollup": "4"}}',
            "bin/cli.js": "",
            "dist/x.js": "",
        },
        "node",
        "node bin/cli.js",
        None,
    ),
    "npm with several commands, of which one is called like the package": (
        {
            "package.json": '{"name": "@us/mini", "bin": {"css-mini": "css.js", "mini": "mini.js"}}',
        },
        "node",
        "node mini.js",
        None,
    ),
    "npm with committed dependencies": (
        {
            "package.json": '{"bin": "cli.js", "scripts": {"build": "tsc"}, "dependencies": {"a": "1"}}',
            "node_modules/a/index.js": "",
        },
        "node",
        "node cli.js",
        "npm run build",
    ),
    "a jar": ({"tool-1.2.jar": "PK", "tool-1.2-sources.jar": "PK"}, "jvm", "java -jar tool-1.2.jar", None),
    "several jars": ({"lib/a.jar": "PK", "lib/b.jar": "PK"}, "jvm", "./x {options}", None),
    "Gradle": (
        {"build.gradle.kts": "plugins {}\n", "gradlew": "#!/bin/sh\n"},
        "jvm",
        "./x {options}",
        "./gradlew --offline -q assemble",
    ),
    "a Python package with a setup.py": (
        {
            "setup.py": "setup(entry_points={'console_scripts': ['fmt = fmt:main']})\n",
            "fmt/__init__.py": "",
            "fmt/__main__.py": "",
        },
        "python",
        "python3 -m fmt",
        "python3 -m compileall -q fmt",
    ),
    "a Python package with a setup.cfg": (
        {"setup.cfg": "[options.entry_points]\nconsole_scripts =\n    fmt=fmt.cli:main\n", "fmt/cli.py": ""},
        "python",
        "python3 -c 'import sys; from fmt.cli import main; sys.exit(main())'",
        "python3 -m compileall -q fmt",
    ),
    "a Python program of one module": (
        {"pyproject.toml": '[project.scripts]\nfmt = "fmt:main"\n', "fmt.py": ""},
        "python",
        "python3 -c 'import sys; from fmt import main; sys.exit(main())'",
        "python3 -m compileall -q fmt.py",
    ),
    "npm without a build": ({"package.json": '{"bin": "cli.js"}'}, "node", "node cli.js", None),
    "make": ({"Makefile": "PROG = squeeze\nall: $(PROG)\n"}, "native", "./squeeze", "make -j$(nproc)"),
    "make with a Java compiler": (
        {"Makefile": "TARGET = build/tidy.jar\nall:\n\tjavac -d build $(SOURCES)\n"},
        "jvm",
        "java -jar build/tidy.jar",
        "make",
    ),
    "Ant": ({"build.xml": "<project/>\n", "Makefile": "all:\n\tant\n"}, "jvm", "./x {options}", "ant -q"),
}
MANUAL = """\
Usage: prog [OPTIONS] FILE

  -f, --fast            be fast
      --no-cache        be slow
  -l, --level <n>       a number
      --threads=N       another number
  -h, --help            this text
      --keep-going      do not stop

Install it with `npm install --save-dev prog`, then try --fast.
"""


def stranger(root: Path, files: dict[str, str]) -> Path:
    (root / ".git").mkdir(parents=True)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def filled(root: Path) -> Subject:
    """The file after a person replaced every TODO, read as every command reads it."""
    path = root / CONFIG
    text = re.sub('run: "TODO[^"]*"', "run: ./x {options} {workload}", path.read_text(encoding="utf-8"))
    path.write_text(re.sub('"TODO[^"]*"', '"x"', text), encoding="utf-8")
    return load_subject(path)


@pytest.mark.parametrize("name", PROJECTS)
def test_what_a_repository_says_of_itself_is_written_down(name: str, tmp_path: Path) -> None:
    files, runtime, run, build = PROJECTS[name]
    init(stranger(tmp_path / "r", files))
    subject = filled(tmp_path / "r")
    assert isinstance(subject.program, Program)
    assert subject.program.runtime == runtime
    assert subject.program.build == build
    words = invocation(subject, subject.space.default).words
    expected = Subject.model_validate(
        {"program": {"run": run + " {workload}"}, "workloads": {"x": {"path": "x"}}, "options": {}}
    )
    assert words == invocation(expected, ()).words


def test_a_build_that_downloads_what_it_needs_may_use_the_network_and_no_other(tmp_path: Path) -> None:
    for name, allowed in (("npm that is built with what it has to download", True), ("npm", False)):
        init(stranger(tmp_path / name, PROJECTS[name][0]))
        program = filled(tmp_path / name).program
        assert isinstance(program, Program)
        assert ("build" in program.network) == allowed


def test_slow_builds_find_again_what_their_compiler_keeps(tmp_path: Path) -> None:
    kept = {"a crate": ["target"], "a Go module": ["~/.cache/go-build"], "make": []}
    for name, folders in kept.items():
        init(stranger(tmp_path / name, PROJECTS[name][0]))
        program = filled(tmp_path / name).program
        assert isinstance(program, Program)
        assert list(program.cache) == folders


def test_a_maven_project_of_modules_has_no_jar_of_its_own(tmp_path: Path) -> None:
    pom = "<project><artifactId>all</artifactId><version>9</version><packaging>pom</packaging></project>"
    root = stranger(tmp_path / "r", {"pom.xml": pom})
    init(root)
    text = (root / CONFIG).read_text()
    assert TODO_RUN in text and "target/all-9.jar" not in text
    assert "This pom.xml makes no jar: those of its modules lie in MODULE/target." in text


@pytest.mark.parametrize(
    "files", [{}, {"Makefile": "all:\n\ttrue\n"}, {"package.json": "{"}, {"go.mod": "go 1.2"}]
)
def test_what_cannot_be_found_is_a_todo_that_is_refused_until_it_is_filled(
    files: dict[str, str], tmp_path: Path
) -> None:
    done = init(stranger(tmp_path / "r", files))
    path = tmp_path / "r" / CONFIG
    lines = [n for n, line in enumerate(path.read_text().splitlines(), 1) if '"TODO' in line]
    assert len(lines) >= 3
    with pytest.raises(UsageError) as refused:
        load_subject(path)
    assert f"still says TODO: fill it in (TODO in line {', '.join(map(str, lines))})" in str(refused.value)
    assert str(refused.value).startswith(f"{path}:{lines[0]}: ")
    assert any(f"line {', '.join(map(str, lines))}" in line for line in done.lines)
    filled(tmp_path / "r")


def test_sources_below_src_are_found_by_the_interpreter(tmp_path: Path) -> None:
    files = {"pyproject.toml": '[project.scripts]\nmd = "md.cli:main"\n', "src/md/cli.py": ""}
    init(stranger(tmp_path / "r", files))
    program = filled(tmp_path / "r").program
    assert isinstance(program, Program)
    assert program.env == {"PYTHONPATH": "src"}


PAGES = ["README.md", "man/prog.1", "man/man1/prog.1", "prog.1.prebuilt", "programs/prog.1", "docs/usage.rst"]


@pytest.mark.parametrize("page", PAGES)
def test_switches_come_from_the_documentation_where_it_defines_them(page: str, tmp_path: Path) -> None:
    text = re.sub(r"(-\S+)", r"\\fB\1\\fR", MANUAL).replace("-", "\\-") if ".1" in page else MANUAL
    init(stranger(tmp_path / "r", {page: text}))
    subject = filled(tmp_path / "r")
    assert {name: getattr(o, "flag", None) for name, o in subject.options.items()} == {
        "fast": "--fast",
        "keep_going": "--keep-going",
    }
    assert f"# {page}:3" in (tmp_path / "r" / CONFIG).read_text()


def test_switches_are_found_in_whatever_fonts_a_man_page_sets_them(tmp_path: Path) -> None:
    page = r"""
.TP
.BI \-\-fast
.TP
.BR \-k ", " \-\-keep\-going
.TP
.BI "\-s, \-\-small"
.TP
.BI \-\-level " n"
.TP
.BI \-\-mode= mode
.TP
.BI \-\-name N
.TP
.RI \-\-words " [count]"
"""
    init(stranger(tmp_path / "r", {"prog.1": page}))
    assert list(filled(tmp_path / "r").options) == ["fast", "keep_going", "small"]


def test_values_that_a_man_page_tells_by_its_fonts_alone_are_no_switches(tmp_path: Path) -> None:
    page = r"""
.TP
\fB\-\-fast\fR:
.TP
\fB\-\-arg name value\fR:
.TP
\fB\-\-indent n\fR:
.TP
\fB\-\-raw / \-r\fR:
.TP
\fB\-l\fR, \fB\-\-level\fR \fIn\fR
.TP
\fB\-\-mode\fR=\fIword\fR
.TP
\fB\-\-keep\fR, \fB\-k\fR
"""
    init(stranger(tmp_path / "r", {"prog.1": page}))
    assert list(filled(tmp_path / "r").options) == ["fast", "raw", "keep"]


def test_a_value_behind_the_short_form_or_in_fonts_with_long_names_is_seen(tmp_path: Path) -> None:
    page = r"""
.TP
.B \-\-to, \-t \f[I]FORMAT\f[]
.TP
.B \-\-width \f[I]WIDTH\f[]
.TP
.B \-\-smart, \-s
.TP
.B \-\-hardbreaks
.TP
.B \-\-list\-extensions
.TP
.B \-\-level, \-l LEVEL
.TP
\fB\-\-extension\fR, \fB\-e\fR \fIname\fR
"""
    init(stranger(tmp_path / "r", {"man/man1/prog.1": page}))
    assert list(filled(tmp_path / "r").options) == ["smart", "hardbreaks"]


def test_a_name_with_underscores_is_read_whole(tmp_path: Path) -> None:
    page = (
        "--wrap_after=COLUMN   wrap\n--indent_width WIDTH   width\n--comma_first   commas\n"
        "[--keep_case] [--to_upper=X]\n"
    )
    init(stranger(tmp_path / "r", {"README": page}))
    options = filled(tmp_path / "r").options
    assert {name: getattr(o, "flag", None) for name, o in options.items()} == {
        "comma_first": "--comma_first",
        "keep_case": "--keep_case",
    }


def test_switches_of_a_go_command_come_from_the_page_beside_it(tmp_path: Path) -> None:
    page = tmp_path / "cmd/minify/README.md"
    page.parent.mkdir(parents=True)
    page.write_text(
        "    Options:\n"
        "          --css-precision int     Number of digits\n"
        "          --html-keep-comments    Preserve all comments\n"
        "      -l, --list                  List all types\n"
        "          --match stringArray     Only these files\n"
        "          --int                   Whole numbers only\n"
    )
    assert [o.flag for o in documented_switches(tmp_path)] == ["--html-keep-comments", "--int"]


def test_an_option_whose_line_ends_in_its_default_takes_a_value(tmp_path: Path) -> None:
    page = (
        "  -s, --indent-size    Indentation size [4]\n"
        '  -c, --indent-char    Indentation character [" "]\n'
        "  -w, --width          Columns of a line [default: 80]\n"
        "  -t, --tabs           Indent with tabs (see [1])\n"
        "  -p, --paren          Spaces within paren [boolean]\n"
        "  -e, --empty          Keep empty lines [false]\n"
        "  -f, --fast           Be fast [default: off]\n"
        "  -m, --more           More [optional]\n"
    )
    init(stranger(tmp_path / "r", {"README": page}))
    assert list(filled(tmp_path / "r").options) == ["tabs", "paren", "empty", "fast", "more"]


@pytest.mark.parametrize(
    "line",
    [
        "--delete-input-file    Delete the input after a successful run",
        "--in-place",
        "-i, --inplace   edit",
        "--rm",
        "--remove   gone afterwards",
        "--remove-source-files",
        "--delete-before",
        "--overwrite",
        "--write   Edit files",
        "--fix",
        "-x, --apply   change files in place",
        "--tidy   removes the source file when done",
        "--drop\n    Deletes its input.",
    ],
)
def test_what_deletes_or_rewrites_what_trials_read_is_not_offered_and_that_is_said(
    line: str, tmp_path: Path
) -> None:
    page = f"{line}\n--fast   Be fast\n"
    told = init(stranger(tmp_path / "r", {"README.md": page})).lines
    assert list(filled(tmp_path / "r").options) == ["fast"]
    (said,) = [one for one in told if one.startswith("Left out, because they seem to delete or rewrite")]
    assert re.fullmatch(r".*: --[a-z-]+\.", said)


@pytest.mark.parametrize(
    "line",
    [
        "--remove-comments   Remove comments",
        "--keep   keep (don't delete) input files",
        "--safe   never overwrite anything",
        "--strip   Remove source maps",
        "--sort   Sort",
        "--next\n--in-place",
    ],
)
def test_what_only_sounds_like_that_is_offered(line: str, tmp_path: Path) -> None:
    told = init(stranger(tmp_path / "r", {"README.md": f"{line}\n"})).lines
    assert len(filled(tmp_path / "r").options) == 1
    assert not any("--in-place" not in line and one.startswith("Left out") for one in told)


WHEEL = {
    "shop-1.0.dist-info/METADATA": "Name: shop\n\n--fast   Be fast\n",
    "shop-1.0.dist-info/entry_points.txt": "[gui_scripts]\nx = y:z\n\n[console_scripts]\n"
    "shop = shop.cli:main\n",
    "shop/__init__.py": "",
    "shop/cli.py": "",
}


def test_the_folder_of_an_unpacked_wheel_is_run_by_its_entry_point(tmp_path: Path) -> None:
    init(stranger(tmp_path / "r", WHEEL))
    found = filled(tmp_path / "r")
    assert isinstance(found.program, Program) and found.program.runtime == "python"
    assert "from shop.cli import main" in found.program.run
    assert found.program.build == "python3 -m compileall -q shop"
    assert list(found.options) == ["fast"]


def test_an_unpacked_wheel_without_a_program_says_so(tmp_path: Path) -> None:
    files = {"shop-1.0.dist-info/METADATA": "Name: shop\n", "shop/__init__.py": ""}
    told = init(stranger(tmp_path / "r", files)).lines
    assert told[0] == "Found: an unpacked wheel (which names no program)."
    module = {**files, "shop/__main__.py": ""}
    init(stranger(tmp_path / "s", module))
    found = filled(tmp_path / "s").program
    assert isinstance(found, Program) and found.run == "python3 -m shop {options} {workload}"


def test_switches_come_from_a_synopsis_too(tmp_path: Path) -> None:
    line = "Use it as tool [--fast] [-k | --keep-going] [--level=N] [--mode <m>] [--name[=X]] file --lonely\n"
    init(stranger(tmp_path / "r", {"README": line}))
    assert list(filled(tmp_path / "r").options) == ["fast", "keep_going"]


def test_names_that_yaml_or_the_file_would_read_otherwise_are_left_out(tmp_path: Path) -> None:
    init(stranger(tmp_path / "r", {"README": "--true\n--null\n--workload\n--on\n"}))
    assert list(filled(tmp_path / "r").options) == ["on"]


def test_a_hostile_repository_cannot_write_lines_into_the_file(tmp_path: Path) -> None:
    files = {
        "README\nprogram: {}": "--fast\n",
        "package.json": '{"bin": "x.js\\n  setup: evil"}',
        "Makefile": "PROG = $(shell evil)\n",
        "pyproject.toml": '[project.scripts]\nmd = "os:system(1)"\n',
    }
    init(stranger(tmp_path / "r", files))
    text = (tmp_path / "r" / CONFIG).read_text()
    assert "evil" not in text
    assert "os:" not in text
    assert text.count("\nprogram:") == 1


def test_a_link_out_of_the_repository_is_not_followed(tmp_path: Path) -> None:
    root = stranger(tmp_path / "r", {})
    (tmp_path / "outside").mkdir()
    (root / ".github").symlink_to(tmp_path / "outside")
    with pytest.raises(UsageError, match="leads out of the repository"):
        init(root)
    assert not list((tmp_path / "outside").iterdir())


def test_nothing_is_overwritten_without_force(tmp_path: Path) -> None:
    root = stranger(tmp_path / "r", {str(CONFIG): "mine"})
    done = init(root)
    assert (root / CONFIG).read_text() == "mine"
    assert done.kept == (CONFIG,)
    assert done.lines[-2] == "Next: run `suspects check`."
    again = init(root)
    assert again.written == ()
    assert init(root, force=True).kept == ()
    assert (root / CONFIG).read_text() != "mine"


def test_all_workflows_are_written_and_use_the_release_that_was_asked_for(tmp_path: Path) -> None:
    root = stranger(tmp_path / "r", {})
    release = f"jane/suspects@{'0' * 40} # v1.0"
    done = init(root, action=release)
    for name in WORKFLOWS:
        path = root / f".github/workflows/{name}.yml"
        assert path.relative_to(root) in done.written
        text = path.read_text()
        assert f"uses: {release}\n" in text
        assert YAML(typ="safe").load(text)["jobs"]
    assert not any(ACTION in line for line in done.lines)


def test_a_placeholder_for_the_release_is_announced(tmp_path: Path) -> None:
    assert any(ACTION in line for line in init(stranger(tmp_path / "r", {})).lines)


def test_a_folder_that_is_no_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not the top of a git repository"):
        init(tmp_path)
    assert not list(tmp_path.iterdir())


def test_several_machines_measure_where_that_is_wanted(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    init(tmp_path, shards=3)
    for name, number in (("suspects", 3), ("suspects-nightly", 3), ("suspects-bisect", None)):
        text = (tmp_path / f".github/workflows/{name}.yml").read_text("utf-8")
        assert ("shard: [0, 1, 2]\n" in text) == (number is not None), name
    assert {path.stem for path in (tmp_path / ".github/workflows").iterdir()} == set(WORKFLOWS)
