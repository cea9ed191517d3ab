"""Our search for change points in long ranges."""
