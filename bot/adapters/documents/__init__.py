"""Files that maintainers keep below .github: read with the line of what is wrong, changed entry by entry."""
