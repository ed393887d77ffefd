"""The local label index: the names of a graph in a SQLite file, found in spite of case, accents, order and slips."""
