"""Whole subgraphs for other programs: as objects of networkx, rdflib and pandas, as files, and as pictures."""
