"""The port: what the engine asks of a graph, and the values that cross it."""
