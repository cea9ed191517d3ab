"""Prints a Markdown document that gives every extension of suspects.yml something to do."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable

SECTIONS = 30
SEED = 20180101
LETTERS = "etaoinshrdlucmfwypvbgkqjxz"


class Author:
    """Writes blocks of words of an invented language; the same seed writes the same document."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        lexicon = {self._word() for _ in range(1500)}
        self._lexicon = sorted(lexicon)

    def _word(self) -> str:
        weights = [1 / (i + 2) for i in range(len(LETTERS))]
        return "".join(self._random.choices(LETTERS, weights, k=self._random.randint(2, 9)))

    def words(self, count: int) -> str:
        """Words with blanks between, few of them often and many rarely."""
        return " ".join(
            self._lexicon[min(int(self._random.paretovariate(0.6)) - 1, len(self._lexicon) - 1)]
            for _ in range(count)
        )

    def prose(self, lines: int = 4) -> str:
        """A paragraph with inline markup of all kinds."""
        w = self.words
        styled = (
            f'**{w(2)}** {w(5)} *{w(1)}* and `{w(2)}`, "{w(3)}" -- {w(4)}...',
            f'[{w(2)}](https://example.org/{w(1)} "{w(2)}") {w(6)} HTML {w(2)} [[{w(2)}]] {w(3)}',
            f"{w(6)} ![{w(1)}]({w(1)}.png) {w(4)} it's __{w(2)}__ & {w(3)} <https://example.org/{w(1)}>",
            f"{w(8)} CSS {w(3)} \\*{w(1)}\\* _{w(2)}_ 'tis {w(2)}{{: .{w(1)} }} {w(4)}",
        )
        return "\n".join(styled[self._random.randrange(len(styled))] for _ in range(lines))


def section(author: Author, number: int) -> str:
    """One section: a block for each extension, and plain ones."""
    w, prose = author.words, author.prose
    blocks = [
        f"{'#' * (1 + number % 4)} {w(3)} {{: #s{number} .{w(1)} }}",
        prose(),
        f"{prose(1)}[^{number}] {w(5)}\n\n[^{number}]: {prose(1)}\n    {w(6)}",
        _lines(5, lambda: f"* {prose(1)}") + f"\n\n    {w(9)}",
        _lines(4, lambda: f"1. {w(5)}") + "\n" + _lines(3, lambda: f"* {w(4)}"),
        f"{w(1)} | {w(1)} | {w(1)}\n--- | :-: | --:\n" + _lines(6, lambda: f"{w(1)} | *{w(2)}* | `{w(1)}`"),
        f"~~~ python\n{_lines(6, lambda: f'def {w(1)[:8]}({w(1)}): return <{w(2)}>')}\n~~~",
        f"    :::python\n{_lines(5, lambda: f'    {w(1)} = {w(1)} * ({w(1)} & 3)')}",
        f"{w(2)}\n:   {prose(1)}\n:   {w(7)}\n\n{w(1)}\n:   {w(9)}",
        f'!!! note "{w(3)}"\n    {prose(1)}\n\n    {w(8)}',
        f'<div class="{w(1)}" markdown="1">\n{prose(2)}\n\n* {w(4)}\n* {w(4)}\n</div>',
        _lines(3, lambda: f"> {prose(1)}"),
        f"{w(9)}\n{w(9)}\n{w(9)}",
    ]
    return "\n\n".join(blocks)


def _lines(count: int, line: Callable[[], str]) -> str:
    return "\n".join(line() for _ in range(count))


def document(sections: int = SECTIONS, seed: int = SEED) -> str:
    """The document: meta data, a table of contents, sections and abbreviations."""
    author = Author(seed)
    head = f"Title: {author.words(4)}\nAuthor: {author.words(2)}\nDate: 1 January 2018\n\n[TOC]"
    tail = "*[HTML]: Hyper Text Markup Language\n*[CSS]: Cascading Style Sheets"
    return "\n\n".join([head, *(section(author, i) for i in range(1, sections + 1)), tail]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(document())
