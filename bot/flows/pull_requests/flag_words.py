"""Options that a program hardly knows: the words of their flags stand in none of its files."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

from bot.model.subject import ChoiceOption, FlagOption, Subject, SubjectOption

MOST_TOLD = 5
SEEN = 0.5
"""Share of flags that stand in the program's files: from here on the others should, too. Arbitrary."""
SHORTEST = 3
"""Characters of a word that is looked for without its number: shorter ones stand everywhere."""
_LONG = re.compile(r"(?<!\S)--(?:no-)?([A-Za-z][A-Za-z0-9_-]{2,})")
"""A word of a long flag; short ones stand everywhere."""


def unknown_flags(subject: Subject, unmentioned: Callable[[Collection[str]], Collection[str]]) -> list[str]:
    """Notes on flags whose words no file of the built checkout has.

    unmentioned: (words) -> those of them. Nothing is said where few are found: the program lies elsewhere.
    """
    flags: dict[str, str] = {}
    for option in subject.options.values():
        for text in _texts(option):
            for match in _LONG.finditer(text):
                flags.setdefault(match[1], match[0])
    missing = _missing(flags, unmentioned) if flags else ()
    if not missing or len(missing) > (1.0 - SEEN) * len(flags):
        return []
    told = [
        f"No file of the built checkout has the word `{word}`: does the program know `{flag}`?"
        " Where it ignores what it does not know, that is measured in vain."
        for word, flag in flags.items()
        if word in missing
    ]
    more = [f"So it is with {len(told) - MOST_TOLD} more flags."] if len(told) > MOST_TOLD else []
    return [*told[:MOST_TOLD], *more]


def _missing(
    words: Collection[str], unmentioned: Callable[[Collection[str]], Collection[str]]
) -> Collection[str]:
    """Those that stand nowhere, with the number at their end or without: a pattern may read `--level9`."""
    whole = unmentioned(tuple(words))
    stems = {word: word.rstrip("0123456789") for word in whole}
    numbered = {stem for word, stem in stems.items() if len(stem) >= SHORTEST and stem != word}
    nowhere = unmentioned(tuple(sorted(numbered))) if numbered else ()
    return [word for word in whole if stems[word] not in numbered or stems[word] in nowhere]


def _texts(option: SubjectOption) -> Iterator[str]:
    """What may stand on the command line; not what is asked of builds and environments."""
    if option.env is not None:
        return
    if isinstance(option, ChoiceOption):
        yield from option.choice.values()
    elif isinstance(option, FlagOption):
        flag = option.flag
        yield from (flag,) if isinstance(flag, str) else (flag.on, flag.off)
    elif option.flag is not None:
        yield option.flag
