"""Importers: series that people already have, as measurements of ours; one format a file."""
