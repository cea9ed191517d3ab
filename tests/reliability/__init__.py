"""What survives: kills at any point of each mode, hundreds of pull requests in one process."""
