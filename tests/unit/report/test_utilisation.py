"""Profiles for people: what a reader sees with a profile, without one, and of strangers' names."""

from __future__ import annotations

from bot.model.machines import CLASSES
from bot.model.utilisation import (
    ClusterShare,
    FactorWeight,
    ProfileChange,
    ProgramProfile,
    PublishedImportances,
    StressorShare,
    Utilisation,
)
from bot.report.utilisation import COLOURS, utilisation_page, utilisation_text

CACHE = StressorShare("cache", ("cache",), 0.75, 0.98, ("icache",))
STREAM = StressorShare("stream", ("cpu", "memory"), 0.25, 0.6)
PROFILE = ProgramProfile(
    shares=(CACHE, STREAM),
    clusters=(
        ClusterShare(("cache", "icache"), 0.75, (0.6, 0.8)),
        ClusterShare(("stream",), 0.25, (0.1, 0.4)),
    ),
    classes={"cache": 0.75, "cpu": 0.125, "memory": 0.125},
    factors=(FactorWeight("cache, stream", 0.9, -0.4),),
    error=0.05,
    own_error=0.02,
)
FOUND = Utilisation("cpu", ("a <b>, 4 cores",), 11, "stress-ng 0.15.06", PROFILE, "v1")


def changed(**fields: object) -> Utilisation:
    return Utilisation(**{**FOUND.__dict__, **fields})


def test_shares_are_told_with_what_cannot_be_told_apart() -> None:
    lines = utilisation_text(FOUND).splitlines()
    assert lines[0] == "Utilisation profile of v1 (cpu) over 1 machines of 11 types of hardware"
    assert "75 %  cache or icache [cache], in 98 % of draws" in lines[2]
    assert "  75 % (60 % to 80 %)  cache, icache" in lines[5]
    assert "by class: cache 75 %, cpu 12 %, memory 12 %" in lines
    assert "in terms of factors: -0.40 on (cache, stream)" in lines


def test_a_refusal_stands_where_the_shares_would() -> None:
    text = utilisation_text(changed(profile=ProgramProfile("3 types are known."), revision=None))
    assert "of all revisions" in text and "No profile. 3 types are known." in text and "draws" not in text


def test_a_change_has_its_stressor_size_and_chance() -> None:
    moved = ProfileChange("v1", "v2", "", 11, 1.2, 0.001, CACHE, (0.5, 0.9))
    text = utilisation_text(changed(change=moved))
    assert "what moved goes with cache or icache [cache]: +75 % of base's time (+50 to +90" in text
    same = ProfileChange("v1", "v2", "", 11, 1.2, 0.4)
    assert "+20 % over 11 types of hardware; the profile did not move (so much by chance: 40 %)" in (
        utilisation_text(changed(change=same))
    )


def test_the_published_form_is_for_reference() -> None:
    told = PublishedImportances({"cache": 100.0, "stream": 12.0}, 0.3, 0.0, 20)
    compared = ProfileChange("v1", "v2", "too few", ranked="cache")
    text = utilisation_text(changed(published=told, change=compared))
    assert "mean of 20 seeds): errors of 0 % where it was learnt, 30 % elsewhere" in text
    assert "Not compared. too few" in text and "(for reference): not equivalent, first in cache" in text


def test_a_stressor_of_two_classes_has_the_colours_of_both_and_names_are_escaped() -> None:
    page = utilisation_page(FOUND, name="<script>alert(1)</script>")
    assert page.count("<svg") == 2 and "<script" not in page and "a &lt;b&gt;, 4 cores" in page
    assert COLOURS["cpu"] in page and COLOURS["memory"] in page and COLOURS["network"] not in page


def test_every_class_has_a_colour_of_its_own() -> None:
    assert set(COLOURS) == set(CLASSES) and len(set(COLOURS.values())) == len(CLASSES)
