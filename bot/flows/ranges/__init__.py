"""Observations over a range of revisions: remembered, chained, shown and told."""
