"""Answers: SPARQL JSON (`decoder`) or TSV (`tsv`) to columns of terms (`table`), read by their types (`columns`)."""
