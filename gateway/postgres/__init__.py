"""A GraphStore over two tables of PostgreSQL, and their evidence."""
