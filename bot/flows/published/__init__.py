"""The published algorithms, played as flows: the search for change points, a night's learning."""
