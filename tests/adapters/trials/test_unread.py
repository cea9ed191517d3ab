from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.trials.unread import Unread
from bot.model.subject import FlagOption, Program, Subject, Workload
from bot.model.trials import Wish
from tests.adapters.workbench import Workbench

UNREAD = "No trial opened `workload`"


def subject(run: str = "./program {workload}") -> Subject:
    return Subject(
        program=Program(run=run),
        options={"fast": FlagOption(flag="--fast")},
        workloads={"w": Workload(path="workload")},
    )


def notes_of(workbench: Workbench, program: str, run: str = "./program {workload}", **more: str) -> list[str]:
    workbench.program(program)
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
    watch.ran("w")
    assert len(watch.notes()) == 1
    (deep / "file").read_text()
    assert not watch.notes()
    watch.close()
    assert not watch.notes()


def test_where_an_input_cannot_be_watched_nothing_is_said_of_it(tmp_path: Path) -> None:
    watch = Unread(subject(), {"w": tmp_path / "gone"})
    watch.ran("w")
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
