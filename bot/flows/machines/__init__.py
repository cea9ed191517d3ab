"""Machines apart from code: their fingerprints, their drift, profiles over them."""
