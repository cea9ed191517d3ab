"""TELL: what a reader is told (pure)."""
