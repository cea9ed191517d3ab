"""What every run of Valgrind is told."""

from __future__ import annotations

FOLLOWING = ("--trace-children=yes", "--vgdb=no")
"""Children are followed. Its debugger stays out: it would stop at files that another account's process of the
same number left behind."""
