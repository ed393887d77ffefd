"""A graph store in front of a graph store: what was asked before is not asked again."""
