"""What a program or its author writes reaches a reader as text: no command, no escape, no way out."""

from __future__ import annotations

import json

import pytest

from tests.end_to_end.builders import Place, config, shell

COMMANDS = (
    "::set-output name=verdict::none",
    "::add-mask::regression",
    "::error file=app.py,line=1::forged",
    "::stop-commands::token",
    "##[set-env name=PATH]/evil",
)
ESCAPES = "\\033]0;title\\007\\033[2J\\033[31mred\\033]8;;http://e.org\\007link\\033]8;;\\007"


def said_everywhere(place: Place, *arguments: str) -> str:
    """All that a run leaves for readers: terminal, Markdown and page."""
    files = {"--markdown": place.out / "report.md", "--html": place.out / "report.html"}
    ended = place.pr(*(word for name, path in files.items() for word in (name, str(path))), *arguments)
    assert ended.report is not None
    return ended.said + files["--markdown"].read_text()


@pytest.mark.parametrize("where", ["build", "trial"])
def test_no_line_of_a_program_is_a_command_to_the_runner(place: Place, where: str) -> None:
    lines = "; ".join(f"echo '{command}'" for command in COMMANDS)
    if where == "build":
        place.pull_request(text=config(program={"build": f"{lines}; exit 7"}))
    else:
        program = shell(f"({lines}) >&2; exit 7")
        place.pull_request(program, f"{program}#\n")
    told = said_everywhere(place)
    assert "exit code 7" in told
    starts = [line.strip() for line in told.splitlines()]
    assert not [line for line in starts if line.startswith("::") or "##[" in line]


def test_no_escape_of_a_build_reaches_a_reader(place: Place) -> None:
    place.pull_request(text=config(program={"build": f"printf '{ESCAPES}'; exit 7"}))
    told = said_everywhere(place)
    assert "\x1b" not in told and "\x07" not in told


def test_a_program_cannot_forge_our_comments_marker(place: Place) -> None:
    place.pull_request(
        text=config(
            program={"build": "echo '<!-- suspects:v1 forged -->'; echo '```'; echo '</details>'; exit 7"}
        )
    )
    markdown = place.out / "report.md"
    place.pr("--markdown", str(markdown))
    lines = markdown.read_text().splitlines()
    assert not [
        line
        for line in lines
        if "forged" in line and line.lstrip().startswith("<!--") and not _in_code(lines, line)
    ]


def _in_code(lines: list[str], line: str) -> bool:
    """Whether a line lies in a code block that it cannot end."""
    fence = ""
    for one in lines:
        opened = one.strip()
        if not fence and opened.startswith("```"):
            fence = opened[: len(opened) - len(opened.lstrip("`"))]
        elif fence and opened == fence:
            fence = ""
        elif one == line:
            return bool(fence)
    return False


def test_a_line_without_end_stays_short(place: Place) -> None:
    place.pull_request(text=config(program={"build": "head -c 3000000 /dev/zero | tr '\\0' x; exit 7"}))
    assert len(said_everywhere(place)) < 100_000


def test_a_report_that_a_program_leaves_is_not_ours(place: Place) -> None:
    forged = {"version": 1, "mode": "pull_request", "verdict": "none", "notes": ["forged"]}
    places = "report.json ../report.json ../../report.json out/report.json $HOME/report.json"
    write = f"for f in {places}; do echo '{json.dumps(forged)}' > $f; done"
    program = shell(f"({write}) 2>&-", "true")
    place.pull_request(program, f"{program}#\n", text=config(program={"build": f"({write}) 2>&-; true"}))
    ended = place.pr()
    assert ended.code == 0 and ended.report is not None
    assert "forged" not in json.dumps(ended.report["notes"]) and ended.report["spent"]["pairs"] > 0


MARK = "attacked"
HOOKS = (
    "post-checkout",
    "post-index-change",
    "reference-transaction",
    "pre-auto-gc",
    "post-merge",
    "fsmonitor-watchman",
)


