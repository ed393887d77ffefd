"""The command line: serves a graph, and asks it the same six questions at a terminal."""
