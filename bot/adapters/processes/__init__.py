"""Commands of others, held: account, limits, files, system calls, room, and nothing of them left behind."""
