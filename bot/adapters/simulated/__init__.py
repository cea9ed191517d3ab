"""Benches and ranges without a machine: a function or a table, on a simulated clock."""
