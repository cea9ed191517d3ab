"""Influence models: ours beside the published ones, on generated and on recorded systems."""
