"""The label index: the names of a graph in SQLite, searched regardless of case, accents, word order and typos."""
