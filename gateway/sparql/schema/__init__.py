"""The types and predicates of a graph, from reading every triple or from samples and descriptions."""
