"""The order of things: one file a mode, no input or output but through ports."""
