"""A night profiles a real program, keeps that and learns from it; a pull request is told what it learnt."""

from __future__ import annotations

import json
from typing import Any

from tests.end_to_end.builders import CONFIG, Place, config

PROGRAM = """\
import sys
def mix(n):
    s = n
    for i in range(TURNS):
        s = (s * 1664525 + 1013904223) & 0xFFFFFFFF
    return s
def plain(n):
    s = n
    for i in range(40):
        s ^= s >> 7
    return s
total = sum(plain(i) for i in range(8000))
if "--alpha" in sys.argv:
    total += sum(mix(i) for i in range(10000))
"""
OPTIONS = ("alpha", "beta", "gamma", "delta")
"""Sixteen configurations: learning asks for at least twelve different ones."""


def influences(found: dict[str, Any]) -> list[tuple[str, list[str]]]:
    return [(entry["method"], entry["term"]) for entry in found["influences"]]


def test_a_night_learns_which_option_drives_a_method_and_a_pull_request_says_so(place: Place) -> None:
    text = config(
        "python3 work.py {options}",
        program={"runtime": "python"},
        options={name: {"flag": f"--{name}"} for name in OPTIONS},
        threshold="3%",
    )
    place.commit({CONFIG: text, "work.py": PROGRAM.replace("TURNS", "200")})
    place.commit({"README": "nothing that runs"})
    report, driven = str(place.out / "report.json"), ("work:mix", ["alpha"])
    for _ in range(3):  # a machine that has other work may need more than one
        night = place.suspects("nightly", "--budget", "150s", "--json", report)
        assert night.code == 0 and night.report is not None, night.said
        asked = place.suspects("influences", "--method", "mix", "--json", "-", "-q")
        assert asked.code == 0, asked.said
        if all(driven in influences(found) for found in (night.report, json.loads(asked.out))):
            break
    told = influences(night.report or {})
    assert driven in told, night.notes
    assert ("work:mix", ["beta"]) not in told, told
    # An interpreter's start, which no profiler sees, is shared out: in short runs other methods seem dearer.
    alpha = {
        e["method"]: abs(e["influence"]) for e in (night.report or {})["influences"] if e["term"] == ["alpha"]
    }
    assert alpha.get("work:plain", 0.0) < alpha["work:mix"] / 4, alpha
    assert driven in influences(json.loads(asked.out)), asked.said
    place.commit({"work.py": PROGRAM.replace("TURNS", "400")})
    ended = place.clear(lambda found: found["suspects"]["methods"], seconds=60)
    assert ended.report is not None and ended.report["suspects"]["methods"], ended.notes
    first = ended.report["suspects"]["methods"][0]
    assert first["method"] == "work:mix" and first["terms"] == [["alpha"]], first
