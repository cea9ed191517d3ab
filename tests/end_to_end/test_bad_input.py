"""Wrong files, spaces, revisions and folders: one line that says what to change, exit code 2, at once."""

from __future__ import annotations

import json
import random
import shutil
import subprocess

import pytest

from tests.end_to_end.builders import CONFIG, FLAGS, ROOT, STEADY, Place, config, shell


def test_a_repository_without_the_file_is_told_how_to_get_one(place: Place) -> None:
    place.commit({"a": "1"})
    place.commit({"a": "2"})
    place.pr().refused(CONFIG, "suspects init")


def test_a_missing_file_is_named(place: Place) -> None:
    place.pull_request()
    place.pr("--config", "nowhere.yml").refused("nowhere.yml", "No such file")
    place.suspects("check", "--config", "nowhere.yml").refused("nowhere.yml", "No such file")


def test_a_folder_instead_of_a_file_is_refused(place: Place) -> None:
    place.pull_request()
    place.pr("--config", ".").refused("Is a directory")


@pytest.mark.skipif(ROOT, reason="root can read everything")
def test_an_unreadable_file_is_refused(place: Place) -> None:
    place.pull_request()
    (place.repository / CONFIG).chmod(0)
    place.pr("--config", CONFIG).refused(CONFIG, "Permission denied")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["the file is empty"]),
        ("- a\n- b\n", ["not a mapping"]),
        ("program: [\n", ["not YAML"]),
        ("\tprogram: 1\n", ["tab"]),
        ("program: {run: ./p}\nprogram: {run: ./q}\n", ["twice"]),
        ('{"program": {"run": "./p {options}"}, "optoins": {}}', ["did you mean options"]),
        (config(program={"timeout": "soon"}), ["program.timeout", "soon"]),
        (config(program={"timeout": -1}), ["program.timeout"]),
        (config(program={"ok_exit": []}), ["program.ok_exit", "at least one"]),
        (config(program={"ok_exit": ["0"]}), ["program.ok_exit"]),
        (config(program={"env": {"A B": "1"}}), ["program.env"]),
        (config(program={"parallel": "yes"}), ["program.parallel", "true or false"]),
        (config(program={"server": {}}), ["program.server", "start is missing"]),
        (config(options={"a": {"flag": True}}), ["options.a"]),
        (config(options={"a": {"number": ["x"], "flag": "-{value}"}}), ["options.a.number"]),
        (config(options={"a b": {"flag": "-a"}}), ["options.a b"]),
        (config("./program.sh"), ["program.run", "{options}"]),
        (config("./program.sh {options} 'open"), ["program.run", "quotation mark"]),
        (config(metrics=["speed"]), ["metrics", "speed"]),
        (config(metrics=[{"rate": {"regex": "(a)(b)"}}]), ["regex", "2 groups"]),
        (config(threshold="150%"), ["threshold"]),
        (config(false_alarms=0), ["false_alarms"]),
        (config(budget={"pull_request": "0s"}), ["budget.pull_request"]),
        (config(constraints="alpha"), ["constraints", "a list"]),
        (config(constraints=["alpha implies"]), ["constraints"]),
        (config(constraints=["alpha implies delta"]), ["constraints", "delta"]),
        (config(workloads={"w": {"path": "/etc/passwd"}}), ["workloads.w", "outside"]),
        (config(sandbox="maybe"), ["sandbox"]),
    ],
)
def test_a_wrong_key_is_one_line_with_its_place(place: Place, text: str, words: list[str]) -> None:
    place.pull_request()
    wrong = place.folder / "wrong.yml"
    wrong.write_text(text)
    place.suspects("check", "--config", str(wrong), "-q").refused("wrong.yml", *words)


def test_a_wrong_file_at_the_merge_base_is_refused_before_anything_is_built(place: Place) -> None:
    text = config(program={"build": "exit 1", "timeout": "soon"})
    place.pull_request(text=text)
    place.pr().refused(f"{CONFIG}:1", "program.timeout")


def test_bytes_that_are_no_text_are_refused(place: Place) -> None:
    place.pull_request()
    wrong = place.folder / "wrong.yml"
    wrong.write_bytes(b"program: \xff\xfe\n")
    place.pr("--config", str(wrong)).refused("wrong.yml:1", "UTF-8")


