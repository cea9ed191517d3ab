"""One analysis on several machines: how well it decides, and how fast parts of it are united."""
