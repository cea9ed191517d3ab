from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bot.adapters.trials.unread import Unread
from bot.model.subject import FlagOption, Program, Subject, Workload
from bot.model.trials import Side, Trial, Wish
from tests.adapters.workbench import Workbench

UNREAD = "No trial opened `workload`"
WELL = Trial("ok")
IDLE, READING = "#!/bin/sh\nexit 0\n", '#!/bin/sh\ncat "$1"\n'


def subject(run: str = "./program {workload}") -> Subject:
    return Subject(
        program=Program(run=run),
        options={"fast": FlagOption(flag="--fast")},
        workloads={"w": Workload(path="workload")},
    )


def notes_of(
    workbench: Workbench,
    program: str,
    run: str = "./program {workload}",
    side: Side | None = None,
    **more: str,
) -> list[str]:
    workbench.program(program, side=side)
    with workbench.bench(Program.model_validate({"run": run, **more})) as bench:
        list(bench.measure(iter([Wish((False,))])))
    return [note for note in bench.notes() if note.startswith("No trial opened")]


def test_a_program_that_ends_well_without_its_input_is_told(workbench: Workbench) -> None:
    (note,) = notes_of(workbench, "#!/bin/sh\nexit 0\n")
    assert note.startswith(UNREAD)


@pytest.mark.parametrize("program", ['cat "$1"', '(cat "$1" &) ; sleep 0.1', 'cd / && exec tail "$1"'])
def test_a_program_whose_input_is_opened_by_it_or_its_children_is_not(
    workbench: Workbench, program: str
) -> None:
    assert not notes_of(workbench, f"#!/bin/sh\n{program}\n")


def test_a_program_that_fails_is_not_told_as_one_that_did_nothing(workbench: Workbench) -> None:
    assert not notes_of(workbench, "#!/bin/sh\nexit 1\n")


def test_an_input_that_run_does_not_hand_over_is_not_missed(workbench: Workbench) -> None:
    assert not notes_of(workbench, "#!/bin/sh\nexit 0\n", run="./program")


def test_an_input_of_standard_input_is_not_missed(workbench: Workbench) -> None:
    assert not notes_of(workbench, "#!/bin/sh\nexit 0\n", run="./program {workload}", stdin="{workload}")


def test_a_file_deep_in_a_folder_counts_as_opening_the_folder(tmp_path: Path) -> None:
    deep = tmp_path / "input" / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "file").write_text("x")
    watch = Unread(subject(), {"w": tmp_path / "input"})
    before = watch.watch("w")
    watch.judged(WELL, "w", before, "base", ranged=False)
    assert len(watch.notes()) == 1
    (deep / "file").read_text()
    assert not watch.notes()
    watch.close()
    assert not watch.notes()


def test_two_who_open_an_input_at_the_same_moment_are_no_error(tmp_path: Path) -> None:
    file = tmp_path / "input"
    file.write_text("x")
    both = [subprocess.Popen(["sh", "-c", f"while :; do : < {file}; done"]) for _ in range(2)]
    watch = Unread(subject(), {"w": file})
    try:
        seen = [watch.watch("w") for _ in range(60_000)]  # some 10,000 are enough
    finally:
        for one in both:
            one.kill()
            one.wait()
    assert seen == sorted(seen) and seen[-1] > 0
    watch.close()


def test_head_that_ends_well_without_the_input_that_base_opens_is_told(workbench: Workbench) -> None:
    workbench.program(READING, side="base")
    (note,) = notes_of(workbench, IDLE, side="head")
    assert note.startswith(f"{UNREAD} (workload `w`) at head, where base does, though")


def test_a_base_that_does_not_open_its_input_says_nothing_against_head(workbench: Workbench) -> None:
    workbench.program(IDLE, side="base")
    assert not notes_of(workbench, READING, side="head")


@pytest.mark.parametrize(
    ("base", "head", "worked"),
    [(READING, IDLE, False), (READING, READING, True), (IDLE, IDLE, True), (IDLE, READING, True)],
)
def test_a_revision_that_never_opens_what_the_anchor_opens_has_no_value(
    workbench: Workbench, base: str, head: str, *, worked: bool
) -> None:
    workbench.program(base, side="base")
    workbench.program(head, side="head")
    program = Program(run="./program {workload}")
    wishes = [Wish((fast,), revision=0) for fast in (False, True)]
    with workbench.bench(program, heads=lambda _: workbench.site("head")) as bench:
        pairs = list(bench.measure(iter(wishes)))
    assert [(pair.first.ok, pair.second.ok) for pair in pairs] == [(True, worked)] * 2
    said = "it ended well and never opened `workload`: it may have done nothing"
    assert {pair.second.detail for pair in pairs} == ({""} if worked else {said})


@pytest.mark.parametrize(("seconds", "doubted"), [(0.1, True), (0.9, False)])
def test_a_revision_much_quicker_than_the_anchor_may_have_done_nothing_all_the_same(
    seconds: float, *, doubted: bool
) -> None:
    trial, base = Trial("ok", {"cpu": seconds}), Trial("ok", {"cpu": 1.0})
    assert Unread.doubts(trial, base) is doubted
    assert not Unread.doubts(trial, None) and not Unread.doubts(Trial("unparsable"), base)
    assert not Unread.doubts(trial, Trial("exit"))


@pytest.mark.parametrize(("slots", "worked"), [(1, True), (2, False)])
def test_what_another_cores_trial_may_have_opened_is_tried_again(
    workbench: Workbench, slots: int, *, worked: bool
) -> None:
    begun = workbench.folder / "begun"
    busy = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
    workbench.program(f'#!/bin/sh\ncat "$1"; {busy}\n', side="base")
    # As if somebody else had opened it meanwhile: so it is at the first trial, and at no other.
    workbench.program(f'#!/bin/sh\n[ -e {begun} ] || cat "$1"; touch {begun}\n', side="head")
    program = Program(run="./program {workload}")
    heads = {"heads": lambda _: workbench.site("head"), "sandbox": "off", "slots": slots}
    with workbench.bench(program, **heads) as bench:  # type: ignore[arg-type]
        (pair,) = bench.measure(iter([Wish((False,), revision=0)]))
    assert (pair.first.ok, pair.second.ok) == (True, worked), pair.second.detail


def test_an_input_is_watched_anew_for_each_trial(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    watch = Unread(subject(), {"w": tmp_path / "file"})

    def ended(side: Side, *, reads: int) -> Trial:
        before = watch.watch("w")
        for _ in range(reads):
            (tmp_path / "file").read_text()
        return watch.judged(WELL, "w", before, side, ranged=True)

    asked: list[tuple[Side, int]] = [("base", 1), ("head", 2), ("head", 0), ("head", 1)]
    answers = [ended(side, reads=reads) for side, reads in asked]
    assert [answer.ok for answer in answers] == [True, True, False, True]
    assert not watch.notes()


def test_where_an_input_cannot_be_watched_nothing_is_said_of_it(tmp_path: Path) -> None:
    watch = Unread(subject(), {"w": tmp_path / "gone"})
    assert watch.judged(WELL, "w", watch.watch("w"), "head", ranged=True).ok
    assert not watch.notes()
    watch.close()


def test_watching_leaves_no_open_file_behind(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    before = len(list(Path("/proc/self/fd").iterdir()))
    Unread(subject(), {"w": tmp_path / "file"}).close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_program_may_list_the_folder_of_its_input_which_holds_nothing_else(workbench: Workbench) -> None:
    workbench.program('#!/bin/sh\nls "$(dirname "$1")"\n')
    pair = workbench.pair("./program {workload}")
    assert pair.ok, pair.first.detail