def test_a_space_without_options_is_refused(place: Place) -> None:
    place.pull_request(text=config(options={}))
    place.pr().refused("options", "nothing to compare")


def test_constraints_that_contradict_each_other_are_named(place: Place) -> None:
    text = config(constraints=["alpha or beta", "alpha implies gamma", "not alpha", "not beta"])
    place.pull_request(text=text)
    ended = place.pr()
    ended.refused("alpha or beta", "not alpha", "not beta")
    assert "alpha implies gamma" not in ended.err


def test_a_space_of_one_configuration_is_still_compared(place: Place) -> None:
    place.pull_request(text=config(constraints=[f"not {name}" for name in FLAGS]))
    ended = place.pr()
    assert ended.code == 0 and ended.report is not None
    assert len({json.dumps(c["options"]) for c in ended.report["configurations"]}) == 1
    assert ended.report["spent"]["pairs"] > 0
    assert set(ended.report["visible"]["levels_not_exercised"]) == set(FLAGS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--base", "HEAD~1"], ["--head"]),
        (["--base", "nothing", "--head", "HEAD"], ["nothing", "not in the repository"]),
        (["--base", "--all", "--head", "HEAD"], ["--all"]),
        (["--base", "HEAD~1", "--head", "HEAD", "--budget", "soon"], ["--budget"]),
        (["--base", "HEAD~1", "--head", "HEAD", "--budget", "0s"], ["--budget"]),
        (["--base", "HEAD~1", "--head", "HEAD", "--budget", "nan"], ["--budget"]),
        (["--base", "HEAD~1", "--head", "HEAD", "--seed", "x"], ["--seed"]),
        (["--base", "HEAD~1", "--head", "HEAD", "--seed", "-1"], ["--seed"]),
        (["--base", "HEAD~1", "--head", "HEAD", "--fail-on", "slow"], ["--fail-on", "slow"]),
        (["--base", "HEAD~1", "--head", "HEAD", "--estimator", "best"], ["--estimator", "best"]),
        (["--base", "HEAD~1", "--head", "HEAD", "--unknown"], ["--unknown"]),
        (["--base", "HEAD~1", "--head", "HEAD", "more"], ["more"]),
    ],
)
def test_a_wrong_command_line_is_one_line(place: Place, arguments: list[str], words: list[str]) -> None:
    place.pull_request()
    place.suspects("pr", *arguments).refused(*words)


def test_a_folder_that_is_no_repository_is_refused(place: Place) -> None:
    place.pr(cwd=place.out).refused("not in a git repository")


def test_a_repository_without_a_commit_is_refused(place: Place) -> None:
    place.pr().refused("no commit yet")


def test_a_shallow_clone_is_told_how_to_become_whole(place: Place) -> None:
    place.pull_request()
    shallow = place.folder / "shallow"
    place.git("clone", "--quiet", "--depth=1", f"file://{place.repository}", str(shallow))
    place.pr(cwd=shallow).refused("shallow clone", "fetch-depth: 0")


def test_branches_without_common_history_are_refused(place: Place) -> None:
    place.pull_request()
    place.git("checkout", "--quiet", "--orphan", "other")
    place.commit({"program.sh": shell("# other")})
    place.suspects("pr", "--base", "main", "--head", "other").refused("no common history", "--exact-base")


def test_base_equal_to_head_is_nothing_to_measure(place: Place) -> None:
    place.pull_request()
    report = place.out / "report.json"
    ended = place.suspects("pr", "--base", "HEAD", "--head", "HEAD", "--json", str(report))
    assert ended.code == 0 and ended.report is not None
    assert ended.report["verdict"] == "none" and "same tree" in ended.notes


def test_equal_trees_of_two_commits_are_nothing_to_measure(place: Place) -> None:
    place.pull_request(STEADY, STEADY)
    ended = place.pr("--fail-on", "regression")
    assert ended.code == 0 and ended.report is not None
    assert ended.report["verdict"] == "none" and ended.report["spent"]["trials"] == 0


def test_it_can_be_started_from_a_folder_below_the_top(place: Place) -> None:
    place.pull_request(**{"deep/er/file": "x"})
    ended = place.pr(cwd=place.repository / "deep" / "er")
    assert ended.code == 0 and ended.report is not None and ended.report["spent"]["pairs"] > 0


