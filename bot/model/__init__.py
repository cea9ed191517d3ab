"""NOUNS: frozen types; imports nothing of ours."""
