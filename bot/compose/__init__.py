"""The composition root: builds the adapters and runs one flow."""
