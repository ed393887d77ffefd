"""Answers: bytes of SPARQL JSON (`decoder`) to columns of terms (`table`), read by their types (`columns`)."""
