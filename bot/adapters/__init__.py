"""TOUCH: the only rooms with a window."""