@pytest.mark.parametrize("option", ["--json", "--markdown", "--html"])
def test_a_place_that_cannot_be_written_is_refused_before_measuring(place: Place, option: str) -> None:
    place.pull_request(text=config(program={"build": "sleep 1000"}))
    (place.out / "file").write_text("")
    target = place.out / "file" / "below"
    words = ["pr", "--base", "HEAD~1", "--head", "HEAD", option, str(target)]
    place.suspects(*words).refused(str(target), "cannot be written")


def test_a_folder_in_place_of_the_report_is_refused_before_measuring(place: Place) -> None:
    place.pull_request(text=config(program={"build": "sleep 1000"}))
    place.suspects("pr", "--base", "HEAD~1", "--head", "HEAD", "--json", str(place.temp)).refused(
        str(place.temp), "directory"
    )


def test_missing_folders_of_the_report_are_made(place: Place) -> None:
    place.pull_request()
    target = place.out / "not" / "there" / "report.md"
    assert place.pr("--markdown", str(target)).code == 0
    assert "suspects" in target.read_text().lower()


read_only = pytest.mark.skipif(
    not ROOT or shutil.which("unshare") is None, reason="needs root to mount a read-only file system"
)


def mounted(place: Place, *mounts: str) -> list[str]:
    """A command prefix: in a mount name space of its own, after these mounts."""
    return ["unshare", "--mount", "sh", "-ec", "\n".join([*mounts, 'exec "$@"']), "sh"]


def can_mount() -> bool:
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0


@read_only
def test_a_read_only_output_folder_is_refused_before_measuring(place: Place) -> None:
    if not can_mount():
        pytest.skip("this machine forbids mounting")
    place.pull_request(text=config(program={"build": "sleep 1000"}))
    before = mounted(place, f"mount --bind -o ro {place.out} {place.out}")
    place.pr(before=before).refused("report.json", "Read-only file system")


@read_only
def test_a_read_only_repository_is_measured_and_without_a_folder_for_caches_no_build_is_kept(
    place: Place,
) -> None:
    if not can_mount():
        pytest.skip("this machine forbids mounting")
    place.pull_request()
    caches = place.folder / ".cache"
    caches.mkdir()
    closed = [f"mount --bind -o ro {folder} {folder}" for folder in (place.repository, caches)]
    ended = place.pr(before=mounted(place, *closed))
    assert ended.code == 0 and "Builds are not kept for the next run" in ended.notes
    assert not (place.repository / ".suspects").exists()
    assert not list(caches.iterdir())
    ended = place.pr(before=mounted(place, closed[0]))
    assert ended.code == 0 and "Builds are not kept" not in ended.notes
    assert not (place.repository / ".suspects").exists()


@read_only
def test_a_full_disk_for_temporary_files_is_one_line(place: Place) -> None:
    if not can_mount():
        pytest.skip("this machine forbids mounting")
    place.pull_request()
    place.commit({"large": random.Random(1).randbytes(200_000).hex()})
    full = mounted(place, f"mount -t tmpfs -o size=4k,mode=1777 tmpfs {place.temp}")
    place.pr(before=full).refused("No space left", code=2)


@read_only
def test_a_full_disk_for_the_report_loses_no_other_file(place: Place) -> None:
    if not can_mount():
        pytest.skip("this machine forbids mounting")
    small = place.folder / "small"
    small.mkdir()
    place.pull_request()
    before = mounted(place, f"mount -t tmpfs -o size=4k tmpfs {small}")
    ended = place.pr("--html", str(small / "page.html"), before=before)
    assert ended.code == 2 and "page.html: No space left" in ended.err
    assert ended.report is not None and ended.report["spent"]["pairs"] > 0


def test_a_closed_temporary_folder_is_one_line(place: Place) -> None:
    if not ROOT:
        pytest.skip("without root there are no other accounts")
    place.pull_request()
    place.temp.chmod(0o700)
    place.pr().refused("cannot enter", "TMPDIR")


def test_a_missing_temporary_folder_is_replaced_by_the_usual_one(place: Place) -> None:
    place.pull_request()
    place.temp.rmdir()
    ended = place.finish(place.start(*place.asking()), clean=False)
    assert ended.code == 0
