"""EXPLAIN: what the measurements say (pure)."""
