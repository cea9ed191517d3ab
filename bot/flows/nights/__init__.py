"""The parts of a night: its window, its search, what it learns, and what it tells."""
