"""Nodes to what is known about them: types, names, literals. `gateway.sparql.search` goes the other way."""
