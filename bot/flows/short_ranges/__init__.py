"""Our search for change points in short ranges, where steps are dense."""
