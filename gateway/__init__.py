"""A gateway that lets a language model explore any RDF graph through six BFS-QL tools."""

from gateway.expand_compact import expand

__all__ = ["PROGRAM", "expand"]

PROGRAM = "bfsql-gateway"
"""The name of the program, of its distribution, and of its folder in the user's cache."""
