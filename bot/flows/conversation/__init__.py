"""Commands in comments, and what they come to."""
