"""`suspects pr` on a repository whose nights profiled it: the sample aims at what the diff touches."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from bot.adapters.documents.subject_file import load_subject
from bot.adapters.stores import segments
from bot.model.history import RunRecord, known_options, program_fingerprint
from bot.model.profile_history import ProfileRecorder
from bot.model.profiles import Method, MethodCost, Profile, Tool
from bot.model.report import RevisionRef
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.random_uniform import random_uniform
from tests.end_to_end.builders import CONFIG, SAY, Place, config, loop

FLAGS = ("alpha", "beta", "gamma", "delta")
OPTIONS = {
    **{name: {"flag": f"--{name}"} for name in FLAGS},
    "level": {"number": [1, 6, 9], "flag": "-{value}", "default": 6},
}
WORK = loop("300")
PROGRAM = f"#!/bin/sh\nfirst() {{\n{WORK}}}\nsecond() {{\n{WORK}}}\nfirst; second\n{SAY}"
FIRST, SECOND = Method("first", "program.sh", 2), Method("second", "program.sh", 5)


def profiled(place: Place, revision: str) -> None:
    """A night's profiles at a revision: `second` works from a level on only."""
    subject = load_subject(place.repository / CONFIG)
    recorder = ProfileRecorder()
    rng = np.random.default_rng(0)
    drawn = random_uniform(subject.space, ConstraintSolver(subject.space), 44, rng=rng)
    for chosen in drawn:
        options = subject.space.as_dict(chosen)
        costs = {FIRST: 10_000_000, **({SECOND: 20_000_000} if options["level"] != 1 else {})}
        methods = {m: MethodCost(c / sum(costs.values()), calls=1, instructions=c) for m, c in costs.items()}
        tool = Tool("callgrind", "3.19", "coarse", frozenset({"calls", "instructions"}))
        reference = RevisionRef(revision=revision, label="night")
        recorder.add(Profile(tool, "ok", 0.1, methods), reference, options, drawn=True)
    run = RunRecord(
        id="night",
        mode="nightly",
        started=datetime(2026, 1, 1, tzinfo=UTC),
        program=program_fingerprint(subject),
        options=known_options(subject.space),
    )
    name, content = segments.encode(recorder.table(run))
    folder = place.repository / ".suspects/history"
    folder.mkdir(parents=True)
    (folder / name).write_bytes(content)


def test_the_touched_method_of_a_real_diff_decides_what_two_thirds_of_the_sample_exercise(
    place: Place,
) -> None:
    text = config(options=OPTIONS)
    place.commit({CONFIG: text, "program.sh": PROGRAM})
    profiled(place, place.git("rev-parse", "HEAD"))
    shifted = PROGRAM.replace("#!/bin/sh\n", "#!/bin/sh\n# one\n# two\n# three\n# four\n")
    place.commit({"program.sh": shifted})  # since the night every method moved
    place.commit({"program.sh": shifted.replace("second() {\n", "second() {\n: new\n")})
    ended = place.pr("--seed", "3")
    assert ended.code == 0 and ended.report is not None, ended.said
    said = "touches 1 method that history knows (`second`): two thirds of the configurations were chosen to "
    assert f"{said}exercise `level>=6`; a third stays blind." in ended.notes, ended.notes
    assert ended.report["configurations"][0]["options"] == {**dict.fromkeys(FLAGS, False), "level": 6}