def test_no_hook_monitor_or_filter_of_the_repository_is_run(place: Place) -> None:
    mark = place.out / MARK
    evil = place.folder / "evil.sh"
    evil.write_text(f'#!/bin/sh\necho "$0 $*" >> {mark}\ncat\n')
    evil.chmod(0o755)
    attributes = "* filter=evil diff=evil merge=evil\nprogram.sh filter=evil\n"
    place.pull_request(**{".gitattributes": attributes, ".gitconfig": f"[core]\n\tfsmonitor = {evil}\n"})
    for name in HOOKS:
        hook = place.repository / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(evil.read_text())
        hook.chmod(0o755)
    for key, value in {
        "core.fsmonitor": str(evil), "filter.evil.smudge": f"{evil} smudge",
        "filter.evil.clean": f"{evil} clean",
        "filter.evil.process": f"{evil} process", "diff.evil.textconv": str(evil), "diff.external": str(evil),
        "core.pager": str(evil), "core.sshCommand": str(evil), "core.gitProxy": str(evil),
        "core.hooksPath": str(place.repository / ".git" / "hooks"), "credential.helper": f"!{evil}",
        "gpg.program": str(evil), "log.showSignature": "true", "uploadpack.packObjectsHook": str(evil),
        "core.alternateRefsCommand": str(evil), "tar.umask": "0000", "archive.tar.command": str(evil),
    }.items():  # fmt: skip
        place.git("config", key, value)
    mark.unlink(missing_ok=True)
    ended = place.pr()
    assert ended.code == 0 and ended.report is not None and ended.report["spent"]["pairs"] > 0
    assert not mark.exists(), mark.read_text()


@pytest.mark.parametrize(
    "name",
    [
        "--output=attacked",
        "--upload-pack=touch attacked",
        "-o attacked",
        "HEAD:program.sh",
        "$(touch attacked)",
    ],
)
def test_no_name_of_a_revision_is_an_option(place: Place, name: str) -> None:
    place.pull_request()
    report = str(place.out / "report.json")
    ended = place.suspects("pr", "--base", "HEAD~1", f"--head={name}", "--budget", "3s", "--json", report)
    assert ended.code == 2
    assert not [
        path for folder in (place.repository, place.out, place.folder) for path in folder.glob("attacked")
    ]


def test_a_branch_or_title_with_yaml_and_markdown_stays_text(place: Place) -> None:
    place.pull_request()
    title = "x: [\n- run: touch attacked\n${{ github.token }} <!-- --> @someone ![](http://e.org/x.png)"
    place.git("commit", "--allow-empty", "-m", title)
    name = "a;touch${IFS}attacked;b"
    place.git("branch", name)
    ended = place.suspects(
        "pr", "--base", "HEAD~2", "--head", name, "--budget", "3s", "--markdown", str(place.out / "m.md")
    )
    assert ended.code == 0
    assert "@someone" not in (place.out / "m.md").read_text()
    assert not (place.repository / "attacked").exists()


@pytest.mark.parametrize("link", ["/etc/passwd", "../../../../../../etc/passwd", "."])
def test_a_workload_that_is_a_link_to_elsewhere_is_not_read(place: Place, link: str) -> None:
    text = config("./program.sh {options} {workload}", workloads={"w": {"path": "bench/w"}})
    bench = place.repository / "bench"
    bench.mkdir()
    (bench / "w").symlink_to(link)
    place.git("add", "bench")
    place.pull_request(text=text)
    ended = place.pr()
    if link != ".":
        assert ended.code == 3
    assert "root:" not in ended.said


def test_a_configuration_file_that_is_a_link_is_not_followed(place: Place) -> None:
    place.pull_request()
    (place.repository / ".github" / "suspects.yml").unlink()
    (place.repository / ".github" / "suspects.yml").symlink_to("/etc/passwd")
    place.git("add", "--all")
    place.git("commit", "-m", "link")
    ended = place.suspects("pr", "--base", "HEAD", "--head", "HEAD~1", "--exact-base", "--budget", "3s")
    assert "root:" not in ended.said  # as if there was none: the other side's is used
