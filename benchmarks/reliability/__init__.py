"""Faults that are injected, kills at seeded points, many runs: what was lost, doubled or half-written."""
