"""What a reader runs: the code of the process that asks it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import bot

ASKS = """
from pathlib import Path
from bot.adapters.reading.reader import read
from bot.adapters.told import place
print(read(place, files=[], account=None))
"""
TOLD = """
def place() -> str:
    return __file__
"""


def test_a_reader_runs_the_code_of_its_parent_where_another_copy_is_installed(tmp_path: Path) -> None:
    """As in a working tree beside an installed copy: this Python finds `bot` by itself, too."""
    copy = tmp_path / "bot"
    shutil.copytree(Path(bot.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    told = copy / "adapters" / "told.py"
    told.write_text(TOLD)
    words = [sys.executable, "-c", ASKS]
    asked = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (asked.stdout.strip(), asked.stderr) == (str(told), "")
