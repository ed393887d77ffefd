"""Search by name: patterns, text indexes, exact forms."""
