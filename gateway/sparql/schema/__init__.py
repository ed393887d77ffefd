"""How the types and predicates of a graph become known: by reading every triple, or by samples and descriptions."""
