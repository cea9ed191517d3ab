"""The action leaves pull requests alone that the subject's `run_on` does not want, and says so."""

from __future__ import annotations

from typing import Any

import pytest

from tests.end_to_end.builders import CONFIG, Ended, Place, config


def asked(place: Place, run_on: dict[str, Any], **pull: Any) -> Ended:
    """The action on a pull request that changes `src/deep/work.txt`."""
    base = place.commit({CONFIG: config(run_on=run_on), "src/deep/work.txt": "1\n", "docs.md": "1\n"})
    head = place.commit({"src/deep/work.txt": "2\n"})
    started = place.action(base, head, env={"INPUT_COMMENT": "never", "INPUT_BUDGET": "3s"}, **pull)
    return place.finish(started, clean=False)  # the runner's temporary folder keeps builds


@pytest.mark.parametrize(
    ("run_on", "pull", "why"),
    [
        ({}, {"draft": True}, "is a draft"),
        ({"labels": ["perf", "slow"]}, {"labels": [{"name": "docs"}]}, "none of the labels perf, slow"),
        ({"paths": ["docs/**", "*.txt", "src/*.txt"]}, {}, "changes nothing in docs/**, *.txt, src/*.txt"),
    ],
)
def test_what_run_on_leaves_out_is_not_measured_and_not_an_error(
    place: Place, run_on: dict[str, Any], pull: dict[str, Any], why: str
) -> None:
    ended = asked(place, run_on, **pull)
    assert ended.code == 0, ended.said
    assert "::notice::Nothing to do: the pull request" in ended.said and why in ended.said
    assert "verdict" not in ended.said


def test_what_run_on_wants_is_measured(place: Place) -> None:
    run_on = {"labels": ["perf"], "paths": ["src/**/*.txt"], "drafts": True}
    ended = asked(place, run_on, draft=True, labels=[{"name": "perf"}])
    assert "Nothing to do" not in ended.said and (place.repository / "suspects-report").is_dir(), ended.said
