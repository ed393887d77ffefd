"""Breadth-first traversal: hops, hubs, paths, and what an answer lacks."""
