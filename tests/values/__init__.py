"""Questions about values: an oracle over triples, drawn graphs and questions, and a graph with gold answers."""
