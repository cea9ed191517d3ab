"""Accuracy and speed, side by side with peers."""
