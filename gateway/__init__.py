"""A gateway that lets a language model explore any RDF graph through six BFS-QL tools."""
