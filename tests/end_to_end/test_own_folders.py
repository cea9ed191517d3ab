"""A program that looks upwards for its project does not meet the repository that it was taken from."""

from __future__ import annotations

from tests.end_to_end.builders import Place, config, shell

UPWARDS = shell(
    'while [ "$PWD" != / ]; do cd ..; [ ! -e project.conf ] || { echo ERROR: $PWD >&2; exit 3; }; done'
)


def test_neither_builds_nor_trials_find_what_lies_in_the_working_tree(place: Place) -> None:
    text = config(program={"build": "sh program.sh"})
    place.pull_request(UPWARDS, UPWARDS + "# the same\n", text=text)
    (place.repository / "project.conf").touch()
    ended = place.pr()
    assert ended.code == 0 and ended.report is not None and ended.report["spent"]["pairs"] > 0, ended.said
    assert not (place.repository / ".suspects" / "builds").exists()
