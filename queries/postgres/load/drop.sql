-- summary: Removes the tables of a graph that was loaded before.
DROP TABLE IF EXISTS {evidence}, {edges}, {nodes}
