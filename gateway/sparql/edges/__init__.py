"""Edges, degrees and reach of nodes, as batched queries."""
