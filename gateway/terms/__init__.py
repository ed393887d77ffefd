"""RDF terms: IRIs and short forms, literals and JSON values, and the one place where text becomes SPARQL."""
