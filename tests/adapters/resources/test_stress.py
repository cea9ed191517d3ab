"""stress-ng's reports are read, and what it cannot give is a note."""

from __future__ import annotations

import math
import shutil
import time
from functools import reduce
from pathlib import Path

import pytest

from bot.adapters.resources.stress import StressNg
from bot.model.machines import CLASSES, CLASSES_OF, PUBLISHED, REPRESENTATIVES
from tests.adapters.scripts import script

SCRIPT = r"""
# Stands in for stress-ng: tells a version, and writes the report it would write.
[ "$1" = --version ] && { echo "stress-ng, version VERSION (gcc 12.2.0, x86_64 Linux 6.1)"; exit; }
echo "$*" >> FOLDER/asked
while [ "$1" != --yaml ]; do stressor=${stressor:-${1#--}}; shift; done
case $stressor in
    unknown) exit 1 ;;
    broken) echo "metrics: [" > "$2" ;;
    idle) printf 'metrics:\n  - stressor: idle\n    RATE: 0.000000\n' > "$2" ;;
    hanging) sleep 60 & echo $! > FOLDER/child; wait ;;
    *) printf -- '---\nsystem-info:\n      cpus: 4\nmetrics:\n    - stressor: %s\n' $stressor > "$2"
       printf '      RATE: 12.5\n      max-rss: 6460\n\n...\n' >> "$2" ;;
esac
"""


def fake(folder: Path, version: str = "0.15.06") -> Path:
    values = {"FOLDER": str(folder), "VERSION": version, "RATE": "bogo-ops-per-second-usr-sys-time"}
    lines = reduce(lambda text, one: text.replace(*one), values.items(), SCRIPT)
    return script(folder / "stress-ng", lines)


def running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_rates_are_per_second_of_cpu_time_in_each_repetition(tmp_path: Path) -> None:
    found = StressNg(str(fake(tmp_path))).stress(["cpu", "vm-rw", "null"], repetitions=3, seconds=1)
    assert found.rates == dict.fromkeys(["cpu", "vm-rw", "null"], [12.5] * 3)
    assert found.tool == "stress-ng 0.15.06" and found.notes == [] and found.seconds > 0


def test_all_stressors_run_before_any_runs_again(tmp_path: Path) -> None:
    StressNg(str(fake(tmp_path))).stress(["cpu", "null"], repetitions=2, seconds=3)
    asked = (tmp_path / "asked").read_text().splitlines()
    assert [line.split()[:4] for line in asked] == [
        [f"--{name}", "1", "--timeout", "3s"] for name in ("cpu", "null", "cpu", "null")
    ]


@pytest.mark.parametrize("stressor", ["unknown", "broken", "idle"])
def test_a_stressor_that_gives_nothing_is_told(tmp_path: Path, stressor: str) -> None:
    found = StressNg(str(fake(tmp_path))).stress([stressor, "cpu"], repetitions=2, seconds=1)
    assert all(map(math.isnan, found.rates[stressor])) and found.rates["cpu"] == [12.5, 12.5]
    assert found.notes == [f"stress-ng gave nothing for {stressor}."]


def test_a_stop_ends_a_stressor_with_its_children(tmp_path: Path) -> None:
    child = tmp_path / "child"
    stress = StressNg(str(fake(tmp_path)), stop=lambda: child.is_file() and bool(child.read_text()))
    found = stress.stress(["hanging", "cpu"], repetitions=2, seconds=1)
    assert found.rates["cpu"] == [] and "stopped" in found.notes[-1]
    process = int(child.read_text())
    deadline = time.monotonic() + 10
    while running(process) and time.monotonic() < deadline:  # the kernel ends it when it next looks
        time.sleep(0.01)
    assert not running(process)


def test_no_stressor_begins_when_the_time_is_over(tmp_path: Path) -> None:
    found = StressNg(str(fake(tmp_path))).stress(["cpu", "null"], repetitions=2, seconds=1, most=0.0)
    assert found.rates == {"cpu": [], "null": []} and not (tmp_path / "asked").exists()


def test_no_stress_ng_is_a_note(tmp_path: Path) -> None:
    absent = StressNg(str(tmp_path / "nothing"))
    assert "does not tell its version" in absent.missing()[0]
    found = absent.stress()
    assert found.rates == {} and list(found.notes) == list(absent.missing())


def test_an_old_stress_ng_is_a_note(tmp_path: Path) -> None:
    (note,) = StressNg(str(fake(tmp_path, "0.07.29"))).missing()
    assert "0.07.29 is older than 0.11" in note


@pytest.mark.skipif(shutil.which("stress-ng") is None, reason="stress-ng is not installed")
def test_the_real_one_is_understood() -> None:
    found = StressNg().stress(["cpu", "no-such-stressor"], repetitions=1, seconds=1)
    assert found.rates["cpu"][0] > 0 and math.isnan(found.rates["no-such-stressor"][0])
    assert found.tool.startswith("stress-ng 0.")


def test_every_stressor_has_a_class_and_the_published_ones_are_43() -> None:
    assert len(PUBLISHED) == 43 and set(REPRESENTATIVES) <= set(CLASSES_OF)
    assert {one for classes in CLASSES_OF.values() for one in classes} == set(CLASSES)
