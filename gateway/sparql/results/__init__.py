"""Answers: bytes of SPARQL JSON (`decoder`) to rows of terms (`rows`), read by typed columns (`columns`)."""
