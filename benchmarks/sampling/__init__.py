"""Coverage and speed of the samplers."""
