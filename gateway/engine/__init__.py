"""Traversal, intersection, snapshots and presentation: knows graphs, knows no SPARQL."""
