"""Bytes of SPARQL JSON to rows."""
