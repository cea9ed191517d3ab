"""Explanations of a short range's trials: sets of steps, drawn as probable as they are."""
