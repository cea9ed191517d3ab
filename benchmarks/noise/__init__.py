"""Real A/A noise: how it was recorded, and the record."""
