"""The schema as calls use it: read in the background, looked up, resolved from names."""
