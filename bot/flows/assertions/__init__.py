"""Performance assertions: mined from running programs, checked on changes."""
