"""Slow-downs planted in known methods of real programs: who is blamed."""
