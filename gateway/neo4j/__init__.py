"""A GraphStore over a database of Neo4j."""
