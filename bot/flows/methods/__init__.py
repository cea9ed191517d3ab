"""Which methods are behind a change, and the proof of it."""
