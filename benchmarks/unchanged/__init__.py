"""Real pull requests in which nothing changed."""
