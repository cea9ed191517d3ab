"""The only rooms with a window: one folder for each part of the world that a run touches."""
