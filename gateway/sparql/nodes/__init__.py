"""Types, names and literals of nodes, as batched queries."""
