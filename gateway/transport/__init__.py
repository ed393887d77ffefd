"""One SPARQL round trip: a query's text goes in, the bytes of a SPARQL JSON answer come out."""
