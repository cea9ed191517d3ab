"""Prints what numpy is to leave alone (NPY_DISABLE_CPU_FEATURES), so that it rounds as on most processors.

Searches of noisy programs part ways over the last bit; a seed of a test means one search.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def wider() -> list[str]:
    """Vectors of 512 bits, under whatever names this numpy has for them."""
    found: Any = np.show_config(mode="dicts")
    return [name for name in found["SIMD Extensions"]["found"] if "512" in name or name == "X86_V4"]


if __name__ == "__main__":
    sys.stdout.write(" ".join(wider()))
