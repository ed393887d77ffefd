"""Answers: bytes of SPARQL JSON (`decoder`) to terms (`terms`) in rows (`rows`), read by typed columns (`columns`)."""
