"""The decision on simulated pull requests, beside peers."""
