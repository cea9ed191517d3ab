"""Utilisation profiles: which parts of a machine a program's time goes with, over unlike machines."""
