"""A program that writes the machine's temporary folder is told how, and may when that is configured."""

from __future__ import annotations

from tests.end_to_end.builders import CONFIG, Place, config, shell

WRITING = shell('mkdir "/var/tmp/$0.$$" || exit 3', 'rmdir "/var/tmp/$0.$$"').replace("$0", "writes")


def test_it_is_told_which_key_opens_the_folder(place: Place) -> None:
    place.pull_request(WRITING, WRITING + "# the same\n")
    checked = place.suspects("check")
    assert checked.code == 3 and "list /var/tmp under program.writable" in checked.said
    ended = place.pr()
    assert ended.code == 3 and "`program.writable`" in ended.said


def test_a_folder_that_is_listed_is_open_to_builds_and_trials(place: Place) -> None:
    build = 'mkdir "/var/tmp/writes.$$" && rmdir "/var/tmp/writes.$$"'
    text = config(program={"writable": ["/var/tmp"], "build": build})
    place.pull_request(WRITING, WRITING + "# the same\n", text=text)
    ended = place.pr()
    assert ended.code == 0 and ended.report is not None and ended.report["spent"]["pairs"] > 0, ended.said


def test_a_program_that_writes_beside_itself_is_told_where_it_may(place: Place) -> None:
    writing = shell("echo > out.bin || exit 1", "true")
    place.pull_request(writing, writing + "# the same\n")
    checked = place.suspects("check")
    assert checked.code == 3 and "run may name one in {scratch}" in checked.said
    assert "ok_exit" not in checked.said
    ended = place.pr()
    assert ended.code == 3 and "have `run` name one in `{scratch}`" in ended.said


def test_a_command_that_trials_do_not_find_is_told_where_they_look(place: Place) -> None:
    place.commit({CONFIG: config(program={"run": "no-such-thing {options}"})})
    checked = place.suspects("check")
    assert checked.code == 3 and "Trials look for commands in /usr/local/sbin:" in checked.said


def test_only_folders_can_be_listed(place: Place) -> None:
    for wrong in ("tmp", "/", "/tmp/../etc"):
        place.commit({CONFIG: config(program={"writable": [wrong]})})
        place.suspects("check").refused("program.writable.0", "no absolute path")
