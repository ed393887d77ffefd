"""Statements about edges, in every way in which RDF states something about a triple."""
